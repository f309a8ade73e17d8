"""The command `python -m evals.capacity FOLDER`."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from agent import flags
from agent.console import fail
from agent.errors import ConfigurationError
from evals.capacity.demand import CALLS_A_TURN, Demand, read_demand
from evals.capacity.report import Size, draw, print_report, report_json
from evals.capacity.sheet import row
from evals.capacity.simulation import bottlenecks
from evals.capacity.supply import CACHE_OPERATIONS, LOAD_CPU_SECONDS, Machine, Supply

SLOTS = [10, 100, 1_000, 10_000]

app = typer.Typer(add_completion=False)

Folder = Annotated[Path, typer.Argument(help="A folder with results of `speccache eval`.", exists=True)]
Rpm = Annotated[float | None, typer.Option("--rpm", min=1, help="Requests a minute that the model's provider allows.")]
Tpm = Annotated[float | None, typer.Option("--tpm", min=1, help="Tokens a minute that it allows.")]
HostRate = Annotated[float | None, typer.Option("--host-rate", min=0.01, help="Loads a second that one host bears.")]
Cpu = Annotated[float, typer.Option("--load-cpu-seconds", min=0.001, help="Processor time of one page.")]
CacheOps = Annotated[float, typer.Option("--cache-ops", min=1, help="Operations a second of the shared cache.")]


@app.command()
def capacity(
    folder: Folder,
    slots: Annotated[list[int], typer.Option("--slots", min=1, help="Questions under way; repeatable.")] = SLOTS,
    mode: Annotated[str, typer.Option("--mode", help="Whose records count.")] = "spec",
    slots_a_worker: Annotated[int, typer.Option("--questions-at-once", min=1, help="Slots of a worker.")] = 8,
    ahead: Annotated[int, typer.Option("--pool-size", min=0, help="Pages a worker loads ahead at once.")] = 4,
    cpus: Annotated[float, typer.Option("--cpus", min=0.1, help="Processors of a machine.")] = 8,
    memory_gib: Annotated[float, typer.Option("--memory", min=1, help="Memory of a machine, in GiB.")] = 32,
    machines: Annotated[int | None, typer.Option("--machines", min=1, help="Machines; else what is needed.")] = None,
    rpm: Rpm = None,
    tpm: Tpm = None,
    calls_a_turn: Annotated[float, typer.Option("--calls-a-turn", min=0)] = CALLS_A_TURN,
    tokens_a_turn: Annotated[float | None, typer.Option("--tokens-a-turn", min=0)] = None,
    hosts: Annotated[int, typer.Option("--hosts", min=1, help="Over how many hosts questions spread.")] = 1,
    host_rate: HostRate = None,
    load_cpu_seconds: Cpu = LOAD_CPU_SECONDS,
    cache_ops: CacheOps = CACHE_OPERATIONS,
    plot: Annotated[Path | None, typer.Option("--plot", help="Where to draw it, .svg or .png.")] = None,
    as_json: flags.Json = False,
) -> None:
    """Say how many questions an hour a cluster answers by its size, and what holds it up; from a run's figures."""
    supply = Supply(
        slots=1,
        slots_a_worker=slots_a_worker,
        ahead=ahead,
        machine=Machine(cpus=cpus, memory_mib=memory_gib * 1024),
        machines=machines,
        requests_a_minute=rpm,
        tokens_a_minute=tpm,
        hosts=hosts,
        host_rate=host_rate,
        load_cpu_seconds=load_cpu_seconds,
        cache_operations=cache_ops,
    )
    try:
        demand = read_demand(folder, mode=mode, calls_a_turn=calls_a_turn, tokens_a_turn=tokens_a_turn)
        _show(demand, [_size(demand, replace(supply, slots=each)) for each in slots], plot=plot, as_json=as_json)
    except ConfigurationError as error:
        fail(error)


def _size(demand: Demand, supply: Supply) -> Size:
    return Size(supply=supply, row=row(demand, supply), steps=bottlenecks(demand, supply))


def _show(demand: Demand, sizes: list[Size], *, plot: Path | None, as_json: bool) -> None:
    if plot is not None:
        draw(sizes, plot)
    if as_json:
        typer.echo(json.dumps(report_json(demand, sizes)))
    else:
        print_report(demand, sizes, Console(highlight=False, soft_wrap=True))


if __name__ == "__main__":
    app()
