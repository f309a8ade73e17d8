"""What a sweep measures on: pages to load ahead, and questions to ask.

Invariant: every setting of a sweep meets the same pages in the same order, and in one round the same question.
"""

from __future__ import annotations

import random
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from itertools import chain, zip_longest
from pathlib import Path

from yarl import URL

from agent.errors import ConfigurationError
from agent.settings import Settings
from browser.action import Visit
from browser.address import page_key
from browser.environment import WebEnvironment
from browser.observation import Link, Observation
from browser.speculation.gate import refusal
from evals.site import LatencyModel, SiteError, SiteServer, build_site, load_questions
from evals.tune.walker import open_walker

_MAX_TASKS = 40
_SEED = 7


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """How long a sweep takes over each measurement.

    Attributes:
        window_seconds: How long a full pool is watched at least.
        pages: Pages that are loaded ahead, again and again; slow and quick ones alike by each setting.
        navigations: Real navigations alone, and as many beside the full pool.
        turns: Decisions of one question.
        time_scale: The bundled site's delays, as a share of the published ones.
        think_seconds: Mean simulated thinking of a turn on the bundled site.
    """

    window_seconds: float = 5.0
    pages: int = 12
    navigations: int = 3
    turns: int = 4
    time_scale: float = 0.1
    think_seconds: float = 1.0


# The bundled site's delays and the thinking are shortened alike, so that what hides behind what stays the same.
QUICK = Pace(window_seconds=1.5, pages=6, navigations=2, turns=3, time_scale=0.03, think_seconds=0.3)
THINK_SECONDS = 3.0
"""Mean simulated thinking of a turn on a site whose delays are real."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A page that is loaded ahead, and where a person would have come from."""

    start: str
    url: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """A question, and where it is asked."""

    question: str
    url: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """What is measured on.

    Attributes:
        name: What reports call it.
        pages: What is loaded ahead, in this order.
        tasks: What is asked; empty where nothing can be.
        asking: What the questions are, in a few words.
        think_seconds: Mean simulated thinking of a turn.
    """

    name: str
    pages: tuple[Page, ...]
    tasks: tuple[Task, ...]
    asking: str
    think_seconds: float

    @property
    def starts(self) -> tuple[str, ...]:
        """Where a person would start."""
        return tuple(dict.fromkeys(page.start for page in self.pages))


@asynccontextmanager
async def open_subject(
    urls: Sequence[str], questions: Path | None, *, settings: Settings, pace: Pace
) -> AsyncIterator[Subject]:
    """Look at the given pages, or serve the bundled site while the block runs.

    Args:
        urls: Where to start; empty: the bundled site.
        questions: A file of questions about the site they are on; None: the bundled ones, or links of the pages.
        settings: How pages are loaded.
        pace: How slow the bundled site is.

    Raises:
        ConfigurationError: The questions cannot be used, or a page cannot be read.
        BrowserError: The browser does not work.
    """
    if urls:
        asked = _questions(questions, urls)
        yield await _given(urls, asked, settings=settings, pace=pace)
        return
    site = build_site()
    async with SiteServer(site, latency=LatencyModel(time_scale=pace.time_scale)) as server:
        start = f"{server.url}/en"
        chosen = [question for question in site.questions if question.lang == "en" and question.hops > 1]
        random.Random(_SEED).shuffle(chosen)  # noqa: S311 - repeatable, no secret
        yield Subject(
            name="the bundled site",
            pages=_pages(await _look([start], settings), count=pace.pages),
            tasks=tuple(Task(question=each.question, url=server.url + each.root_path) for each in chosen),
            asking="its questions",
            think_seconds=settings.think or pace.think_seconds,
        )


async def _given(urls: Sequence[str], asked: tuple[Task, ...], *, settings: Settings, pace: Pace) -> Subject:
    seen = await _look(urls, settings)
    return Subject(
        name=", ".join(seen),
        pages=_pages(seen, count=pace.pages),
        tasks=asked or _walks(seen),
        asking="the given questions" if asked else "the texts of links on the given pages, as questions",
        think_seconds=settings.think or THINK_SECONDS,
    )


def _questions(file: Path | None, urls: Sequence[str]) -> tuple[Task, ...]:
    if file is None:
        return ()
    sites = {URL(url).origin() for url in urls}
    if len(sites) > 1:
        raise ConfigurationError(
            f"the questions of {file} are about one site, and the given pages are of {len(sites)}",
            hint="Give pages of the questions' own site only.",
        )
    try:
        found = load_questions(file)
    except SiteError as error:
        raise ConfigurationError(str(error), hint=error.hint) from error
    return tuple(Task(question=each.question, url=str(next(iter(sites)).join(URL(each.root_path)))) for each in found)


async def _look(urls: Sequence[str], settings: Settings) -> dict[str, Observation]:
    async with open_walker(settings.model_copy(update={"speculation": False}), urls) as walker:
        return {url: await _read(url, walker) for url in dict.fromkeys(urls)}


async def _read(url: str, walker: WebEnvironment) -> Observation:
    seen = await walker.step(Visit(url))
    document = seen.document
    problem = document.problem or (f"HTTP {document.status}" if (document.status or 0) >= 400 else "")
    if problem:
        hint = "Give pages that `speccache fetch URL` can read."
        raise ConfigurationError(f"{url} cannot be read: {problem}", hint=hint)
    return seen


def _links(seen: Observation) -> list[Link]:
    """Return the links that may be loaded ahead, each page once."""
    here = page_key(seen.url)
    allowed = {page_key(link.url): link for link in seen.links if refusal(link, page_url=seen.url) is None}
    return [link for key, link in allowed.items() if key != here]


def _pages(seen: dict[str, Observation], *, count: int) -> tuple[Page, ...]:
    """Mix so many of the pages below each start; where a start has no link, it is loaded ahead itself."""
    below = []
    for start, observation in seen.items():
        pages = [Page(start=start, url=link.url) for link in _links(observation)] or [Page(start=start, url=start)]
        random.Random(_SEED).shuffle(pages)  # noqa: S311 - repeatable, no secret
        below.append(pages[:count])
    return tuple(page for page in chain(*zip_longest(*below)) if page is not None)


def _walks(seen: dict[str, Observation]) -> tuple[Task, ...]:
    """Ask for what links of the pages are called; the embedded target then walks towards them and beyond."""
    walks = []
    for start, observation in seen.items():
        texts = list(dict.fromkeys(link.text for link in _links(observation)))
        random.Random(_SEED).shuffle(texts)  # noqa: S311 - repeatable, no secret
        walks.append([Task(question=text, url=start) for text in texts[:_MAX_TASKS]])
    return tuple(task for task in chain(*zip_longest(*walks)) if task is not None)
