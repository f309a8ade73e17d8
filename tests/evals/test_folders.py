from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import aiohttp
import pytest

from evals.site import LatencyModel
from evals.suites.errors import SiteMissing
from evals.suites.folders import folder_suite
from evals.suites.item import Item

PLAIN = Item(id="plain-1", question="Who?", answer="Ada", url="/index.html", site="plain", golden=(("/people.html",),))
ROUTED = Item(id="routed-1", question="When?", answer="1843", url="/?v=1", site="routed", golden=(("/?v=1#/notes",),))
SCALE = 0.5


@dataclass(slots=True)
class Rest:
    """Takes note of how long is waited, and does not wait."""

    seconds: list[float] = field(default_factory=list)

    async def __call__(self, seconds: float) -> None:
        self.seconds.append(seconds)

    def take(self) -> list[float]:
        taken, self.seconds = self.seconds, []
        return taken


@pytest.fixture
def sites(tmp_path: Path) -> Path:
    for name in ("plain", "routed"):
        folder = tmp_path / name
        folder.mkdir()
        for file in ("index.html", "people.html", "notes.md", "app.js", "style.css", "logo.svg"):
            (folder / file).write_text(f"{file} of {name}", encoding="utf-8")
    return tmp_path


@asynccontextmanager
async def served(sites: Path, rest: Rest) -> AsyncIterator[tuple[Mapping[str, str], aiohttp.ClientSession]]:
    suite = folder_suite([PLAIN, ROUTED], sites, name="two", sleep=rest)
    assert suite.serve is not None
    async with suite.serve(SCALE) as addresses, aiohttp.ClientSession() as client:
        yield addresses, client


async def get(
    client: aiohttp.ClientSession, url: str, destination: str = "", referer: str = ""
) -> aiohttp.ClientResponse:
    headers = {"Sec-Fetch-Dest": destination, "Referer": referer}
    async with client.get(url, headers={name: value for name, value in headers.items() if value}) as response:
        await response.read()
        return response


def test_a_suite_has_its_questions_and_serves_its_sites(sites: Path) -> None:
    suite = folder_suite([PLAIN, ROUTED], sites, name="two")

    assert (suite.name, suite.items) == ("two", (PLAIN, ROUTED))


async def test_on_a_plain_site_a_document_takes_the_whole_time_of_its_page(sites: Path) -> None:
    rest, latency = Rest(), LatencyModel(time_scale=SCALE, roots=frozenset({"/index.html"}))
    async with served(sites, rest) as (addresses, client):
        base = addresses["plain"]
        for path, destination in (("/index.html", "document"), ("/people.html", "document"), ("/people", "iframe")):
            response = await get(client, base + path, destination)
            assert response.status == 200
            assert response.headers["Cache-Control"] == "no-cache"
            assert rest.take() == [latency.page_seconds(path)]


async def test_what_is_no_document_takes_no_time_on_a_plain_site(sites: Path) -> None:
    rest = Rest()
    async with served(sites, rest) as (addresses, client):
        for file, destination in (
            ("app.js", "script"),
            ("style.css", "style"),
            ("logo.svg", "image"),
            ("notes.md", ""),
        ):
            response = await get(client, f"{addresses['plain']}/{file}", destination)
            assert "Cache-Control" not in response.headers
        await get(client, f"{addresses['plain']}/notes.md", "empty")
        assert rest.take() == []


async def test_on_a_site_of_routes_a_page_takes_its_time_for_its_document_and_its_data(sites: Path) -> None:
    rest, latency = Rest(), LatencyModel(time_scale=SCALE, roots=frozenset({"/?v=1"}))
    async with served(sites, rest) as (addresses, client):
        base = addresses["routed"]
        await get(client, f"{base}/?v=1", "document")
        await get(client, f"{base}/app.js", "script", f"{base}/?v=1")
        data = await get(client, f"{base}/notes.md", "empty", f"{base}/?v=1")
        assert data.headers["Cache-Control"] == "no-cache"
        seconds = rest.take()
    assert seconds == [latency.document_seconds("/?v=1"), latency.data_seconds("/notes.md", document="/?v=1")]
    assert sum(seconds) == pytest.approx(latency.page_seconds("/notes.md"))


async def test_another_address_takes_another_time_and_the_same_one_always_the_same(sites: Path) -> None:
    rest = Rest()
    taken = []
    for _ in range(2):
        async with served(sites, rest) as (addresses, client):
            for path in ("/index.html", "/people.html", "/people.html?page=2"):
                await get(client, addresses["plain"] + path, "document")
            taken.append(rest.take())
    assert taken[0] == taken[1]
    assert len(set(taken[0])) == 3


async def test_a_browser_that_gives_a_load_up_ends_its_delay(sites: Path) -> None:
    began, ended = asyncio.Event(), asyncio.Event()

    async def endless(_: float) -> None:
        began.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    suite = folder_suite([PLAIN], sites, name="one", sleep=endless)
    assert suite.serve is not None
    async with suite.serve(1.0) as addresses, aiohttp.ClientSession() as client:
        load = asyncio.create_task(get(client, f"{addresses['plain']}/index.html", "document"))
        await began.wait()
        load.cancel()
        await ended.wait()


def test_a_site_without_a_folder_is_named_with_what_to_do(sites: Path) -> None:
    lost = Item(id="lost-1", question="?", answer="!", url="/", site="lost")
    with pytest.raises(SiteMissing, match=r"no folder lost, which 2 of 3 questions are about") as caught:
        folder_suite([PLAIN, lost, lost], sites, name="three")
    assert str(sites / "lost") in caught.value.hint


def test_a_question_that_names_no_site_is_refused(sites: Path) -> None:
    with pytest.raises(SiteMissing, match="question x-1 names no site"):
        folder_suite([Item(id="x-1", question="?", answer="!")], sites, name="none")
