"""The command `speccache probe`: how long the same call to a model takes, again and again.

Invariant: what was measured is on disk before the next call begins; the report is made from the file alone.
"""

from __future__ import annotations

import json
import sys
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from agent import flags
from agent.console import ExitCode, run, tell
from agent.errors import ConfigurationError
from agent.models.model import CallLimits, ChatModel
from agent.models.providers import TIERS, locate
from agent.probe.record import Record, RecordFile
from agent.probe.report import PICTURES, as_json, comparison_lines, draw, table, write_csv
from agent.probe.study import MAX_TOKENS, Plan, Study, Subject
from agent.settings import EMBEDDED, LOCAL, Settings, load_settings

DEFAULT_TIER = "default"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asked:
    """What the command line asks for."""

    models: tuple[str, ...]
    tiers: tuple[str, ...]
    plan: Plan
    file: Path
    quiet: bool


def probe(
    models: Annotated[
        list[str] | None, typer.Argument(help="Models, as in --target.  \\[default: the target in force]")
    ] = None,
    base_url: flags.BaseUrl = None,
    tier: Annotated[
        list[str] | None, typer.Option("--tier", help="Service tiers to compare: default, priority, flex.")
    ] = None,
    calls: Annotated[int, typer.Option("--calls", min=0, help="Calls to each; 0: only report what is there.")] = 10,
    every: Annotated[float, typer.Option("--every", min=0, help="Seconds from one round to the next.")] = 60.0,
    place: Annotated[str, typer.Option("--place", help="Where you are, to label the calls with.")] = "",
    output: Annotated[
        Path, typer.Option("--output", help="File of all calls; a study goes on where it was broken off.")
    ] = Path("probe.jsonl"),
    csv: Annotated[Path | None, typer.Option("--csv", help="Also write the table there.")] = None,
    plot: Annotated[Path | None, typer.Option("--plot", help="Also draw the calls there, .svg or .png.")] = None,
    as_json_: flags.Json = False,
    verbose: flags.Tracebacks = False,
    quiet: flags.Quiet = False,
) -> None:
    """Measure how long identical calls to models take, over hours or days; resumable."""

    async def work() -> tuple[Record, ...]:
        settings = load_settings(base_url=base_url)
        if plot is not None and plot.suffix not in PICTURES:
            raise ConfigurationError(f"{plot} is no picture this can draw", hint="Name it .svg or .png.")
        for unknown in {*(tier or ())} - TIERS - {DEFAULT_TIER}:
            raise ConfigurationError(f"there is no service tier {unknown}", hint="Name default, priority or flex.")
        plan = Plan(calls=calls, every_seconds=every, place=place)
        asked = _Asked(
            models=_named(models, settings) if calls else (),
            tiers=tuple(tier or [DEFAULT_TIER]),
            plan=plan,
            file=output,
            quiet=quiet,
        )
        return await _study(settings, asked)

    records = run(work(), verbose=verbose)
    run(_write(records, csv=csv, plot=plot), verbose=verbose)
    if as_json_:
        typer.echo(json.dumps(as_json(records), ensure_ascii=False, indent=2))
    else:
        _show(records)
    answered = any(not record.error for record in records)
    raise typer.Exit(ExitCode.ANSWERED if answered else ExitCode.NOT_ANSWERED)


def _named(models: list[str] | None, settings: Settings) -> tuple[str, ...]:
    if models:
        return tuple(models)
    if settings.target_name in (EMBEDDED, LOCAL):
        raise ConfigurationError("no model is named", hint="Name one: speccache probe gpt-5-mini")
    return (settings.target_name,)


async def _study(settings: Settings, asked: _Asked) -> tuple[Record, ...]:
    file = RecordFile(asked.file)

    def progress(record: Record, left: int) -> None:
        if not asked.quiet:
            what = f"failed: {record.error}" if record.error else f"{record.seconds:.2f} s"
            tell(f"{record.at}  {record.series}: {what}; {left} calls left")

    async with AsyncExitStack() as stack:
        subjects = [_subject(settings, model, tier, stack) for model in asked.models for tier in asked.tiers]
        if subjects:
            await Study(subjects, asked.plan, file).run(progress)
    return file.read()


def _subject(settings: Settings, name: str, tier: str, stack: AsyncExitStack) -> Subject:
    address = locate(
        name,
        base_url=settings.base_url,
        api_key=settings.api_key.get_secret_value() if settings.api_key else "",
    )
    asked_tier = {} if tier == DEFAULT_TIER else {"service_tier": tier}
    model = ChatModel(
        address.model,
        base_url=address.base_url,
        api_key=address.api_key,
        key_variable=address.key_variable,
        limits=CallLimits(total_seconds=settings.model_seconds),
        parameters={"max_tokens": MAX_TOKENS, **asked_tier},
    )
    stack.push_async_callback(model.aclose)
    return Subject(label=address.label, tier=tier, model=model)


async def _write(records: tuple[Record, ...], *, csv: Path | None, plot: Path | None) -> None:
    if csv is not None:
        write_csv(records, csv)
    if plot is not None:
        draw(records, plot)


def _show(records: tuple[Record, ...]) -> None:
    # Folded to the width of a terminal that is not there, fifteen columns would hold two letters each.
    out = Console(highlight=False) if sys.stdout.isatty() else Console(highlight=False, width=200)
    if not records:
        tell("no call has been made yet")
        return
    out.print(table(records))
    for line in comparison_lines(records):
        out.print(line, markup=False, soft_wrap=True)
