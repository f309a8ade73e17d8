"""The command `python -m evals.bench soak`.

Invariant: it ends with 1 where a claim does not hold.
"""

from __future__ import annotations

import json
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from agent import flags
from agent.console import ExitCode, err, run
from evals.bench.claim import print_claims
from evals.bench.result import Result
from evals.bench.soak import SoakPlan, soak

_COUNTS = (
    "real_loads",
    "loads_ahead",
    "loads_ahead_repeated",
    "killed_browsers",
    "crashed_renderers",
    "browser_launches",
)


def soak_command(
    loads: Annotated[int, typer.Option("--loads", min=1, help="Pages loaded.")] = 1000,
    seed: Annotated[int, typer.Option("--seed", help="Of what is killed, and when.")] = 0,
    as_json: flags.Json = False,
) -> None:
    """Load many pages while browsers are killed: nothing may be lost, and nothing left behind."""
    result = run(_soak(SoakPlan(loads=loads, seed=seed)), verbose=True)
    if as_json:
        typer.echo(json.dumps(result.as_json()))
    else:
        print_soak(result)
    if any(claim["holds"] is False for claim in result.parts["claims"]):
        raise typer.Exit(ExitCode.NOT_ANSWERED)


async def _soak(plan: SoakPlan) -> Result:
    with Progress(console=err) as progress:
        return await soak(plan, progress)


def print_soak(result: Result) -> None:
    """Print what happened, and what holds, on standard output."""
    console = Console(highlight=False)
    counts = Table("what", "how many", show_edge=False)
    for name in _COUNTS:
        counts.add_row(name.replace("_", " "), str(result.parts[name]))
    console.print(counts)
    rests = Table("loads", "pages left", "browsers MiB", "all MiB", title="at rest", show_edge=False)
    for seen in result.parts["rests"]:
        rests.add_row(*(str(seen[name]) for name in ("loads", "pages_left", "browsers_mebibytes", "all_mebibytes")))
    console.print(rests)
    for line in result.parts["lost"]:
        console.print(line, soft_wrap=True)
    low, high = result.interval
    console.print(f"{result.name}: {result.ratio:.3f} ({low:.3f} to {high:.3f}, n={result.n} {result.unit})")
    print_claims(console, result.parts["claims"])
