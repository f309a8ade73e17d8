"""The page's tables of figures, as rows of texts.

Invariant: what a cell holds is plain text; the template escapes it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from statistics import mean

from evals.report.figures import Figures, ModeFigures
from evals.report.wording import UNKNOWN, counts, dollars, percent, seconds, span, times
from evals.scoring.accuracy import Proportion


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    """A table.

    Attributes:
        title: What it shows.
        note: How to read it; may be empty.
        head: The names of its columns.
        rows: Its rows; the first cell of each names it.
    """

    title: str
    note: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def grids(found: Figures) -> list[Grid]:
    """Return the tables of figures that have something to show."""
    every = [
        _guesses(found),
        _times(found),
        _counterfactual(found),
        _accuracy(found),
        _reasons(found, "Misses by why", "Steps that could be guessed, but were not loaded ahead.", _missed),
        _reasons(found, "Refused by why", "Guesses not taken up, and loads not kept.", lambda each: each.refused),
        _costs(found),
    ]
    return [grid for grid in every if grid.rows]


def _guesses(found: Figures) -> Grid:
    head = ("mode", "right", "hit@1", "hit@3", "hit", "join", "miss", "steps", "loaded ahead", "waste", "wasted, kB")
    rows = tuple(
        (
            mode,
            *map(percent, (each.accuracy, each.hit1, each.hit3, each.hit, each.join, each.miss)),
            f"{each.guessable:,}",
            f"{each.speculated:,}",
            percent(each.waste),
            f"{each.wasted_bytes / 1000:,.0f}",
        )
        for mode, each in found.modes.items()
    )
    note = (
        "Right: of the questions. Hit, join, miss: of the steps a guess could serve, which is all but the first page;"
        " hit@1, hit@3: the step was among its turn's first guesses of it, not one level deeper. Waste: of the pages"
        " loaded ahead, those not used."
    )
    return Grid(title="Answers and guesses", note=note, head=head, rows=rows)


def _times(found: Figures) -> Grid:
    head = ("mode", "web s a turn", "less", "95%", "best question", "without first page", "less", "95%")
    more = ("LLM s", "end to end s", "less", "bound reached", "trajectories")
    rows = tuple((mode, *_time_cells(each, found)) for mode, each in found.modes.items())
    note = (
        "Web: exposed web time, from the action being known to its page being in hand. Less: the mean of off over that"
        " of the mode, with the 95% interval over questions (bootstrap). Bound: what perfect overlap would have taken"
        " over what was taken, in the turns that a guess could serve."
    )
    return Grid(title="Time", note=note, head=(*head, *more), rows=rows)


def _time_cells(each: ModeFigures, found: Figures) -> tuple[str, ...]:
    versus = found.compared.get(each.mode)
    best = UNKNOWN
    if versus is not None:
        best = f"{times(versus.best_ratio)} (Q{found.pairing.items.index(versus.best_item) + 1})"
    return (
        seconds(mean(each.exposed_seconds)),
        times(versus.exposed.ratio if versus else None),
        span(versus.exposed.interval if versus else None),
        best,
        seconds(mean(each.later_seconds)),
        times(versus.later.ratio if versus else None),
        span(versus.later.interval if versus else None),
        seconds(mean(each.llm_seconds)),
        seconds(mean(each.total_seconds)),
        times(versus.total.ratio if versus else None),
        percent(each.bound_share),
        UNKNOWN if versus is None else f"{len(versus.differing)} differ" if versus.differing else "all the same",
    )


def _counterfactual(found: Figures) -> Grid:
    rows = tuple(
        (
            mode,
            percent(each.named),
            seconds(each.all_seconds),
            seconds(each.rest_seconds),
            times(each.speedup.ratio),
            span(each.speedup.interval),
            times(measured.ratio) if (measured := found.measured.get(mode)) else UNKNOWN,
            span(measured.interval if measured else None),
        )
        for mode, each in found.counterfactual.items()
    )
    head = ("mode", "named", "all loads s", "unnamed loads s", "computed less", "95%", "measured less", "95%")
    note = (
        "The code published with the paper overlaps nothing: a page that a guess named in this or an earlier turn costs"
        " nothing, loaded or not, and 'no cache' is the sum of all loads of the same run. Beside it what was measured:"
        " the wait for pages of a question, off over the mode, on real clocks."
    )
    return Grid(title="Counterfactual, as the published code computes it", note=note, head=head, rows=rows)


def _accuracy(found: Figures) -> Grid:
    overall = {mode: each.overall for mode, each in found.accuracy.items()}
    ranges = (f"{_proportion(each)}, {percent(each.low)} to {percent(each.high)}" for each in overall.values())
    rows = [("all", *ranges)]
    cells = dict.fromkeys(
        (kind, difficulty)
        for each in found.accuracy.values()
        for kind, by_difficulty in each.by_kind_and_difficulty.items()
        for difficulty in by_difficulty
    )
    for kind, difficulty in cells:
        # A mode may lack a cell: a run was gone on with after its questions were sorted anew.
        groups = (each.by_kind_and_difficulty.get(kind, {}) for each in found.accuracy.values())
        shares = (group.get(difficulty, Proportion.of(())) for group in groups)
        rows.append((" · ".join(filter(None, (kind, difficulty))), *map(_proportion, shares)))
    if any(each.unjudged for each in found.accuracy.values()):
        rows.append(("not judged", *(f"{each.unjudged:,}" for each in found.accuracy.values())))
    note = (
        "As the judge says, else by holding the expected answer; with Wilson's 95% interval. A question of several"
        " kinds counts in each. Not judged: by no judge, and not just the expected answer; right where they hold it."
    )
    head = ("kind and difficulty", *found.accuracy)
    return Grid(title="Right answers", note=note, head=head, rows=tuple(rows) if overall else ())


def _proportion(found: Proportion) -> str:
    return f"{percent(found.share)} ({found.count} of {found.n})"


def _missed(each: ModeFigures) -> Mapping[str, int]:
    return each.missed


def _reasons(found: Figures, title: str, note: str, of: Callable[[ModeFigures], Mapping[str, int]]) -> Grid:
    # With speculation off nothing was to be loaded ahead, so that there is no why.
    modes = {mode: of(each) for mode, each in found.modes.items() if each.speculated or each.refused}
    names = dict.fromkeys(name for counted in modes.values() for name in counted)
    rows = tuple((name, *(f"{counted.get(name, 0):,}" for counted in modes.values())) for name in names)
    return Grid(title=title, note=note, head=("why", *modes), rows=rows)


def _costs(found: Figures) -> Grid:
    rows = tuple(
        (
            mode,
            counts(each.statuses),
            f"{each.turns:.1f}",
            *(f"{each.tokens.get(kind, 0):,}" for kind in ("target_in", "target_out", "draft_in", "draft_out")),
            dollars(each.cost_dollars),
        )
        for mode, each in found.modes.items()
    )
    head = ("mode", "ended", "turns", "target tokens in", "out", "draft tokens in", "out", "cost")
    note = "Turns: the mean of the questions; tokens and cost: of all of them together."
    return Grid(title="Turns, tokens and cost", note=note, head=head, rows=rows)
