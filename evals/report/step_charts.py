"""Charts of the steps: who served them, what became of those that nobody did, and how long pages took to load.

Invariant: shares are of the steps that a guess could serve.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil

from evals.report.figures import OFF, Figures, ModeFigures, guessable
from evals.report.palette import INK, ORANGE, PALE, RED, TEAL, mode_colour, predictor_colours
from evals.report.svg import Canvas, Chart
from evals.report.wording import counts, percent, seconds
from evals.runs.conditions import Conditions
from evals.runs.record import Record
from evals.site.latency import ROOT_PERCENTILES, SUBPAGE_PERCENTILES

_MAX_REASONS = 8
_LABEL_CHARS = 42


def step_charts(found: Figures, conditions: Conditions) -> list[Chart]:
    """Draw those charts that there is something to draw for."""
    speculating = [each for mode, each in found.modes.items() if mode != OFF and each.guessable]
    charts = [_served(speculating)] if speculating else []
    if found.main is not None and found.main.guessable:
        charts.append(_waterfall(found.main))
    mode = OFF if OFF in found.modes else next(iter(found.modes))
    loaded = _loads(mode, found.pairing.by_mode[mode], conditions)
    return charts if loaded is None else [*charts, loaded]


def _served(modes: Sequence[ModeFigures]) -> Chart:
    canvas = Canvas(height_inches=1.5 + 0.36 * len(modes))
    names = list(dict.fromkeys(name for each in modes for name in each.served_by))
    starts = [0.0] * len(modes)
    places = range(len(modes))
    for name, colour in predictor_colours(names).items():
        shares = [100 * each.served_by.get(name, 0) / each.guessable for each in modes]
        bars = canvas.axes.barh(places, shares, 0.62, left=starts, color=colour, label=_cut(name))
        for bar, share, each in zip(bars, shares, modes, strict=True):
            canvas.tip(bar, f"{each.mode}, {name}: {share:.0f}% of steps")
        starts = [start + share for start, share in zip(starts, shares, strict=True)]
    for place, start, each in zip(places, starts, modes, strict=True):
        canvas.axes.text(start + 1, place, percent(each.served), va="center")
    canvas.axes.set_yticks(places, [each.mode for each in modes])
    canvas.axes.invert_yaxis()
    canvas.axes.set(xlim=(0, 110), xlabel="hits and joins, % of the steps a guess could serve")
    canvas.axes.set_xticks(range(0, 101, 20))
    canvas.axes.grid(axis="x")
    if names:
        canvas.axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=4)
    return canvas.chart(
        "served",
        title="Hits and joins, by whose guess it was",
        caption="A page counts for the predictor whose guess had it loaded.",
        says=" ".join(f"{each.mode}: {percent(each.served)} ({counts(each.served_by) or 'none'})." for each in modes),
    )


def _waterfall(each: ModeFigures) -> Chart:
    hits = round((each.hit or 0.0) * each.guessable)
    joins = round((each.join or 0.0) * each.guessable)
    rows = [("steps a guess could serve", each.guessable, PALE), ("hits", hits, TEAL), ("joins", joins, ORANGE)]
    rows += [(_cut(why), count, RED) for why, count in _reasons(each)]
    canvas = Canvas(height_inches=1.1 + 0.3 * len(rows))
    left = each.guessable
    for place, (name, count, colour) in enumerate(rows):
        start = 0 if not place else left - count
        (bar,) = canvas.axes.barh([place], [count], 0.66, left=start, color=colour)
        canvas.tip(bar, f"{name}: {count:,} ({count / each.guessable:.0%})")
        canvas.axes.text(start + count + each.guessable / 100, place, f"{count:,}", va="center")
        left = each.guessable if not place else start
    canvas.axes.set_yticks(range(len(rows)), [name for name, _, _ in rows])
    canvas.axes.invert_yaxis()
    canvas.axes.set(xlim=(0, each.guessable * 1.12), xlabel="steps")
    canvas.axes.locator_params(axis="x", integer=True)
    canvas.axes.grid(axis="x")
    return canvas.chart(
        "misses",
        title=f"What became of each step, {each.mode}",
        caption="Below hits and joins stand the misses, by why the page was not loaded ahead.",
        says=f"{each.guessable} steps, {hits} hits, {joins} joins; misses: {counts(each.missed) or 'none'}.",
    )


def _reasons(each: ModeFigures) -> list[tuple[str, int]]:
    """Return why there were misses, most first, the rare ones together."""
    reasons = list(each.missed.items())
    rare = sum(count for _, count in reasons[_MAX_REASONS:])
    return [*reasons[:_MAX_REASONS], *([("other", rare)] if rare else [])]


def _cut(text: str) -> str:
    text = "".join(letter if letter.isprintable() else " " for letter in text)  # others have no place in XML
    return text if len(text) <= _LABEL_CHARS else text[: _LABEL_CHARS - 1] + "…"


def _loads(mode: str, records: Sequence[Record], conditions: Conditions) -> Chart | None:
    first = sorted(step.load_seconds for record in records for step in record.steps[:1] if step.load_seconds)
    later = sorted(step.load_seconds for record in records for step in guessable(record) if step.load_seconds)
    if not first and not later:
        return None
    canvas = Canvas()
    kinds = (
        ("first pages", first, ROOT_PERCENTILES, mode_colour("rank"), "o"),
        ("sub-pages", later, SUBPAGE_PERCENTILES, mode_colour("spec"), "s"),
    )
    for name, loads, published, colour, marker in kinds:
        if not loads:
            continue
        shares = [place / len(loads) for place in range(len(loads) + 1)]
        (line,) = canvas.axes.step(
            [loads[0], *loads], shares, where="post", color=colour, label=f"{name} ({len(loads):,})"
        )
        canvas.tip(line, f"{name}: P50 {seconds(_quantile(loads, 0.5))} s, P90 {seconds(_quantile(loads, 0.9))} s")
        if conditions.time_scale:
            points = [(share, figure * conditions.time_scale) for share, figure in published if 0 < share < 1]
            canvas.axes.plot(
                [figure for _, figure in points],
                [share for share, _ in points],
                linestyle="none",
                marker=marker,
                markerfacecolor="none",
                color=INK,
                markersize=4,
                label=f"published, {name}",
            )
    canvas.axes.set(xlabel="seconds to load a page", ylabel="share of pages", ylim=(0, 1.02))
    canvas.axes.set_xlim(left=0)
    canvas.axes.grid()
    canvas.axes.legend(loc="lower right")
    simulated = f" Marks: the published percentiles, times {conditions.time_scale:g}." if conditions.time_scale else ""
    return canvas.chart(
        "loads",
        title=f"How long pages took to load, {mode}",
        caption=f"Cumulative distribution over the pages that were loaded.{simulated}",
        says=" ".join(
            f"{name}: P50 {seconds(_quantile(loads, 0.5))} s, P90 {seconds(_quantile(loads, 0.9))} s."
            for name, loads, *_ in kinds
            if loads
        ),
    )


def _quantile(ordered: Sequence[float], share: float) -> float:
    """Return the least figure that so large a share does not exceed, as it stands in the drawing."""
    return ordered[max(0, ceil(share * len(ordered)) - 1)]
