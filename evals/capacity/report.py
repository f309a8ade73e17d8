"""The sheet and the simulation as tables, as JSON and as a picture.

Invariant: what was measured, what was given and what is simulated is told beside the figures.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table

from agent.errors import ConfigurationError
from evals.capacity.demand import Demand
from evals.capacity.sheet import Row
from evals.capacity.simulation import Simulated
from evals.capacity.supply import Supply


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """One size of a cluster.

    Attributes:
        supply: What there is.
        row: What it bears by arithmetic.
        steps: What the simulation found: as it is, then each time without what held it up.
    """

    supply: Supply
    row: Row
    steps: tuple[Simulated, ...]


def report_json(demand: Demand, sizes: Sequence[Size]) -> dict[str, Any]:
    """Return all of it as one object."""
    return {
        "demand": asdict(demand),
        "sizes": [
            {
                "supply": asdict(size.supply),
                "sheet": size.row.as_json(),
                "simulated": [step.as_json() for step in size.steps],
            }
            for size in sizes
        ],
    }


def print_report(demand: Demand, sizes: Sequence[Size], console: Console) -> None:
    """Print the tables."""
    console.print(
        f"A question, measured: {demand.seconds:.1f} s, of it thinking {demand.llm_seconds:.1f} s and waiting for pages"
        f" {demand.exposed_seconds:.1f} s; {demand.turns:.1f} turns, {demand.loads:.1f} pages,"
        f" {demand.model_requests:.1f} model requests, {demand.model_tokens:,.0f} tokens"
    )
    if not demand.model_tokens:
        console.print("No tokens were counted, so no limit on tokens can bind: give them with --tokens-a-turn.")
    table = Table("slots", "workers", "machines", "GiB", "questions/h", "simulated", "s each", box=SIMPLE)
    for size in sizes:
        now = size.steps[0]
        table.add_row(
            f"{size.row.slots:,}",
            f"{size.row.workers:,}",
            f"{size.row.machines:,}",
            f"{size.row.memory_mib / 1024:,.1f}",
            f"{size.row.questions_an_hour:,.0f}",
            f"{now.questions_an_hour:,.0f}",
            f"{now.question_seconds:,.1f}",
        )
    console.print(table)
    for size in sizes:
        steps = " → ".join(f"{step.bottleneck} ({step.questions_an_hour:,.0f}/h)" for step in size.steps)
        console.print(f"{size.row.slots:,} slots are held up by {steps}")
    console.print(
        "questions/h: the lowest ceiling, by arithmetic. simulated: with queues. →: what holds them up once all before"
        " it were widened."
    )


def draw(sizes: Sequence[Size], path: Path) -> None:
    """Draw questions an hour over slots, simulated and by each ceiling, into an SVG or PNG file.

    Raises:
        ConfigurationError: The file cannot be written.
    """
    from matplotlib.figure import Figure  # noqa: PLC0415 - slow to import, and few runs draw

    figure = Figure(figsize=(8, 5), layout="constrained")
    axes = figure.subplots()
    slots = [size.row.slots for size in sizes]
    for name in sizes[0].row.ceilings:
        axes.plot(slots, [size.row.ceilings[name] for size in sizes], "--", linewidth=1, label=f"{name}, ceiling")
    axes.plot(slots, [size.steps[0].questions_an_hour for size in sizes], "o-", linewidth=2, label="simulated")
    axes.set(xscale="log", yscale="log", xlabel="slots (questions under way)", ylabel="questions an hour")
    axes.grid(visible=True, alpha=0.3)
    axes.legend()
    try:
        figure.savefig(path)
    except (OSError, ValueError) as error:
        raise ConfigurationError(
            f"the plot {path} cannot be written: {error}", hint="Give another place, with .svg or .png at its end."
        ) from error
