"""How many times less each mode waited for pages than `off`, and how sure that is.

Invariant: what was computed, not measured, is drawn hollow and named so.
"""

from __future__ import annotations

from evals.report.figures import Figures
from evals.report.palette import INK, LINE, mode_colour
from evals.report.svg import Canvas, Chart
from evals.report.wording import times


def ratio_chart(found: Figures) -> Chart | None:
    """Draw it; None where there is no mode beside `off`."""
    if not found.compared:
        return None
    canvas = Canvas(height_inches=1.5 + 0.36 * len(found.compared))
    for place, (mode, versus) in enumerate(found.compared.items()):
        ratio = versus.exposed
        low, high = ratio.interval or (ratio.ratio, ratio.ratio)
        canvas.axes.plot([low, high], [place, place], color=mode_colour(mode), linewidth=2)
        (point,) = canvas.axes.plot([ratio.ratio], [place], marker="o", markersize=7, color=mode_colour(mode))
        canvas.tip(point, f"{mode}: {ratio} times less exposed web time a turn")
        (hollow,) = canvas.axes.plot(
            [found.counterfactual[mode].a_turn.ratio],
            [place],
            marker="D",
            markerfacecolor="none",
            color=INK,
            linestyle="none",
            label="" if place else "as the published code computes it (not measured)",
        )
        canvas.tip(hollow, f"{mode}, computed: {found.counterfactual[mode].a_turn} times less web time a turn")
    canvas.axes.axvline(1, color=LINE)
    canvas.axes.set_yticks(range(len(found.compared)), list(found.compared))
    canvas.axes.set_ylim(len(found.compared) - 0.5, -0.5)
    canvas.axes.set_xlabel("times less exposed web time a turn than off, with the 95% interval over questions")
    canvas.axes.margins(x=0.1)
    canvas.axes.set_xlim(left=0)
    canvas.axes.grid(axis="x")
    canvas.axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0))
    return canvas.chart(
        "ratios",
        title="Against off",
        caption="Right of 1 is less waiting than with speculation off.",
        says=" ".join(f"{mode}: {times(versus.exposed.ratio)} less." for mode, versus in found.compared.items()),
    )
