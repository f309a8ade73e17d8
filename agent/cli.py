"""The command `speccache`.

Invariant: a command only reads its flags, calls the package that does the work, and prints; further packages add
commands through the entry point group `speccache.commands`.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import asdict, replace
from importlib.metadata import entry_points
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape
from typer.core import TyperGroup

from agent import flags
from agent.console import ExitCode, err, exit_code, run, show_error, tell
from agent.errors import AgentError
from agent.events import RunListener
from agent.outcome import Outcome
from agent.progress import Progress
from agent.settings import EMBEDDED, Settings, load_settings
from agent.trace import Trace, default_path
from agent.wiring import ask as ask_question
from agent.wiring import checked, open_pool, web_environment
from browser.action import More, Visit
from browser.errors import BrowserError
from browser.installation import install_browser as install
from browser.observation import Observation

if TYPE_CHECKING:
    from agent.doctor import Check


class _Commands(TyperGroup):
    """The commands of this module and, loaded only when named or listed, those that other packages add."""

    def list_commands(self, ctx: Any) -> list[str]:
        return [*super().list_commands(ctx), *entry_points(group="speccache.commands").names]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        for entry_point in entry_points(group="speccache.commands", name=cmd_name):
            added = typer.Typer(add_completion=False)
            added.command(cmd_name)(entry_point.load())
            return typer.main.get_command(added)
        return super().get_command(ctx, cmd_name)


app = typer.Typer(
    name="speccache",
    cls=_Commands,
    help="A browser agent that does not wait for the web: likely next pages load while the model thinks.",
    epilog="Exit codes: 0 answered, 1 not answered, 2 usage or configuration, 3 no browser or no model.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
)


@app.command()
def ask(
    question: Annotated[str, typer.Argument(help="What you want to know.")],
    url: flags.Url,
    target: flags.Target = None,
    draft: flags.Draft = None,
    base_url: flags.BaseUrl = None,
    speculation: flags.Speculation = None,
    predictor: flags.Predictor = None,
    act: flags.Act = None,
    max_guesses: flags.MaxGuesses = None,
    pool_size: flags.PoolSize = None,
    max_turns: flags.MaxTurns = None,
    think: flags.Think = None,
    browser: flags.Browser = None,
    shelf: flags.Shelf = None,
    allow_host: flags.AllowHost = None,
    allow_domain: flags.AllowDomain = None,
    deny_domain: flags.DenyDomain = None,
    trace: flags.TraceFile = None,
    no_trace: flags.NoTrace = False,
    as_json: flags.Json = False,
    verbose: flags.Verbose = False,
    quiet: flags.Quiet = False,
) -> None:
    """Answer a question from a web site, and say where the time went."""

    async def work() -> Outcome:
        settings = load_settings(
            target=target,
            draft=draft,
            base_url=base_url,
            speculation=speculation,
            predictor=predictor,
            act=act,
            max_guesses=max_guesses,
            pool_size=pool_size,
            max_turns=max_turns,
            think=think,
            browser=browser,
            shelf=shelf,
            allow_hosts=allow_host,
            allow_domains=allow_domain,
            deny_domains=deny_domain,
        )
        path = None if no_trace else trace or default_path(question)
        return await _ask(question, checked(url), settings, path, verbose=verbose, quiet=quiet)

    outcome = run(work(), verbose=verbose)
    show_outcome(outcome, as_json=as_json, quiet=quiet)
    raise typer.Exit(_exit_code(outcome))


async def _ask(
    question: str, url: str, settings: Settings, path: Path | None, *, verbose: bool, quiet: bool
) -> Outcome:
    listeners: list[RunListener] = []
    with ExitStack() as stack:
        if path is not None:
            listeners.append(stack.enter_context(Trace(path)))
        if not quiet:
            listeners.append(stack.enter_context(Progress(err, verbose=verbose)))
        async with open_pool(settings) as pool:
            outcome = await ask_question(question, url, settings=settings, pool=pool, listeners=listeners)
    return replace(outcome, trace=str(path or ""))


def show_outcome(outcome: Outcome, *, as_json: bool, quiet: bool) -> None:
    """Print an answer with its sources on standard output, and where the time went on standard error."""
    if as_json:
        typer.echo(json.dumps(outcome.as_json(), ensure_ascii=False, indent=2))
        return
    if outcome.answer:
        typer.echo(outcome.answer)
        for source in outcome.sources:
            typer.echo(f"source: {source}")
    else:
        hint = outcome.error.hint if isinstance(outcome.error, AgentError | BrowserError) else ""
        show_error(outcome.reason, hint=hint)
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
    if outcome.trace:
        tell(f"trace: {outcome.trace}")


def _exit_code(outcome: Outcome) -> ExitCode:
    if outcome.status == "answered":
        return ExitCode.ANSWERED
    return ExitCode.NOT_ANSWERED if outcome.error is None else exit_code(outcome.error)


@app.command()
def fetch(
    url: Annotated[str, typer.Argument(help="The page; https:// is added where no scheme is given.")],
    part: Annotated[int, typer.Option("--part", min=1, help="Which part of a long page.")] = 1,
    browser: flags.Browser = None,
    allow_host: flags.AllowHost = None,
    as_json: flags.Json = False,
    verbose: flags.Verbose = False,
) -> None:
    """Print one page as the agent sees it: rendered, read, as markdown with numbered links."""

    async def work() -> Observation:
        settings = load_settings(browser=browser, allow_hosts=allow_host)
        address = checked(url)
        async with open_pool(settings) as pool:
            web = web_environment(settings, pool, address)
            try:
                observation = await web.step(Visit(address))
                while observation.part < min(part, observation.parts):
                    observation = await web.step(More())
            finally:
                await web.aclose()
        return observation

    observation = run(work(), verbose=verbose)
    document = observation.document
    if as_json:
        typer.echo(json.dumps(asdict(observation), ensure_ascii=False, indent=2))
    else:
        _show_page(observation)
    found = document.problem is None and (document.status or 0) < 400
    raise typer.Exit(ExitCode.ANSWERED if found else ExitCode.NOT_ANSWERED)


def _show_page(observation: Observation) -> None:
    document = observation.document
    if document.problem is not None:
        show_error(document.problem)
        return
    typer.echo(observation.text)
    tell(
        f"{document.status} {document.title!r} {document.url}; part {observation.part} of {observation.parts},"
        f" {len(document.links)} links; {document.readiness} after {document.timings.total_seconds:.2f} s"
    )
    for note in (*document.notes, *document.incidents):
        tell(f"note: {note}")
    if (document.status or 0) >= 400:
        show_error(f"the server answered {document.url} with HTTP {document.status}")


@app.command()
def doctor(browser: flags.Browser = None, base_url: flags.BaseUrl = None, as_json: flags.Json = False) -> None:
    """Say in plain words what works on this machine, what does not, and what to do about it."""
    from agent.doctor import examine  # noqa: PLC0415 - its HTTP client is slow to import, and no other command needs it

    settings = run(_settings(browser=browser, base_url=base_url))
    checks = run(examine(browser=settings.browser, base_url=settings.base_url))
    if as_json:
        typer.echo(json.dumps([asdict(check) for check in checks], indent=2))
    else:
        _show_checks(checks)
    raise typer.Exit(ExitCode.ENVIRONMENT if any(check.status == "fail" for check in checks) else ExitCode.ANSWERED)


async def _settings(**given: Any) -> Settings:
    return load_settings(**given)


def _show_checks(checks: Sequence[Check]) -> None:
    out = Console(highlight=False, soft_wrap=True)
    colours = {"ok": "green", "warn": "yellow", "fail": "red"}
    for check in checks:
        out.print(f"[{colours[check.status]}]{check.status:4}[/]  {escape(check.name)}: {escape(check.detail)}")
        if check.hint:
            out.print(f"      hint: {escape(check.hint)}")


@app.command("install-model")
def install_model(verbose: flags.Verbose = False) -> None:
    """Get the small language model that `--target local` uses: 1.1 GB, checked by its hash."""
    from agent.weights import install_weights  # noqa: PLC0415 - no other command needs it

    settings = run(_settings())
    run(install_weights(tell, settings.weights), verbose=verbose)


@app.command("install-browser")
def install_browser(verbose: flags.Verbose = False) -> None:
    """Get a headless Chromium: Playwright's own download, else the distribution's package."""
    run(install(tell), verbose=verbose)


def main() -> None:
    """Run the command line."""
    app()
