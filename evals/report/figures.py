"""What the records of a suite say of each mode, and of each mode against `off`.

Invariant: all figures of one report are over the same questions, those that every mode has. Nothing is estimated, but
for the counterfactual figure, which is kept apart.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import mean

from evals.report.counterfactual import Counterfactual, counterfactual
from evals.report.paired import FLOOR_SECONDS, Pairing, Ratio, pair, ratio_of_means
from evals.runs.record import PageStep, Record
from evals.scoring.accuracy import ModeAccuracy, accuracy_table

OFF = "off"
_SHOWN_FIRST = ("spec", "draft", "rank")
KEPT = "kept from before"
"""Whose hit it is when no guess had the page loaded: it was visited before, or lay in the store."""
UNTOLD = "not told"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModeFigures:
    """What one mode did. Shares are of its guessable steps, those after the first that could be run ahead.

    Attributes:
        mode: The mode.
        questions: How many; all lists below have one figure for each, in the order of the pairing.
        accuracy: Share of questions answered rightly.
        statuses: How many questions ended how.
        guessable: How many steps a guess could serve; where there are none, the shares of them are None.
        hit1: Share that was its turn's first guess.
        hit3: Share that was among its turn's first three guesses.
        hit: Share whose page was there.
        join: Share whose page was on its way.
        miss: Share of whose page nothing was there.
        served_by: How many hits and joins, by whose guess had the page loaded.
        missed: How many misses, by why.
        refused: How many guesses and loads were refused, by why.
        speculated: Pages loaded ahead.
        wasted: Those not used.
        wasted_bytes: What these occupied.
        exposed_seconds: Exposed web time of each question, a turn.
        later_seconds: The same without the first page, which nobody can guess.
        web_seconds: Exposed web time of each question, as a whole.
        llm_seconds: The target's thinking on each question, as a whole.
        total_seconds: From question to answer.
        bound_share: How near the run came to perfect overlap: the time its guessable turns would have taken had each
            load run beside the thinking from when it began, over the time they took; 1 is the bound itself, None
            where nothing was measured. A page that nobody guessed is taken as if its load had begun with the
            thinking, so that a miss costs here, too. See `speccache.account`.
        turns: Mean decisions on a question.
        tokens: Tokens of all questions, by kind.
        cost_dollars: What all questions cost; None where a price is not known.
    """

    mode: str
    questions: int
    accuracy: float
    statuses: Mapping[str, int]
    guessable: int
    hit1: float | None
    hit3: float | None
    hit: float | None
    join: float | None
    miss: float | None
    served_by: Mapping[str, int]
    missed: Mapping[str, int]
    refused: Mapping[str, int]
    speculated: int
    wasted: int
    wasted_bytes: int
    exposed_seconds: tuple[float, ...]
    later_seconds: tuple[float, ...]
    web_seconds: tuple[float, ...]
    llm_seconds: tuple[float, ...]
    total_seconds: tuple[float, ...]
    bound_share: float | None
    turns: float
    tokens: Mapping[str, int]
    cost_dollars: float | None

    @property
    def served(self) -> float | None:
        """Share of guessable steps that were hits or joins."""
        return None if self.miss is None else 1.0 - self.miss

    @property
    def waste(self) -> float | None:
        """Share of the pages loaded ahead that were not used."""
        return _share(self.wasted, self.speculated)

    def tokens_a_question(self, way: str) -> float:
        """Return the mean tokens of target and draft together, `in` or `out`."""
        return (self.tokens.get(f"target_{way}", 0) + self.tokens.get(f"draft_{way}", 0)) / self.questions


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """One mode against `off`: how many times less, above 1 where the mode is better.

    Attributes:
        exposed: Exposed web time a turn.
        later: The same without the first page.
        total: From question to answer.
        best_item: The question whose exposed web time shrank most.
        best_ratio: How many times less it was there.
        differing: Questions whose trajectory is not the same; there must be none.
    """

    exposed: Ratio
    later: Ratio
    total: Ratio
    best_item: str
    best_ratio: float
    differing: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """All figures of a suite.

    Attributes:
        pairing: What they are over.
        modes: Each mode's own.
        compared: Each other mode against `off`; empty where `off` was not run.
        counterfactual: What the published code would report of each mode but `off`.
        measured: What was measured in place of it: web time of a question, `off` over the mode.
        accuracy: How right each mode was, and on which kinds of questions.
    """

    pairing: Pairing
    modes: Mapping[str, ModeFigures]
    compared: Mapping[str, Comparison]
    counterfactual: Mapping[str, Counterfactual]
    measured: Mapping[str, Ratio]
    accuracy: Mapping[str, ModeAccuracy]

    @property
    def main(self) -> ModeFigures | None:
        """The mode that detailed charts show: `spec`, else the nearest to it, else any but `off`; None without one."""
        others = [*_SHOWN_FIRST, *(mode for mode in self.modes if mode != OFF)]
        return next((self.modes[mode] for mode in others if mode in self.modes), None)


def figures(records: Sequence[Record]) -> Figures:
    """Compute all figures from the records of one suite, of any modes."""
    pairing = pair(records)
    modes = {mode: _mode(mode, each) for mode, each in pairing.by_mode.items() if each}
    off = modes.get(OFF)
    others = [mode for mode in modes if mode != OFF]
    return Figures(
        pairing=pairing,
        modes=modes,
        compared={mode: _compare(modes[mode], off, pairing) for mode in others} if off else {},
        counterfactual={mode: counterfactual(pairing.by_mode[mode]) for mode in others},
        accuracy=accuracy_table([record for each in pairing.by_mode.values() for record in each]),
        measured={mode: ratio_of_means(off.web_seconds, modes[mode].web_seconds) for mode in others} if off else {},
    )


def guessable(record: Record) -> Iterator[PageStep]:
    """Yield the steps that a guess could serve: after the first, and of a kind that may be run ahead."""
    return (step for step in record.steps[1:] if step.kind != "direct")


def first_seconds(record: Record) -> float:
    """Return how long the first page was waited for."""
    return record.steps[0].waited_seconds if record.steps else 0.0


def _mode(mode: str, records: Sequence[Record]) -> ModeFigures:
    steps = [step for record in records for step in guessable(record)]
    served = (step.predictor or KEPT for step in steps if step.kind != "miss")
    measured_seconds = sum(record.measured_seconds for record in records)
    return ModeFigures(
        mode=mode,
        questions=len(records),
        accuracy=mean(record.scores.correct for record in records),
        statuses=_counted(record.status for record in records),
        guessable=len(steps),
        hit1=_share(sum(0 < step.rank <= 1 for step in steps), len(steps)),
        hit3=_share(sum(0 < step.rank <= 3 for step in steps), len(steps)),
        hit=_share(sum(step.kind == "hit" for step in steps), len(steps)),
        join=_share(sum(step.kind == "join" for step in steps), len(steps)),
        miss=_share(sum(step.kind == "miss" for step in steps), len(steps)),
        served_by=_counted(served),
        missed=_counted(step.why_missed or UNTOLD for step in steps if step.kind == "miss"),
        refused=_summed(record.refused for record in records),
        speculated=sum(record.speculated for record in records),
        wasted=sum(record.wasted for record in records),
        wasted_bytes=sum(record.wasted_bytes for record in records),
        exposed_seconds=tuple(record.exposed_seconds / max(1, record.turns) for record in records),
        later_seconds=tuple(
            max(0.0, record.exposed_seconds - first_seconds(record)) / max(1, record.turns) for record in records
        ),
        web_seconds=tuple(record.exposed_seconds for record in records),
        llm_seconds=tuple(record.llm_seconds for record in records),
        total_seconds=tuple(record.total_seconds for record in records),
        bound_share=_share(sum(record.bound_seconds for record in records), measured_seconds),
        turns=mean(record.turns for record in records),
        tokens=_summed(record.tokens for record in records),
        cost_dollars=_cost(records),
    )


def _compare(mode: ModeFigures, off: ModeFigures, pairing: Pairing) -> Comparison:
    ratios = [
        max(FLOOR_SECONDS, before) / max(FLOOR_SECONDS, after)
        for before, after in zip(off.exposed_seconds, mode.exposed_seconds, strict=True)
    ]
    pairs = zip(pairing.by_mode[OFF], pairing.by_mode[mode.mode], strict=True)
    return Comparison(
        exposed=ratio_of_means(off.exposed_seconds, mode.exposed_seconds),
        later=ratio_of_means(off.later_seconds, mode.later_seconds),
        total=ratio_of_means(off.total_seconds, mode.total_seconds),
        best_item=pairing.items[ratios.index(max(ratios))],
        best_ratio=max(ratios),
        differing=tuple(one.item for one, other in pairs if one.trajectory != other.trajectory),
    )


def _share(part: float, of: float) -> float | None:
    return part / of if of else None


def _counted(names: Iterable[str]) -> dict[str, int]:
    """Count, most first."""
    return dict(Counter(names).most_common())


def _summed(counts: Iterable[Mapping[str, int]]) -> dict[str, int]:
    total: Counter[str] = Counter()
    for each in counts:
        total.update(each)
    return dict(total.most_common())


def _cost(records: Sequence[Record]) -> float | None:
    costs = [record.cost_dollars for record in records]
    known = [cost for cost in costs if cost is not None]
    return sum(known) if len(known) == len(costs) else None
