"""Charts with the questions along the axis: where the time of each went, and what each waited for pages.

Invariant: the same questions in the same order for every mode, or, where there are too many for bars, each mode's own
from the shortest wait to the longest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from evals.report.figures import OFF, Figures
from evals.report.palette import PALE, mode_colour
from evals.report.svg import Canvas, Chart
from evals.report.wording import seconds
from evals.runs.record import Record

MAX_BARS = 40
"""Questions beyond which bars are too thin to be told apart."""

_WIDTH, _SHIFT = 0.36, 0.19


@dataclass(frozen=True, slots=True, kw_only=True)
class _Side:
    """One mode's bars: beside those of the other, where there are two."""

    mode: str
    records: Sequence[Record]
    shift: float

    @property
    def web_seconds(self) -> list[float]:
        return [_a_turn(record, record.exposed_seconds) for record in self.records]

    @property
    def llm_seconds(self) -> list[float]:
        return [_a_turn(record, record.llm_seconds) for record in self.records]

    @property
    def places(self) -> list[float]:
        return [place + self.shift for place in range(1, len(self.records) + 1)]


def query_charts(found: Figures) -> list[Chart]:
    """Draw both charts."""
    if len(found.pairing.items) > MAX_BARS:
        return [_sorted_breakdown(found), _sorted_waits(found)]
    return [_breakdown(found), _waits(found)]


def _a_turn(record: Record, amount: float) -> float:
    return amount / max(1, record.turns)


def _sides(found: Figures) -> list[_Side]:
    shown = [OFF, found.main.mode] if found.main else [OFF]
    modes = [mode for mode in shown if mode in found.modes]
    shifts = (0.0,) if len(modes) == 1 else (-_SHIFT, _SHIFT)
    return [
        _Side(mode=mode, records=found.pairing.by_mode[mode], shift=shift)
        for mode, shift in zip(modes, shifts, strict=True)
    ]


def _breakdown(found: Figures) -> Chart:
    canvas = Canvas(is_wide=True)
    sides = _sides(found)
    for number, side in enumerate(sides):
        label = "" if number else "LLM"
        llm = canvas.axes.bar(side.places, side.llm_seconds, _WIDTH, color=PALE, label=label)
        web = canvas.axes.bar(
            side.places,
            side.web_seconds,
            _WIDTH,
            bottom=side.llm_seconds,
            color=mode_colour(side.mode),
            label=f"exposed web, {side.mode}{_hand(sides, number)}",
        )
        for bars, what, figures in ((llm, "LLM", side.llm_seconds), (web, "exposed web", side.web_seconds)):
            for place, (bar, figure) in enumerate(zip(bars, figures, strict=True), 1):
                canvas.tip(bar, f"Q{place}, {side.mode}: {what} {seconds(figure)} s a turn")
    _finish_bars(canvas, len(found.pairing.items))
    return canvas.chart(
        "breakdown",
        title="Where the time of each question went",
        caption="Seconds a turn: the target's thinking, and on top of it the wait for pages.",
        says=_says(sides),
    )


def _waits(found: Figures) -> Chart:
    canvas = Canvas(is_wide=True)
    sides = _sides(found)
    for number, side in enumerate(sides):
        bars = canvas.axes.bar(
            side.places,
            side.web_seconds,
            _WIDTH,
            color=mode_colour(side.mode),
            label=f"{side.mode}{_hand(sides, number)}",
        )
        for place, (bar, figure) in enumerate(zip(bars, side.web_seconds, strict=True), 1):
            canvas.tip(bar, f"Q{place}, {side.mode}: {seconds(figure)} s a turn")
    _finish_bars(canvas, len(found.pairing.items))
    return canvas.chart(
        "waits",
        title="Exposed web time of each question",
        caption="Seconds a turn from the action being known to its page being in hand.",
        says=_says(sides),
    )


def _hand(sides: Sequence[_Side], number: int) -> str:
    """Say which bar it is, for who cannot tell the colours apart."""
    return f" ({('left', 'right')[number]})" if len(sides) > 1 else ""


def _says(sides: Sequence[_Side]) -> str:
    """Tell the means in words; the table of questions has every figure."""
    return " ".join(
        f"{side.mode}: on average {seconds(_mean(side.llm_seconds))} s LLM and"
        f" {seconds(_mean(side.web_seconds))} s exposed web time a turn."
        for side in sides
    )


def _mean(figures: Sequence[float]) -> float:
    return sum(figures) / len(figures)


def _finish_bars(canvas: Canvas, count: int) -> None:
    places = range(1, count + 1)
    canvas.axes.set_xticks(places, [f"Q{place}" for place in places])
    # A single question's bars would be as wide as the page.
    canvas.axes.set_xlim(0.4, max(count, 6) + 0.6)
    canvas.axes.set_ylabel("seconds a turn")
    canvas.axes.grid(axis="y")
    canvas.axes.margins(y=0.15)
    canvas.axes.legend(loc="upper left", ncols=3)


def _sorted_breakdown(found: Figures) -> Chart:
    canvas = Canvas(is_wide=True)
    sides = _sides(found)
    for number, side in enumerate(sides):
        both = sorted(zip(side.llm_seconds, side.web_seconds, strict=True), key=sum)
        shares = _shares(len(both))
        colour = mode_colour(side.mode)
        if not number:
            canvas.axes.plot(shares, sorted(side.llm_seconds), color=PALE, linewidth=3, label=f"LLM alone, {side.mode}")
        canvas.axes.plot(
            shares,
            [sum(each) for each in both],
            color=colour,
            linestyle="--" if side.mode == OFF else "-",
            label=f"LLM and exposed web, {side.mode}",
        )
    _finish_lines(canvas)
    return canvas.chart(
        "breakdown",
        title="Where the time of the questions went",
        caption="Seconds a turn, each line's questions from the quickest to the slowest.",
        says=_says(sides),
    )


def _sorted_waits(found: Figures) -> Chart:
    canvas = Canvas(is_wide=True)
    for mode, each in found.modes.items():
        (line,) = canvas.axes.plot(
            _shares(each.questions),
            sorted(each.exposed_seconds),
            color=mode_colour(mode),
            linestyle="--" if mode == OFF else "-",
            label=mode,
        )
        canvas.tip(line, f"{mode}: {seconds(_mean(each.exposed_seconds))} s a turn on average")
    _finish_lines(canvas)
    return canvas.chart(
        "waits",
        title="Exposed web time of the questions",
        caption="Seconds a turn, each mode's questions from the shortest wait to the longest.",
        says=_says(_sides(found)),
    )


def _shares(count: int) -> list[float]:
    return [100 * (place + 0.5) / count for place in range(count)]


def _finish_lines(canvas: Canvas) -> None:
    canvas.axes.set(xlabel="questions, %", ylabel="seconds a turn", xlim=(0, 100))
    canvas.axes.set_ylim(bottom=0)
    canvas.axes.grid()
    canvas.axes.legend(loc="upper left", ncols=2)
