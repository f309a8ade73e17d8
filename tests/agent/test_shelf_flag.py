"""`--shelf`: the second time, a question is answered without asking the site again."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from aiohttp import web

from tests.agent.command import speccache
from tests.website import Answer, Website

QUESTION = "When was the oldest tram built?"


def page(text: str) -> Answer:
    async def answer(_: web.Request) -> web.StreamResponse:
        return web.Response(text=text, content_type="text/html", headers={"Cache-Control": "max-age=600"})

    return answer


PAGES = {
    "/": page("<title>Depot</title><h1>Depot</h1><p>The depot opens at 7 o'clock.</p><a href='/tram'>Trams</a>"),
    "/tram": page("<title>Trams</title><h1>Trams</h1><p>The oldest tram was built in 1908.</p>"),
}


@pytest.fixture
async def site() -> AsyncIterator[Website]:
    async with Website(PAGES) as website:
        yield website


def pages_asked(site: Website) -> set[str]:
    return {asked.path for asked in site.asked} & set(PAGES)


async def test_a_later_run_starts_warm(site: Website, tmp_path: Path) -> None:
    words = ("ask", QUESTION, "--url", site.url + "/", "--target", "embedded", "--no-trace", "--json")
    cold = await speccache(*words, "--shelf", "kept/pages", cwd=tmp_path)
    assert pages_asked(site) == {"/", "/tram"}
    site.asked.clear()
    warm = await speccache(*words, cwd=tmp_path, variables={"SPECCACHE_SHELF": "kept/pages"})
    assert pages_asked(site) == set()
    first, second = json.loads(cold.out), json.loads(warm.out)
    assert (second["answer"], second["sources"], second["turns"]) == (
        first["answer"],
        first["sources"],
        first["turns"],
    )
    assert "1908" in second["answer"]
    assert second["cache"]["misses"] == 0


async def test_a_shelf_that_cannot_be_used_is_told_of_and_the_question_answered(site: Website, tmp_path: Path) -> None:
    words = ("ask", QUESTION, "--url", site.url + "/", "--target", "embedded", "--no-trace", "--quiet")
    result = await speccache(*words, "--shelf", ".", cwd=tmp_path)
    assert (result.code, "1908" in result.out) == (0, True)
    assert "No pages are kept in ." in result.err
