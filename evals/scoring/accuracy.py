"""How many answers were right, in each mode and for each kind of question, and what they took.

Invariant: every share comes with its count and its interval, and what is not known is said to be unknown: it counts
neither as right nor as free.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Self

from evals.runs.record import Record

_Z = 1.959964
"""The normal distribution's 97.5 % point, for an interval of 95 %."""

Groups = Mapping[str, "Proportion"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Proportion:
    """How many of how many, and between which shares the truth lies with 95 % confidence.

    Attributes:
        count: How many.
        n: Of how many.
        share: The one over the other; None of none.
        low: Lower end of Wilson's score interval (E. B. Wilson, JASA 22, 1927).
        high: Upper end of it.
    """

    count: int
    n: int
    share: float | None
    low: float
    high: float

    @classmethod
    def of(cls, verdicts: Iterable[bool]) -> Self:
        """Count what is true."""
        told = list(verdicts)
        count, n = sum(told), len(told)
        if not n:
            return cls(count=0, n=0, share=None, low=0.0, high=1.0)
        share, weight = count / n, _Z**2 / n
        middle = (share + weight / 2) / (1 + weight)
        half = _Z / (1 + weight) * math.sqrt(share * (1 - share) / n + weight / (4 * n))
        return cls(count=count, n=n, share=share, low=max(0.0, middle - half), high=min(1.0, middle + half))


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """What model calls cost.

    Attributes:
        mean_dollars: A question, over those whose cost is known; None where none is.
        unknown: How many questions' cost is not known.
    """

    mean_dollars: float | None
    unknown: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ModeAccuracy:
    """How right one mode was.

    Attributes:
        overall: Answers that count as right: as the judge says, else by holding the expected answer.
        exact: Answers that are the expected one.
        contains: Answers that hold it.
        supported: Answers that stand on a page that was read, of those given.
        right_page: Runs that read every page with the answer, of those where it is known.
        mean_f1: Mean F1 of the answers' words.
        unjudged: Answers that no judge has judged, and that are not exact: they count by their words.
        by_kind: `overall` for each kind of question; one of several kinds counts in each.
        by_difficulty: The same by difficulty.
        by_kind_and_difficulty: The same by kind, then by difficulty, which may be empty.
        by_lang: The same by language.
        by_domain: The same by domain; one of several counts in each.
        statuses: How many runs ended how.
        mean_turns: Decisions of the target.
        mean_tokens: Tokens by name, such as `target_in`.
        cost: What model calls cost; the judge's are not among them.
    """

    overall: Proportion
    exact: Proportion
    contains: Proportion
    supported: Proportion
    right_page: Proportion
    mean_f1: float
    unjudged: int
    by_kind: Groups
    by_difficulty: Groups
    by_kind_and_difficulty: Mapping[str, Groups]
    by_lang: Groups
    by_domain: Groups
    statuses: Mapping[str, int]
    mean_turns: float
    mean_tokens: Mapping[str, float]
    cost: Cost


def accuracy_table(records: Sequence[Record]) -> dict[str, ModeAccuracy]:
    """Count right answers by mode, the modes in the order they come in."""
    modes: dict[str, list[Record]] = {}
    for record in records:
        modes.setdefault(record.mode, []).append(record)
    return {mode: _accuracy(of_mode) for mode, of_mode in modes.items()}


def _accuracy(records: Sequence[Record]) -> ModeAccuracy:
    scores = [record.scores for record in records]
    kinds = _grouped(records, lambda record: _several(record.kind))
    return ModeAccuracy(
        overall=_right(records),
        exact=Proportion.of(each.exact for each in scores),
        contains=Proportion.of(each.contains for each in scores),
        supported=Proportion.of(record.scores.supported for record in records if record.answer.strip()),
        right_page=Proportion.of(each.right_page for each in scores if each.right_page is not None),
        mean_f1=_mean([each.f1 for each in scores]),
        unjudged=sum(
            record.scores.judged is None and not record.scores.exact and bool(record.answer.strip())
            for record in records
        ),
        by_kind={kind: _right(of_kind) for kind, of_kind in kinds.items()},
        by_difficulty=_by(records, lambda record: [record.difficulty] if record.difficulty else []),
        by_kind_and_difficulty={
            kind: _by(of_kind, lambda record: [record.difficulty]) for kind, of_kind in kinds.items()
        },
        by_lang=_by(records, lambda record: [record.lang] if record.lang else []),
        by_domain=_by(records, lambda record: _several(record.domain)),
        statuses=dict(sorted(Counter(record.status for record in records).items())),
        mean_turns=_mean([record.turns for record in records]),
        mean_tokens=_mean_tokens(records),
        cost=_cost(records),
    )


def _right(records: Sequence[Record]) -> Proportion:
    return Proportion.of(record.scores.correct for record in records)


def _by(records: Sequence[Record], labels: Callable[[Record], list[str]]) -> Groups:
    return {label: _right(group) for label, group in _grouped(records, labels).items()}


def _grouped(records: Sequence[Record], labels: Callable[[Record], list[str]]) -> dict[str, list[Record]]:
    """Sort records by their labels, in alphabetical order; one may be in several groups, or in none."""
    groups: defaultdict[str, list[Record]] = defaultdict(list)
    for record in records:
        for label in labels(record):
            groups[label].append(record)
    return dict(sorted(groups.items()))


def _several(label: str) -> list[str]:
    """Return the labels in a text that may hold several with a bar between each two, as the domains of FRAMES do."""
    return list(dict.fromkeys(each.strip() for each in label.split("|") if each.strip()))


def _mean_tokens(records: Sequence[Record]) -> dict[str, float]:
    names = sorted({name for record in records for name in record.tokens})
    return {name: _mean([record.tokens.get(name, 0) for record in records]) for name in names}


def _cost(records: Sequence[Record]) -> Cost:
    known = [record.cost_dollars for record in records if record.cost_dollars is not None]
    return Cost(mean_dollars=_mean(known) if known else None, unknown=len(records) - len(known))


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
