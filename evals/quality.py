"""How many questions with known answers the agent answers: `python -m evals.quality --sites FOLDER QUESTIONS…`.

Invariant: the agent sees a question's text and its site, nothing else; answers are compared after the run.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated

import typer

from agent import flags
from agent.console import run, tell
from agent.outcome import Outcome
from agent.predictors.embedding import Embedder
from agent.settings import Settings, load_settings
from agent.wiring import ask, open_pool
from browser.address import page_key
from browser.pool import BrowserPool
from evals.folder_server import serve_folder
from evals.site import Question, load_questions


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """How one question went.

    Attributes:
        id: The question.
        answered: Whether the answer holds the known one.
        all_tokens: Whether it also holds every token that goes with it.
        right_page: Whether the page with the answer was read.
        pages: Pages read.
        seconds: How long it took.
        answer: What the agent answered.
    """

    id: str
    answered: bool
    all_tokens: bool
    right_page: bool
    pages: int
    seconds: float
    answer: str


def judge(question: Question, outcome: Outcome, *, base: str, seconds: float) -> Verdict:
    """Compare a run with what is known of its question."""
    answer = _plain(outcome.answer)
    last = page_key(base + question.golden_path[-1])
    return Verdict(
        id=question.id,
        answered=_plain(question.answer) in answer,
        all_tokens=all(_plain(token) in answer for token in question.answer_tokens),
        right_page=last in {page_key(step.observation.url) for step in outcome.trajectory},
        pages=len(outcome.trajectory),
        seconds=round(seconds, 2),
        answer=outcome.answer,
    )


def _plain(text: str) -> str:
    return re.sub(r"[\s*_`]+", " ", text).strip().casefold()


async def _measure(files: Sequence[Path], sites: Path, settings: Settings) -> list[Verdict]:
    verdicts = []
    embedder = Embedder()
    async with open_pool(settings) as pool:
        for file in files:
            questions = load_questions(file)
            async with serve_folder(sites / questions[0].site) as base:
                verdicts += [await _ask(question, base, settings, pool, embedder) for question in questions]
    return verdicts


async def _ask(question: Question, base: str, settings: Settings, pool: BrowserPool, embedder: Embedder) -> Verdict:
    started_seconds = time.perf_counter()
    url = base + question.root_path
    outcome = await ask(question.question, url, settings=settings, pool=pool, embedder=embedder)
    verdict = judge(question, outcome, base=base, seconds=time.perf_counter() - started_seconds)
    mark = "right" if verdict.answered else "page " if verdict.right_page else "wrong"
    tell(f"{mark} {verdict.seconds:5.1f} s  {question.id}: {verdict.answer[:120]}")
    return verdict


def quality(
    files: Annotated[list[Path], typer.Argument(help="Question files, one JSON object a line.", exists=True)],
    sites: Annotated[Path, typer.Option("--sites", help="The folder with one folder a site.", exists=True)],
    target: flags.Target = None,
    base_url: flags.BaseUrl = None,
    as_json: flags.Json = False,
) -> None:
    """Ask every question on its site, served on loopback, and count the right answers."""

    async def work() -> list[Verdict]:
        return await _measure(files, sites, load_settings(target=target, base_url=base_url))

    verdicts = run(work(), verbose=True)
    if as_json:
        typer.echo(json.dumps([asdict(verdict) for verdict in verdicts], ensure_ascii=False, indent=2))
        return
    total = len(verdicts)
    typer.echo(f"answered: {sum(verdict.answered for verdict in verdicts)} of {total}")
    typer.echo(f"with every token: {sum(verdict.all_tokens for verdict in verdicts)} of {total}")
    typer.echo(f"page with the answer read: {sum(verdict.right_page for verdict in verdicts)} of {total}")
    typer.echo(f"seconds a question: {sum(verdict.seconds for verdict in verdicts) / total:.1f}")


if __name__ == "__main__":
    typer.run(quality)
