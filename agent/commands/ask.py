"""The command `speccache ask`: a question and a site in, an answer and an account of the time out.

Invariant: what was found goes to standard output, also where the run ended early; everything else to standard error.
"""

from __future__ import annotations

import json
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import typer

from agent import flags
from agent.console import ExitCode, err, exit_code, run, show_error, tell
from agent.errors import AgentError
from agent.events import RunListener
from agent.keeper import Keeper
from agent.logs import is_structured, set_up_log
from agent.observing_flags import OBSERVING
from agent.outcome import Outcome
from agent.progress import Progress
from agent.settings import EMBEDDED, Settings, load_settings
from agent.telemetry.watch import open_watch
from agent.timeline.breakdown import breakdown_of_outcome
from agent.trace import Trace, default_path
from agent.veil import Veil
from agent.wiring import ask as ask_question
from agent.wiring import checked, first_action, open_pool
from browser.errors import BrowserError


@dataclass(frozen=True, slots=True, kw_only=True)
class _Telling:
    """How much of a run is shown, and where it is written down; an empty path: where a run's trace is put."""

    veil: Veil
    trace: Path | None
    verbose: bool
    quiet: bool


@flags.takes(
    thinking=flags.THINKING,
    calling_models=flags.CALLING,
    speculating=flags.SPECULATING,
    browsing=flags.BROWSING,
    permitting=flags.PERMITTING,
    observing=OBSERVING,
)
def ask(
    question: Annotated[str, typer.Argument(help="What you want to know.")],
    given: flags.Flags,
    url: flags.Url = None,
    trace: flags.TraceFile = None,
    no_trace: flags.NoTrace = False,
    as_json: flags.Json = False,
    verbose: flags.Verbose = False,
    quiet: flags.Quiet = False,
) -> None:
    """Answer a question from a web site, or from what a search finds, and say where the time went."""
    with Veil() as veil:
        telling = _Telling(veil=veil, trace=None if no_trace else trace or Path(), verbose=verbose, quiet=quiet)

        async def work() -> Outcome:
            settings = load_settings(**given)
            set_up_log(settings)
            return await _ask(question, checked(url) if url else "", settings, telling)

        outcome = run(work(), verbose=verbose)
        _show(outcome, as_json=as_json, quiet=quiet)
    raise typer.Exit(_exit_code(outcome))


async def _ask(question: str, url: str, settings: Settings, telling: _Telling) -> Outcome:
    first_action(question, url, settings)  # before a browser is started in vain
    listeners: list[RunListener] = []
    with ExitStack() as stack:
        keeper = stack.enter_context(Keeper(settings))
        telling.veil.hide(keeper.visitor(url).allowance.masked)
        trace = telling.trace
        if trace is not None:
            trace = trace if trace.name else default_path(telling.veil.masked(question))
            listeners.append(stack.enter_context(Trace(trace, mask=telling.veil.masked)))
        if not telling.quiet and not is_structured():
            listeners.append(stack.enter_context(Progress(err, verbose=telling.verbose)))
        watch = stack.enter_context(open_watch(settings))
        listeners.append(stack.enter_context(watch.follow(mask=telling.veil.masked)))
        async with open_pool(settings, url) as pool:
            outcome = await ask_question(
                question, url, settings=settings, pool=pool, listeners=listeners, keeper=keeper
            )
    return replace(outcome, trace=str(trace or ""))


def _show(outcome: Outcome, *, as_json: bool, quiet: bool) -> None:
    """Print an answer with its sources on standard output, and where the time went on standard error."""
    if as_json:
        figures = breakdown_of_outcome(outcome).as_json()
        shown = outcome.as_json() | {"shares": figures["shares"], "a_turn": figures["a_turn"]}
        typer.echo(json.dumps(shown, ensure_ascii=False, indent=2))
        return
    if outcome.answer:
        typer.echo(outcome.answer if outcome.data is None else json.dumps(outcome.data, ensure_ascii=False, indent=2))
        for source in outcome.sources:
            typer.echo(f"source: {source}")
        if not outcome.support:
            tell("not supported: none of the pages read says this in these words")
    if outcome.status != "answered":
        hint = outcome.error.hint if isinstance(outcome.error, AgentError | BrowserError) else ""
        best = " This is the best answer so far." if outcome.answer else ""
        show_error(f"{outcome.reason}{best}", hint=hint)
        for step in outcome.trajectory:
            tell(f"  read: {step.observation.url}")
    if outcome.target == EMBEDDED:
        tell("no model configured: the answer is a quotation; a model does better, see --target and --base-url")
    if not quiet:
        _show_time(outcome)


def _show_time(outcome: Outcome) -> None:
    shares, account = outcome.shares, outcome.account
    tell(
        f"{outcome.turns} turns, {shares.total_seconds:.1f} s: target {shares.target_seconds:.1f} s,"
        f" waiting for pages {shares.exposed_seconds:.1f} s (hidden {shares.hidden_seconds:.1f} s);"
        f" {account.hits} hits, {account.joins} joins, {account.misses} misses,"
        f" {account.wasted} of {account.speculated} loads ahead unused"
    )
    if account.measured_seconds:
        tell(
            f"thinking and waiting after the first page: {account.measured_seconds:.1f} s;"
            f" with perfect overlap {account.bound_seconds:.1f} s; first guess right {account.hits_within(1)} times,"
            f" one of the first three {account.hits_within(3)} times"
        )
    tell(str(breakdown_of_outcome(outcome)))
    if str(outcome.requests):
        tell(f"model calls: {outcome.requests}")
    if outcome.trace:
        tell(f"trace: {outcome.trace}")


def _exit_code(outcome: Outcome) -> ExitCode:
    if outcome.status == "answered":
        return ExitCode.ANSWERED
    return ExitCode.NOT_ANSWERED if outcome.error is None else exit_code(outcome.error)
