"""The shelf: a later run starts warm, nobody's private page is on it, and a broken file breaks no run."""

from __future__ import annotations

import asyncio
import logging
import subprocess
import sys
import zlib
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from sqlite3 import connect

import pytest
import yarl
from aiohttp import web

from browser import Action, Control, Document, Link, Observation, Readiness, Timings, Visit
from browser.environment import WebEnvironment
from browser.pool import BrowserPool, PoolOptions
from browser.shelf.shelf import Shelf, ShelfOptions
from speccache import Event, EventKind, Guess, SpeculativeEnvironment, Step
from tests.website import Answer, Website

URL = "https://example.org/page"
KEY = f"{URL} anonymous viewport en-US"
PATIENT = ShelfOptions(patience_seconds=30.0)
OBSERVATION = Observation(
    document=Document(
        requested_url=URL,
        url=URL,
        status=200,
        content_type="text/html",
        title="Größe 大小",
        markdown="text [link][1] [button][c1]",
        links=(Link(number=1, text="link", url=URL, context="around", rel="next", language="de"),),
        controls=(Control(number=1, kind="button", name="go", state="disabled"),),
        readiness=Readiness.STATIC,
        timings=Timings(commit_seconds=0.25),
        notes=("one",),
        headers={"cache-control": "max-age=600", "date": "Thu, 01 Jan 2026 12:00:00 GMT"},
    ),
    text="text [link][1] [button][c1]",
    parts=1,
)


def shelf_at(
    path: Path, *, key: str | None = KEY, clock: Callable[[], float] = lambda: 1000.0, part_chars: int = 2000
) -> Shelf:
    return Shelf(path, name_of=lambda _: key, part_chars=part_chars, options=PATIENT, clock=clock)


def about(url: str) -> Observation:
    return replace(OBSERVATION, document=replace(OBSERVATION.document, requested_url=url, url=url))


def rows(path: Path) -> dict[str, str]:
    """What the file holds, by key, as the text that was compressed."""
    with closing(connect(path)) as connection:
        found = connection.execute("SELECT key, body FROM page").fetchall()
    return {key: zlib.decompress(body).decode() for key, body in found}


async def test_what_one_run_has_put_there_the_next_one_finds(tmp_path: Path) -> None:
    path = tmp_path / "shelf"
    async with shelf_at(path) as shelf:
        assert await shelf.get(KEY) is None
        shelf.put(KEY, OBSERVATION)
    async with shelf_at(path, clock=lambda: 1100.0) as shelf:
        found = await shelf.get(KEY)
        assert found is not None
        assert found.value == OBSERVATION
        assert found.remaining_seconds == 500.0
        assert await shelf.get(KEY.replace("en-US", "de-DE")) is None
    async with shelf_at(path, part_chars=3000) as shelf:
        assert await shelf.get(KEY) is None, "cut into other parts, it would show something else"
    async with shelf_at(path, clock=lambda: 1600.0) as shelf:
        assert await shelf.get(KEY) is None, "its time is over"
    assert rows(path) == {}


@pytest.mark.parametrize(
    ("key", "key_now"),
    [
        (f"{URL} 0123456789ab viewport en-US", f"{URL} 0123456789ab viewport en-US"),
        (KEY, f"{URL} 0123456789ab viewport en-US"),
        (KEY, None),
    ],
    ids=["signed in before", "signed in by the load", "without a name"],
)
async def test_what_a_session_saw_is_not_put_there(tmp_path: Path, key: str, key_now: str | None) -> None:
    async with shelf_at(tmp_path / "shelf", key=key_now) as shelf:
        shelf.put(key, OBSERVATION)
    assert rows(tmp_path / "shelf") == {}


async def test_after_a_name_and_password_nothing_is_kept_or_found(tmp_path: Path) -> None:
    path = tmp_path / "shelf"
    async with shelf_at(path) as shelf:
        shelf.put(KEY, OBSERVATION)
    async with shelf_at(path) as shelf:
        assert await shelf.get("https://name:word@example.org/ anonymous viewport en-US") is None
        assert await shelf.get(KEY) is None
        shelf.put(KEY, about(URL + "/2"))
    assert [text.count("/2") for text in rows(path).values()] == [0]


async def test_a_private_page_is_only_for_a_run_whose_user_named_its_host(tmp_path: Path) -> None:
    url = "http://10.0.0.1/"
    key = f"{url} anonymous viewport en-US"
    for named, found in (({"10.0.0.1"}, True), ((), False)):
        async with Shelf(
            tmp_path / "shelf", name_of=lambda _: key, part_chars=2000, named_hosts=named, options=PATIENT
        ) as shelf:
            shelf.put(key, about(url))
        async with Shelf(
            tmp_path / "shelf", name_of=lambda _: key, part_chars=2000, named_hosts=named, options=PATIENT
        ) as shelf:
            assert (await shelf.get(key) is not None) is found


@pytest.mark.parametrize("reached", [True, False])
async def test_a_page_is_only_for_a_run_that_could_load_it(tmp_path: Path, *, reached: bool) -> None:
    async with shelf_at(tmp_path / "shelf") as shelf:
        shelf.put(KEY, OBSERVATION)

    async def lets(url: yarl.URL) -> bool:
        return reached or url.host != "example.org"

    async with Shelf(
        tmp_path / "shelf", name_of=lambda _: KEY, part_chars=2000, lets=lets, options=PATIENT, clock=lambda: 1000.0
    ) as shelf:
        assert (await shelf.get(KEY) is not None) is reached


async def test_a_text_that_is_no_unicode_is_not_kept(tmp_path: Path) -> None:
    async with shelf_at(tmp_path / "shelf") as shelf:
        shelf.put(KEY, replace(OBSERVATION, text="half a pair: \ud83d"))
        shelf.put(KEY, OBSERVATION)
        assert await shelf.get("https://example.org/\ud83d anonymous viewport en-US") is None
    assert list(rows(tmp_path / "shelf")) == [f"{version('speccache')}/2000 {KEY}"]


async def test_a_row_that_cannot_be_read_is_no_page_and_is_written_anew(tmp_path: Path) -> None:
    path = tmp_path / "shelf"
    for body in (b"no zlib", zlib.compress(b'{"document": 1}'), zlib.compress(b"\xff")):
        async with shelf_at(path) as shelf:
            shelf.put(KEY, OBSERVATION)
        with closing(connect(path)) as connection, connection:
            connection.execute("UPDATE page SET body = ?", (body,))
        async with shelf_at(path) as shelf:
            assert await shelf.get(KEY) is None
            shelf.put(KEY, OBSERVATION)
        async with shelf_at(path) as shelf:
            assert await shelf.get(KEY) is not None


def _set_aside(folder: Path) -> list[Path]:
    return [path for path in folder.glob("shelf.unusable-*") if not path.name.endswith(("-wal", "-shm"))]


def _warnings(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING]


async def test_a_file_that_is_no_shelf_costs_the_warmth_and_one_warning(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "shelf"
    path.write_text("This is my diary.")
    async with shelf_at(path) as shelf:
        shelf.put(KEY, OBSERVATION)
    async with shelf_at(path) as shelf:
        assert await shelf.get(KEY) is not None
    (warning,) = _warnings(caplog)
    (aside,) = _set_aside(tmp_path)
    assert str(path) in warning
    assert aside.name in warning
    assert aside.read_text() == "This is my diary."


async def test_a_folder_in_its_place_stays_and_the_run_goes_on(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "shelf").mkdir()
    async with shelf_at(tmp_path / "shelf") as shelf:
        shelf.put(KEY, OBSERVATION)
        assert await shelf.get(KEY) is None
    (warning,) = _warnings(caplog)
    assert "goes on without" in warning
    assert _set_aside(tmp_path) == []
    assert (tmp_path / "shelf").is_dir()


async def test_a_file_spoiled_under_the_run_is_set_aside_for_the_next(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "shelf"
    async with shelf_at(path) as shelf:
        for number in range(200):
            shelf.put(f"{URL}/{number} anonymous viewport en-US", about(f"{URL}/{number}"))
            shelf.put(KEY, OBSERVATION)
    async with shelf_at(path) as shelf:
        with path.open("r+b") as file:
            file.seek(4096)
            file.write(b"\xff" * (path.stat().st_size - 4096))
        assert await shelf.get(KEY) is None
        shelf.put(KEY, OBSERVATION)
    assert len(_warnings(caplog)) == 1
    assert len(_set_aside(tmp_path)) == 1
    async with shelf_at(path) as shelf:
        shelf.put(KEY, OBSERVATION)
    async with shelf_at(path) as shelf:
        assert await shelf.get(KEY) is not None


ON_A_FULL_DISK = """
import asyncio, logging, random, resource, sys
from dataclasses import replace
from pathlib import Path
from tests.browser.test_shelf import KEY, OBSERVATION, PATIENT, shelf_at

async def main():
    limit = int(sys.argv[2])
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    async with shelf_at(Path(sys.argv[1])) as shelf:
        for seed in range(20):
            text = random.Random(seed).randbytes(20_000).hex()
            shelf.put(KEY, replace(OBSERVATION, text=text))
        await shelf.get(KEY)
    print("went on")

logging.basicConfig(format="%(levelname)s %(message)s")
asyncio.run(main())
"""


@pytest.mark.parametrize("limit_bytes", [0, 100_000], ids=["from the beginning", "after some pages"])
def test_a_full_disk_is_told_once_and_the_run_goes_on(tmp_path: Path, limit_bytes: int) -> None:
    command = [sys.executable, "-c", ON_A_FULL_DISK, str(tmp_path / "shelf"), str(limit_bytes)]
    outcome = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    assert outcome.stdout == "went on\n"
    assert outcome.stderr.count("WARNING") == 1
    assert "goes on without" in outcome.stderr
    assert len(outcome.stderr.splitlines()) == 1


async def test_opening_and_lookups_can_be_cancelled(tmp_path: Path) -> None:
    shelf = shelf_at(tmp_path / "shelf")
    opening = asyncio.create_task(shelf.__aenter__())
    await asyncio.sleep(0)
    opening.cancel()
    with pytest.raises(asyncio.CancelledError):
        await opening
    assert await shelf.get(KEY) is None
    async with shelf_at(tmp_path / "shelf") as shelf:
        shelf.put(KEY, OBSERVATION)
        lookup = asyncio.create_task(shelf.get(KEY))
        await asyncio.sleep(0)
        lookup.cancel()
        with pytest.raises(asyncio.CancelledError):
            await lookup
    async with shelf_at(tmp_path / "shelf") as shelf:
        assert await shelf.get(KEY) is not None
    shelf.put(KEY, OBSERVATION)
    assert await shelf.get(KEY) is None, "it is closed"


# With a real browser.

FRESH = {"Cache-Control": "max-age=600"}


def page(text: str, cache_control: str = FRESH["Cache-Control"]) -> Answer:
    async def answer(_: web.Request) -> web.StreamResponse:
        return web.Response(text=text, content_type="text/html", headers={"Cache-Control": cache_control})

    return answer


async def sign_in(_: web.Request) -> web.StreamResponse:
    response = web.Response(text="<p>welcome, Alice</p>", content_type="text/html", headers=FRESH)
    response.set_cookie("session", "abc")
    return response


PAGES = {
    "/": page('<title>Start</title><a href="/a">Alpha</a> <a href="/b">Beta</a> <a href="/hello">in</a>'),
    "/a": page("<title>A</title><p>alpha</p><a href='/b'>Beta</a>"),
    "/b": page("<title>B</title><p>beta</p>"),
    "/hello": sign_in,
    "/stale": page("<title>S</title><p>news</p>", "no-cache"),
    "/mine": page("<title>M</title><p>mail of Alice</p>"),
    "/personal": page("<title>P</title><p>offer for Alice</p>", "private, max-age=600"),
}


@pytest.fixture
async def site() -> AsyncIterator[Website]:
    async with Website(PAGES) as website:
        yield website


@pytest.fixture(scope="module")
async def pool() -> AsyncIterator[BrowserPool]:
    async with BrowserPool(PoolOptions(speculation_slots=1)) as opened:
        yield opened


class Guesser:
    """Guesses the visit after a visit."""

    name = "guesser"

    def __init__(self, guesses: Mapping[str, str]) -> None:
        self._guesses = guesses

    async def predict(self, trajectory: Sequence[Step[Action, Observation]]) -> AsyncIterator[Guess[Action]]:
        guess = self._guesses.get(str(trajectory[-1].action).removeprefix("visit "))
        if guess is not None:
            yield Guess(action=Visit(guess), predictor=self.name, rank=1)


async def walk(
    pool: BrowserPool, shelf_path: Path, visits: Sequence[str], *, guesses: Mapping[str, str]
) -> tuple[list[Observation], list[Event]]:
    """One run: these visits, after each the guess for its page and its end."""
    events: list[Event] = []
    ended = asyncio.Semaphore(0)

    def listen(event: Event) -> None:
        events.append(event)
        if event.kind in (EventKind.LOAD, EventKind.REFUSE, EventKind.FAIL):
            ended.release()

    web_environment = WebEnvironment(pool, named_hosts={"127.0.0.1"}, part_chars=2000)
    async with Shelf(
        shelf_path, name_of=web_environment.key, part_chars=2000, named_hosts={"127.0.0.1"}, options=PATIENT
    ) as shelf:
        environment = SpeculativeEnvironment(
            web_environment,
            predictors=[Guesser(guesses)],
            second_level=shelf,
            lifetime_of=web_environment.lifetime,
            listener=listen,
        )
        seen = []
        for visit in visits:
            seen.append(await environment.step(Visit(visit)))
            if visit in guesses:
                await ended.acquire()
        await environment.aclose()
    return seen, events


def texts(seen: Sequence[Observation]) -> list[str]:
    return [observation.text for observation in seen]


def pages_asked(site: Website) -> list[str]:
    return [asked.path for asked in site.asked if asked.path not in ("/robots.txt", "/favicon.ico")]


async def test_a_second_run_asks_the_server_for_nothing_that_is_fresh(
    pool: BrowserPool, site: Website, tmp_path: Path
) -> None:
    start, visits = site.url + "/", ["Alpha", "/b", "/stale", "/b"]
    cold, first_events = await walk(pool, tmp_path / "shelf", [start, *visits], guesses={"Alpha": "/b"})
    assert pages_asked(site) == ["/", "/a", "/b", "/stale"]
    assert {event.reason for event in first_events if event.kind is EventKind.HIT} == {""}
    site.asked.clear()
    warm, events = await walk(pool, tmp_path / "shelf", [start, *visits], guesses={"Alpha": "/b"})
    assert pages_asked(site) == ["/stale"]
    assert texts(warm) == texts(cold)
    assert [observation.document for observation in warm[:3]] == [observation.document for observation in cold[:3]]
    steps = [(event.kind, event.reason) for event in events if event.kind in (EventKind.HIT, EventKind.MISS)]
    shelf = (EventKind.HIT, "shelf")
    assert steps == [shelf, shelf, shelf, (EventKind.MISS, ""), shelf]
    assert [(event.reason, event.key) for event in events if event.kind is EventKind.LOAD] == [
        ("shelf", [event.key for event in events if event.key][-1])
    ]


async def test_nothing_of_a_signed_in_session_is_ever_written(pool: BrowserPool, site: Website, tmp_path: Path) -> None:
    visits = [site.url + "/", "/personal", "/hello", "/mine", "/b", "/a"]
    seen, _ = await walk(pool, tmp_path / "shelf", visits, guesses={"/mine": "/b"})
    assert "mail of Alice" in seen[3].text
    kept = rows(tmp_path / "shelf")
    assert [key.split()[1:3] for key in kept] == [[site.url + "/", "anonymous"]]
    assert not any("Alice" in text for text in kept.values())
