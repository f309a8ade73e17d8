"""The figures of a suite on a terminal.

Invariant: what is simulated is said before any figure. Nothing is told by colour, and a hundred columns are enough.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import mean

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from evals.report.figures import Figures, figures
from evals.report.wording import (
    UNKNOWN,
    counts,
    dollars,
    pairing_notes,
    percent,
    questions,
    seconds,
    setting,
    span,
    times,
)
from evals.runs.conditions import Conditions
from evals.runs.record import Record

_NAMED_AT_MOST = 8
_LEGEND = (
    "right: of the questions. @1, @3, hit, join, miss: of the steps a guess could serve; @1, @3: its"
    " turn's first guess of it, or one of three, guesses one level deeper left out. waste: of the pages loaded"
    " ahead. bound: share of perfect overlap reached. path: whether every trajectory is the one of off. web: exposed"
    " web time a turn, mean over questions; later: without the first page, which nobody can guess. less: mean of off"
    " over mean of the mode, with the 95% interval over questions. computed: web time a turn, all pages over those"
    " nobody named, as the published code computes it; not measured. total: from question to answer."
)


def print_report(records: Sequence[Record], conditions: Conditions, console: Console) -> None:
    """Print what the records say."""
    found = figures(records)
    for caveat in conditions.caveats():
        console.print(f"SIMULATED: {escape(caveat)}", highlight=False)
    console.print(escape(f"{conditions.suite}: {setting(conditions)}"), highlight=False)
    for note in pairing_notes(found.pairing):
        console.print(escape(note), highlight=False)
    if not found.modes:
        console.print("There is nothing to compare yet.")
        return
    for table in (_guesses(found), _waits(found), _wholes(found), _misses(found)):
        if table.row_count:
            console.print(table)
    console.print(_LEGEND, highlight=False)
    for line in _closing(found):
        console.print(escape(line), highlight=False)


def _table(title: str, *columns: str) -> Table:
    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    table.add_column("mode", no_wrap=True)
    for column in columns:
        table.add_column(column, justify="right", no_wrap=True)
    return table


def _guesses(found: Figures) -> Table:
    table = _table("Answers and guesses", "right", "@1", "@3", "hit", "join", "miss", "waste", "bound", "path")
    for mode, each in found.modes.items():
        shares = (each.accuracy, each.hit1, each.hit3, each.hit, each.join, each.miss, each.waste, each.bound_share)
        versus = found.compared.get(mode)
        path = UNKNOWN if versus is None else f"{len(versus.differing)} differ" if versus.differing else "same"
        table.add_row(escape(mode), *map(percent, shares), path)
    return table


def _waits(found: Figures) -> Table:
    table = _table("Exposed web time a turn", "web s", "less", "95%", "best", "later s", "less", "95%", "computed")
    for mode, each in found.modes.items():
        versus, computed = found.compared.get(mode), found.counterfactual.get(mode)
        table.add_row(
            escape(mode),
            seconds(mean(each.exposed_seconds)),
            times(versus.exposed.ratio if versus else None),
            span(versus.exposed.interval if versus else None),
            times(versus.best_ratio if versus else None),
            seconds(mean(each.later_seconds)),
            times(versus.later.ratio if versus else None),
            span(versus.later.interval if versus else None),
            times(computed.a_turn.ratio if computed else None),
        )
    return table


def _wholes(found: Figures) -> Table:
    table = _table("A question", "turns", "llm s", "web s", "total s", "less", "tokens in", "out", "cost of all")
    for mode, each in found.modes.items():
        versus = found.compared.get(mode)
        table.add_row(
            escape(mode),
            f"{each.turns:.1f}",
            *(seconds(mean(figures)) for figures in (each.llm_seconds, each.web_seconds, each.total_seconds)),
            times(versus.total.ratio if versus else None),
            *(f"{each.tokens_a_question(way):,.0f}" for way in ("in", "out")),
            dollars(each.cost_dollars),
        )
    return table


def _misses(found: Figures) -> Table:
    modes = {mode: each for mode, each in found.modes.items() if each.speculated or each.refused}
    table = _table("Misses by why", *modes)
    for why in dict.fromkeys(why for each in modes.values() for why in each.missed):
        table.add_row(escape(why), *(f"{each.missed.get(why, 0):,}" for each in modes.values()))
    return table


def _closing(found: Figures) -> Iterator[str]:
    for mode, versus in found.compared.items():
        if versus.differing:
            named = ", ".join(versus.differing[:_NAMED_AT_MOST])
            more = ", …" if len(versus.differing) > _NAMED_AT_MOST else ""
            yield f"{mode} went another way than off in {questions(len(versus.differing))}: {named}{more}"
    if unjudged := {mode: each.unjudged for mode, each in found.accuracy.items() if each.unjudged}:
        yield f"answers not judged, and taken as right where they hold the expected one: {counts(unjudged)}"
    main = found.main
    if main is not None and main.mode in found.measured:
        measured, computed = found.measured[main.mode], found.counterfactual[main.mode]
        yield (
            f"{main.mode}, web time a question: {measured} times less as measured;"
            f" {computed.speedup} as the published code computes it ({percent(computed.named)} named)"
        )
    if main is not None and main.served_by:
        yield f"{main.mode}, hits and joins by whose guess it was: {counts(main.served_by)}"
    if main is not None and main.refused:
        yield f"{main.mode}, guesses and loads refused: {counts(main.refused)}"
