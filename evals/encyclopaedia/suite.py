"""The suite `encyclopaedia`: questions that take several articles, over an encyclopaedia with a search of its own.

Invariant: every way is one a person could go: a query says only what the question or a page before it says, and a link
stands on the page before it.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager

from evals.encyclopaedia.encyclopaedia import Encyclopaedia, build_encyclopaedia
from evals.encyclopaedia.question import DrawnQuestion, draw_questions
from evals.encyclopaedia.results import SEARCH_PATH
from evals.encyclopaedia.server import EncyclopaediaServer
from evals.suites.item import SEARCH, Item
from evals.suites.suite import Addresses, Suite

NAME = "encyclopaedia"


def encyclopaedia_suite(seed: int = 7) -> Suite:
    """Return the suite; equal seeds give equal articles, questions and order.

    Resource handling: leaving the block of `serve` closes the port.
    """
    encyclopaedia = build_encyclopaedia(seed)

    @asynccontextmanager
    async def serve(time_scale: float) -> AsyncIterator[Addresses]:
        async with EncyclopaediaServer(encyclopaedia, time_scale=time_scale) as server:
            yield {NAME: server.url}

    drawn = draw_questions(seed, encyclopaedia.world)
    return Suite(
        name=NAME,
        items=tuple(_item(encyclopaedia, number, question) for number, question in enumerate(drawn, 1)),
        serve=serve,
        search=f"{{site}}{SEARCH_PATH}?q={{query}}",
    )


def _item(encyclopaedia: Encyclopaedia, number: int, question: DrawnQuestion) -> Item:
    sources = tuple(stop.path for chain in question.chains for stop in chain.stops)
    return Item(
        id=f"{NAME}-{number:03d}",
        question=question.asked.question,
        answer=question.asked.answer,
        site=NAME,
        golden=tuple(_ways(encyclopaedia, question)),
        sources=sources,
        kind="multi_source",
        domain=question.kind,  # where FRAMES has its reasoning types, too
        difficulty=_difficulty(len(sources)),
    )


def _ways(encyclopaedia: Encyclopaedia, question: DrawnQuestion) -> Iterator[tuple[str, ...]]:
    """Yield the way to each article: by a link of the page before, else by searching.

    A run starts with what is found for the question, so the first article may be linked there.
    """
    offered = {hit.path for hit in encyclopaedia.index.search(question.asked.question).hits}
    for chain in question.chains:
        for stop in chain.stops:
            yield (stop.path,) if stop.path in offered else (f"{SEARCH}{stop.query}", stop.path)
            offered = {link.path for link in encyclopaedia.links(stop.path)}
        # The next description has nothing to do with this one; nobody looks for it here.
        offered = set()


def _difficulty(sources: int) -> str:
    return "easy" if sources == 2 else "medium" if sources < 5 else "hard"
