"""The demo: one question, asked twice on the bundled site, with speculation off and on.

Invariant: the runs differ in speculation alone; site delays and thinking times are the same to the millisecond,
and what is simulated is called so.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from agent import flags
from agent.console import ExitCode, err, run
from agent.errors import ConfigurationError
from agent.outcome import Outcome, path_of
from agent.predictors.embedding import Embedder
from agent.progress import Progress
from agent.settings import EMBEDDED, Settings, load_settings
from agent.wiring import ask, open_pool
from evals.site import LatencyModel, Question, SiteServer, build_site

# A tenth of the published figures: a page in about 0.65 s, a thought in about 1 s.
TIME_SCALE = 0.1
THINK_SECONDS = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """The same question with speculation off and on."""

    off: Outcome
    spec: Outcome

    def as_json(self) -> dict[str, Any]:
        """Return the object that `demo --json` prints."""
        return {
            "off": self.off.as_json(),
            "spec": self.spec.as_json(),
            "exposed_ratio": round(self.exposed_ratio, 2),
            "same_answer": self.off.answer == self.spec.answer,
            "same_trajectory": path_of(self.off.trajectory) == path_of(self.spec.trajectory),
        }

    @property
    def exposed_ratio(self) -> float:
        """How many times less the target waited for pages with speculation on."""
        return self.off.shares.exposed_seconds / max(self.spec.shares.exposed_seconds, 1e-3)


def demo(
    question: Annotated[
        str | None,
        typer.Argument(help="A question, or the id of a bundled one; see --list.  \\[default: a bundled one]"),
    ] = None,
    list_questions: Annotated[bool, typer.Option("--list", help="List the bundled questions and stop.")] = False,
    think: Annotated[
        float, typer.Option("--think", min=0, help="Mean seconds of simulated thinking a turn; 0: none.")
    ] = THINK_SECONDS,
    time_scale: Annotated[
        float, typer.Option("--time-scale", min=0, help="The site's delays, as a share of the published ones.")
    ] = TIME_SCALE,
    max_guesses: flags.MaxGuesses = None,
    pool_size: flags.PoolSize = None,
    max_turns: flags.MaxTurns = None,
    browser: flags.Browser = None,
    as_json: flags.Json = False,
    verbose: flags.Verbose = False,
    quiet: flags.Quiet = False,
) -> None:
    """Answer a question on the bundled JavaScript site, with speculation off and on. Needs no key and no network."""
    if list_questions:
        for known in build_site().questions:
            typer.echo(f"{known.id}  {known.question}")
        return

    async def work() -> list[tuple[float, Pair]]:
        settings = load_settings(
            target=EMBEDDED,
            draft="none",
            think=think,
            max_guesses=max_guesses,
            pool_size=pool_size,
            max_turns=max_turns,
            browser=browser,
        )
        return await _pairs(question, settings, time_scale=time_scale, verbose=verbose, quiet=quiet)

    pairs = run(work(), verbose=verbose)
    if as_json:
        typer.echo(json.dumps(_as_json(pairs), ensure_ascii=False, indent=2))
    else:
        _show(pairs)
    raise typer.Exit(ExitCode.ANSWERED if pairs[0][1].spec.status == "answered" else ExitCode.NOT_ANSWERED)


async def _pairs(
    wanted: str | None, settings: Settings, *, time_scale: float, verbose: bool, quiet: bool
) -> list[tuple[float, Pair]]:
    """Run the comparison with the thinking time and, where there is one, without it."""
    site = build_site()
    asked = _choose(site.questions, wanted)
    await Embedder().embed(["warm"])  # loading the ranker's model is set-up, part of neither run
    async with SiteServer(site, latency=LatencyModel(time_scale=time_scale)) as server:
        url = server.url + asked.root_path
        pairs = []
        for think in dict.fromkeys([settings.think, 0.0]):
            paced = settings.model_copy(update={"think": think})
            pairs.append((think, await _compare(asked.question, url, paced, verbose=verbose, quiet=quiet)))
        return pairs


def _as_json(pairs: Sequence[tuple[float, Pair]]) -> dict[str, Any]:
    shown = pairs[0][1].as_json()
    if len(pairs) > 1:
        shown["without_thinking"] = pairs[1][1].as_json()
    return shown


def _choose(questions: Sequence[Question], wanted: str | None) -> Question:
    """Return the bundled question with this id, or one with this text, asked where the bundled ones start.

    Raises:
        ConfigurationError: The text is empty.
    """
    if wanted is None:
        return questions[0]
    if not wanted.strip():
        raise ConfigurationError("the question is empty", hint="See the bundled ones with: speccache demo --list")
    known = next((question for question in questions if wanted in (question.id, question.question)), None)
    return known or replace(questions[0], question=wanted)


async def _compare(question: str, url: str, settings: Settings, *, verbose: bool, quiet: bool) -> Pair:
    outcomes = []
    for speculation in (False, True):
        chosen = settings.model_copy(update={"speculation": speculation})
        if not quiet:
            pace = f"{settings.think:g} s of simulated thinking a turn" if settings.think else "no thinking time"
            err.rule(f"speculation {'on' if speculation else 'off'}, {pace}")
        with Progress(err, verbose=verbose) as progress:
            async with open_pool(chosen) as pool:
                listeners = [] if quiet else [progress]
                outcomes.append(await ask(question, url, settings=chosen, pool=pool, listeners=listeners))
    return Pair(off=outcomes[0], spec=outcomes[1])


def _show(pairs: Sequence[tuple[float, Pair]]) -> None:
    out = Console(highlight=False, soft_wrap=True)
    for name, outcome in (("off", pairs[0][1].off), ("on", pairs[0][1].spec)):
        out.print(f"answer, speculation {name}: {escape(outcome.answer or outcome.reason)}")
        for source in outcome.sources:
            out.print(f"  source: {escape(source)}")
    out.print(_table(pairs))
    for pace, pair in pairs:
        shown = pair.as_json()
        same = "same answer, same path" if shown["same_answer"] and shown["same_trajectory"] else "RUNS DIFFER"
        thinking = f"with {pace:g} s of simulated thinking a turn" if pace else "without thinking time"
        out.print(f"{thinking}: waiting for pages {pair.exposed_ratio:.1f} times less ({same})")


def _table(pairs: Sequence[tuple[float, Pair]]) -> Table:
    table = Table(title="where the time went")
    table.add_column("")
    columns = [outcome for _, pair in pairs for outcome in (pair.off, pair.spec)]
    for pace, _ in pairs:
        thinking = f"think {pace:g} s (simulated)" if pace else "no thinking"
        table.add_column(f"{thinking}\noff", justify="right")
        table.add_column(f"{thinking}\non", justify="right")
    rows = {
        "turns": [f"{outcome.turns}" for outcome in columns],
        "total": [f"{outcome.shares.total_seconds:.2f} s" for outcome in columns],
        "LLM time": [f"{outcome.shares.target_seconds:.2f} s" for outcome in columns],
        "exposed web time": [f"{outcome.shares.exposed_seconds:.2f} s" for outcome in columns],
        "hidden web time": [f"{outcome.shares.hidden_seconds:.2f} s" for outcome in columns],
        "hits / joins / misses": [
            f"{outcome.account.hits} / {outcome.account.joins} / {outcome.account.misses}" for outcome in columns
        ],
        "loads ahead, wasted": [f"{outcome.account.speculated}, {outcome.account.wasted}" for outcome in columns],
    }
    for name, cells in rows.items():
        table.add_row(name, *cells)
    return table
