"""The page's table of questions: what was asked and answered, and how long each mode waited.

Invariant: texts are cut to what a table bears; the records have all of them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from evals.report.figures import OFF, Figures, guessable
from evals.report.paired import FLOOR_SECONDS
from evals.report.wording import UNKNOWN, seconds, times
from evals.runs.record import Record

_TEXT_CHARS = 400
_MAX_WAYS = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionRow:
    """One question.

    Attributes:
        name: What the charts call it, such as `Q1`.
        item: Its id.
        lang: Its language.
        question: What was asked.
        about: Its kind, difficulty and domain.
        expected: The expected answer.
        answers: What was answered, by the modes that did so, once for each answer.
        right: The modes that were right.
        turns: Decisions in the mode shown.
        served: Hits, joins and misses in the mode shown.
        waits: Exposed web time a turn in each mode.
        less: How many times less it was in the mode shown than in `off`.
    """

    name: str
    item: str
    lang: str
    question: str
    about: str
    expected: str
    answers: tuple[tuple[str, str], ...]
    right: str
    turns: str
    served: str
    waits: tuple[str, ...]
    less: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DifferingWays:
    """A question on which a mode went another way than `off`.

    Attributes:
        title: Which question, and which mode.
        off: The actions of `off`, then its answer.
        other: Those of the mode.
    """

    title: str
    off: tuple[str, ...]
    other: tuple[str, ...]


def question_rows(found: Figures) -> list[QuestionRow]:
    """Return a row for each question that was compared."""
    return [_row(place, found) for place in range(len(found.pairing.items))] if found.modes else []


def differing_ways(found: Figures) -> list[DifferingWays]:
    """Return the first questions on which a mode went another way."""
    ways = []
    for mode, versus in found.compared.items():
        for item in versus.differing[:_MAX_WAYS]:
            place = found.pairing.items.index(item)
            off, other = (found.pairing.by_mode[name][place] for name in (OFF, mode))
            title = f"Q{place + 1}, {item}: {mode} against off"
            ways.append(DifferingWays(title=title, off=_way(off), other=_way(other)))
    return ways


def _way(record: Record) -> tuple[str, ...]:
    return tuple(cut(each) for each in record.trajectory)


def _row(place: int, found: Figures) -> QuestionRow:
    records = {mode: each[place] for mode, each in found.pairing.by_mode.items()}
    shown = records[found.main.mode] if found.main else next(iter(records.values()))
    right = [mode for mode, record in records.items() if record.scores.correct]
    return QuestionRow(
        name=f"Q{place + 1}",
        item=shown.item,
        lang=shown.lang,
        question=cut(shown.question),
        about=" · ".join(filter(None, (shown.kind, shown.difficulty, shown.domain))),
        expected=cut(shown.expected),
        answers=_answers(records.values()),
        right="all" if len(right) == len(records) else ", ".join(right) or "none",
        turns=f"{shown.turns}",
        served="·".join(f"{sum(step.kind == kind for step in guessable(shown))}" for kind in ("hit", "join", "miss")),
        waits=tuple(seconds(each.exposed_seconds[place]) for each in found.modes.values()),
        less=_less(place, found),
    )


def _answers(records: Iterable[Record]) -> tuple[tuple[str, str], ...]:
    by_answer: dict[str, list[str]] = {}
    for record in records:
        said = cut(record.answer) if record.answer else f"({record.status.replace('_', ' ')}) {cut(record.reason)}"
        by_answer.setdefault(said, []).append(record.mode)
    if len(by_answer) == 1:
        return (("", next(iter(by_answer))),)
    return tuple((", ".join(modes), said) for said, modes in by_answer.items())


def _less(place: int, found: Figures) -> str:
    if found.main is None or OFF not in found.modes:
        return UNKNOWN
    off, shown = (each.exposed_seconds[place] for each in (found.modes[OFF], found.main))
    return times(max(FLOOR_SECONDS, off) / max(FLOOR_SECONDS, shown))


def cut(text: str) -> str:
    """Cut a text that is too long for a table."""
    return text if len(text) <= _TEXT_CHARS else text[: _TEXT_CHARS - 1] + "…"
