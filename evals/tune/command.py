"""The command `speccache tune`.

Invariant: what has been measured is shown however the sweep ends, and only a sweep that came to its end is written into
the settings.
"""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer

from agent import flags
from agent.console import err, fail, run, tell
from agent.errors import AgentError, ConfigurationError
from agent.settings import SETTINGS_FILE, Settings, load_settings
from browser.engine.machine import this_machine
from evals.tune.plot import draw
from evals.tune.progress_bar import ProgressBar
from evals.tune.recommendation import recommend
from evals.tune.report import Report, show
from evals.tune.request import GUESSES, ROUNDS, SIZES, Request, check_files, read_request
from evals.tune.settings_file import write_settings
from evals.tune.subject import Subject, open_subject
from evals.tune.summary import sizes_of, waits_of
from evals.tune.sweep import Sweep, settings_for, stops_of

Urls = Annotated[
    list[str] | None,
    typer.Option("--url", help="A page to start from; may be repeated.  \\[default: a bundled site]"),
]
Questions = Annotated[
    Path | None, typer.Option("--questions", help="Questions about the site of --url, one JSON object a line.")
]
Sizes = Annotated[str | None, typer.Option("--sizes", help=f"Pool sizes to try.  \\[default: {SIZES}]")]
Guesses = Annotated[str | None, typer.Option("--guesses", help=f"Guesses a turn to try.  \\[default: {GUESSES}]")]
MemoryLimit = Annotated[
    int | None,
    typer.Option("--memory-limit", min=1, help="MiB for both browsers.  \\[default: half of what is available]"),
]
Rounds = Annotated[
    int | None, typer.Option("--rounds", min=1, help=f"How often each setting is visited.  \\[default: {ROUNDS}]")
]
Quick = Annotated[bool, typer.Option("--quick", help="Under a minute: fewer settings, one short round.")]
Write = Annotated[bool, typer.Option("--write", help=f"Put the result into {SETTINGS_FILE}.")]
Output = Annotated[Path | None, typer.Option("--output", help="Where the JSON goes.  \\[default: runs/TIME-tune.json]")]
Plot = Annotated[Path | None, typer.Option("--plot", help="Draw the result into a .svg or .png file.")]


_BROWSING = {name: flag for name, flag in flags.BROWSING.items() if name not in ("profile", "save_storage_state")}


class _Tuning:
    """One run of the command, with what there is to report at any time."""

    def __init__(self, *, output: Path, plot: Path | None, as_json: bool) -> None:
        self._output = output
        self._plot = plot
        self._as_json = as_json
        self._request: Request | None = None
        self._subject: Subject | None = None
        self._sweep: Sweep | None = None

    async def measure(self, request: Request, settings: Settings) -> None:
        check_files(output=self._output, plot=self._plot)
        with ProgressBar(err) as bar:
            plan = request.plan
            settings = settings_for(plan, settings)
            self._request, self._sweep = request, Sweep(plan, settings, listener=bar)
            async with open_subject(request.urls, request.questions, settings=settings, pace=plan.pace) as subject:
                self._subject = subject
                await self._sweep.run(subject)

    def publish(self) -> Report | None:
        """Show and write what was measured; None where that is nothing.

        Raises:
            ConfigurationError: A file cannot be written.
        """
        report = self._report()
        if report is None:
            return None
        shown = json.dumps(report.as_json(), ensure_ascii=False, indent=2)
        if self._as_json:
            typer.echo(shown)
        else:
            show(report)
        try:
            self._output.write_text(shown + "\n", encoding="utf-8")
        except OSError as error:
            hint = "Give another place with --output FILE."
            raise ConfigurationError(f"{self._output} cannot be written: {error.strerror}", hint=hint) from error
        tell(f"written: {self._output}")
        if self._plot is not None:
            draw(report, self._plot)
            tell(f"drawn: {self._plot}")
        return report

    def _report(self) -> Report | None:
        request, subject, sweep = self._request, self._subject, self._sweep
        if request is None or subject is None or sweep is None or not sweep.samples:
            return None
        sizes, waits, cores = sizes_of(sweep.loads), waits_of(sweep.questions), this_machine().cores
        memory_bytes = request.budget.memory_bytes
        return Report(
            subject=subject.name,
            asking=subject.asking,
            think_seconds=subject.think_seconds,
            rounds=request.plan.rounds,
            measured=len(sweep.samples),
            planned=len(stops_of(request.plan, asks=bool(subject.tasks))),
            cores=cores,
            memory_bytes=memory_bytes,
            memory_rule=request.budget.rule,
            sizes=sizes,
            waits=waits,
            recommendation=recommend(sizes, waits, memory_bytes=memory_bytes, cores=cores),
            samples=tuple(sweep.samples),
        )


@flags.takes(thinking={"think": flags.Think}, browsing=_BROWSING, reaching=flags.REACHING)
def tune(
    given: flags.Flags,
    url: Urls = None,
    questions: Questions = None,
    sizes: Sizes = None,
    guesses: Guesses = None,
    memory_limit: MemoryLimit = None,
    rounds: Rounds = None,
    quick: Quick = False,
    write: Write = False,
    output: Output = None,
    plot: Plot = None,
    as_json: flags.Json = False,
    verbose: flags.Tracebacks = False,
) -> None:
    """Measure which pool size and how many guesses suit this machine and a site, and recommend them."""
    tuning = _Tuning(output=output or _default_output(), plot=plot, as_json=as_json)

    async def work() -> None:
        settings = load_settings(**given)
        request = read_request(
            urls=url or (),
            questions=questions,
            sizes=sizes,
            guesses=guesses,
            rounds=rounds,
            memory_limit_mib=memory_limit,
            quick=quick,
        )
        await tuning.measure(request, settings)

    try:
        run(work(), verbose=verbose)
    except typer.Exit:
        _finish(tuning, write=False)
        if write:
            tell(f"{SETTINGS_FILE} is as it was: the sweep did not come to its end")
        raise
    _finish(tuning, write=write)


def _default_output() -> Path:
    return Path("runs") / f"{datetime.now():%Y%m%d-%H%M%S}-tune.json"


def _finish(tuning: _Tuning, *, write: bool) -> None:
    try:
        report = tuning.publish()
        if write and report is not None and report.recommendation is not None:
            found = report.recommendation
            values = {"pool_size": found.pool_size, "max_guesses": found.max_guesses}
            write_settings(SETTINGS_FILE, {name: value for name, value in values.items() if value is not None})
            tell(f"written: {SETTINGS_FILE}")
    except AgentError as error:
        fail(error)
