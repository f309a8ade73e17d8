"""The bundled demo site's own questions as a suite: small, in two languages, for a quick look and for tests."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from evals.site import LatencyModel, Question, SiteServer, build_site
from evals.suites.item import Item
from evals.suites.suite import Addresses, Suite

NAME = "institute"
_DIFFICULTIES = {1: "easy", 2: "medium"}


def institute_suite(seed: int = 7) -> Suite:
    """Return the suite; equal seeds give equal sites."""
    site = build_site(seed)

    @asynccontextmanager
    async def serve(time_scale: float) -> AsyncIterator[Addresses]:
        async with SiteServer(site, latency=LatencyModel(time_scale=time_scale)) as server:
            yield {NAME: server.url}

    return Suite(name=NAME, items=tuple(map(_item, site.questions)), serve=serve)


def _item(question: Question) -> Item:
    return Item(
        id=question.id,
        question=question.question,
        answer=question.answer,
        url=question.root_path,
        site=NAME,
        answer_tokens=question.answer_tokens,
        golden=(question.golden_path,),
        sources=(question.golden_path[-1],),
        lang=question.lang,
        difficulty=_DIFFICULTIES.get(question.hops, "hard"),
        domain="organisation",
    )
