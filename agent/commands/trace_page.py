"""The command `speccache trace`: what a run did with its time, as a page, as figures, or for a trace viewer.

Invariant: traces are only read; no file that is given is written to.
"""

from __future__ import annotations

import asyncio
import json
import webbrowser
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from agent import flags
from agent.console import run, tell
from agent.errors import ConfigurationError, TraceUnwritable
from agent.timeline.breakdown import breakdown_of_run
from agent.timeline.chrome_trace import chrome_trace
from agent.timeline.page import timeline_page
from agent.timeline.trace_reader import Run, read_trace


def trace(
    files: Annotated[
        list[Path], typer.Argument(metavar="FILE", help="Traces, as `speccache ask` names them at its end.")
    ],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Where the page goes.  \\[default: the first FILE, as .html]")
    ] = None,
    open_page: Annotated[bool, typer.Option("--open", help="Show the page in your web browser.")] = False,
    chrome: Annotated[
        Path | None, typer.Option("--chrome", help="Write the Chrome trace-event format there, for Perfetto.")
    ] = None,
    as_json: flags.Json = False,
) -> None:
    """Write where a run's time went as one HTML page that needs no network: timeline, turns, what was saved and wasted.

    Several files, or several runs in one, share a page on which you choose. With --json or --chrome the page is written
    only where --output or --open asks for it.
    """
    run(_trace(files, output=output, open_page=open_page, chrome=chrome, as_json=as_json))


async def _trace(
    files: Sequence[Path], *, output: Path | None, open_page: bool, chrome: Path | None, as_json: bool
) -> None:
    wants_page = open_page or output is not None or not (as_json or chrome)
    page = (output or files[0].with_suffix(".html")) if wants_page else None
    _check(files, page, chrome)
    runs = [found for file in files for found in await asyncio.to_thread(read_trace, file)]
    for found in runs:
        for note in found.notes:
            tell(f"note: {found.source}: {note}")
    if page is not None:
        _write(page, timeline_page(runs))
    if chrome is not None:
        _write(chrome, json.dumps(chrome_trace(runs)))
    if as_json:
        typer.echo(json.dumps({"runs": [_figures(found) for found in runs]}, ensure_ascii=False, indent=2))
    else:
        _show(runs, [path for path in (page, chrome) if path is not None])
    if open_page and page is not None and not webbrowser.open(page.resolve().as_uri()):
        tell(f"no web browser was found; open {page} yourself")


def _check(files: Sequence[Path], page: Path | None, chrome: Path | None) -> None:
    given = {file.resolve() for file in files}
    wanted = [path.resolve() for path in (page, chrome) if path is not None]
    if given.intersection(wanted) or len(set(wanted)) < len(wanted):
        raise ConfigurationError(
            "a trace, the page and the Chrome trace cannot be the same file", hint="Name another with --output PATH."
        )


def _write(path: Path, text: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise TraceUnwritable(
            f"{path} cannot be written: {error.strerror}", hint="Give another place with --output or --chrome."
        ) from error


def _figures(found: Run) -> dict[str, Any]:
    return {
        "source": found.source,
        "started_at": found.started_at,
        "question": found.question,
        "status": found.status,
        **breakdown_of_run(found).as_json(),
        "notes": list(found.notes),
    }


def _show(runs: Sequence[Run], written: Sequence[Path]) -> None:
    for path in written:
        typer.echo(str(path))
    for found in runs:
        tell(f"{found.question or found.source}: {found.status}; {breakdown_of_run(found)}")
