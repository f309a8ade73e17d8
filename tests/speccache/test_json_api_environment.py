"""HTTP APIs: GETs run ahead, anything else never; the server's log is the witness."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager

import pytest
from aiohttp import web

from speccache import Account, Event, EventKind, Guess, SpeculativeEnvironment, Step, Unspeculable
from speccache.json_api_environment import Call, Reply, json_api_environment
from speccache.read_environment import ReadEnvironment
from tests.conformance import check_law
from tests.speccache.progress import until
from tests.website import Website

Api = ReadEnvironment[Call, Reply]
Serve = Callable[[web.Request], Awaitable[web.Response]]


def answer(**options: object) -> Serve:
    """Answer every request with the same response."""

    async def serve(_request: web.Request) -> web.Response:
        return web.Response(**options)  # type: ignore[arg-type]

    return serve


def cart() -> Serve:
    """A list of items that POST and PUT change."""
    items: list[object] = ["lamp"]

    async def serve(request: web.Request) -> web.Response:
        if request.method == "POST":
            items.append(await request.json())
        elif request.method == "DELETE":
            items.clear()
        return web.json_response(items)

    return serve


@pytest.fixture
async def site() -> AsyncIterator[Website]:
    async with Website({"/cart": cart(), "/item": answer(text='{"name": "lamp"}')}) as site:
        yield site


@pytest.fixture
async def api(site: Website) -> AsyncIterator[Api]:
    environment = json_api_environment(site.url, headers={"Authorization": "Bearer key"})
    yield environment
    await environment.aclose()


def asked(site: Website) -> list[str]:
    return [f"{request.method} {request.path}" for request in site.asked]


@asynccontextmanager
async def server(serve: Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]) -> AsyncIterator[str]:
    """A server that answers what no HTTP library would; its address."""
    listener = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with listener:
        yield f"http://127.0.0.1:{listener.sockets[0].getsockname()[1]}"


def raw(response: bytes) -> Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(response)
        await writer.drain()
        writer.close()

    return serve


async def test_it_keeps_the_law() -> None:
    async with Website({"/cart": cart()}) as one, Website({"/cart": cart()}) as other:
        # Two servers, since a call with effects is made in both environments; under one name, since keys name it.
        sites = iter([one, other])

        async def fresh() -> Api:
            site = next(sites)
            inner = json_api_environment(site.url)
            return ReadEnvironment(inner.step, key=lambda call: _without(site.url, inner.key(call)), write=inner.step)

        post = Call("/cart", "POST", '"chair"')
        then = [post, Call("cart"), Call("/none"), Call("/cart", "DELETE"), Call("/cart")]
        await check_law(fresh, first=Call("/cart"), then=then, same=lambda reply: (reply.status, reply.text))


def _without(url: str, key: object) -> str | None:
    return None if key is None else str(key).replace(url, "")


async def test_a_get_asks_for_json(site: Website, api: Api) -> None:
    reply = await api.peek(Call("item?colour=dark blue&name=ä#part"))
    assert reply.json() == {"name": "lamp"}
    assert (reply.url, reply.status) == (f"{site.url}/item?colour=dark%20blue&name=%C3%A4", 200)
    request = site.asked[0]
    assert (request.method, request.path) == ("GET", "/item?colour=dark%20blue&name=%C3%A4")
    assert {name: request.headers[name] for name in ("Accept", "Authorization", "Connection")} == {
        "Accept": "application/json",
        "Authorization": "Bearer key",
        "Connection": "close",
    }
    assert "Content-Length" not in request.headers


async def test_only_gets_are_ever_run_ahead(site: Website, api: Api) -> None:
    class Eager:
        name = "eager"

        async def predict(self, _trajectory: Sequence[Step[Call, Reply]]) -> AsyncIterator[Guess[Call]]:
            calls = [
                Call("/cart", "POST", '"chair"'),
                Call("/cart", "PUT", "[]"),
                Call("/cart", "PATCH"),
                Call("/cart", "DELETE"),
                Call("/cart", body="{}"),
                Call("http://127.0.0.1:9/elsewhere"),
                Call("/cart"),
            ]
            for rank, call in enumerate(calls, start=1):
                yield Guess(action=call, predictor=self.name, rank=rank)

    events: list[Event] = []
    environment = SpeculativeEnvironment(api, predictors=[Eager()], listener=events.append)
    await environment.step(Call("/item"))
    await until(events, EventKind.LOAD)
    assert asked(site) == ["GET /item", "GET /cart"]
    await environment.step(Call("/cart", "POST", '"chair"'))
    await until(events, EventKind.LOAD, 2)
    assert (await environment.step(Call("/cart"))).json() == ["lamp", "chair"]
    assert asked(site) == ["GET /item", "GET /cart", "POST /cart", "GET /cart"]
    await environment.aclose()
    account = Account()
    for event in events:
        account(event)
    assert (account.hits, account.misses, account.wasted) == (1, 1, 1)
    assert set(account.refusals) == {"no-key"}


async def test_what_is_read_while_a_call_has_effects_is_not_kept(site: Website, api: Api) -> None:
    gate = site.shut("/cart")
    before = asyncio.create_task(api.peek(Call("/cart")))
    await site.arrived("/cart")
    post = asyncio.create_task(api.step(Call("/cart", "POST", '"chair"')))
    await site.arrived("/cart", count=2)
    during = asyncio.create_task(api.peek(Call("/cart")))
    await site.arrived("/cart", count=3)
    gate.set()
    await post
    for peek in (before, during):
        with pytest.raises(Unspeculable, match="changed"):
            await peek
    assert (await api.peek(Call("/cart"))).json() == ["lamp", "chair"]


async def test_a_cancelled_call_with_effects_may_have_had_them(site: Website, api: Api) -> None:
    key = api.key(Call("/cart"))
    site.shut("/cart")
    post = asyncio.create_task(api.step(Call("/cart", "POST", '"chair"')))
    await site.arrived("/cart")
    post.cancel()
    with pytest.raises(asyncio.CancelledError):
        await post
    assert api.key(Call("/cart")) != key


@pytest.mark.parametrize(
    ("reason", "options"),
    [
        ("status-404", {"status": 404, "text": "{}"}),
        ("status-503", {"status": 503, "headers": {"Retry-After": "9"}}),
        ("status-302", {"status": 302, "headers": {"Location": "http://127.0.0.1:9/"}}),
        ("not-json", {"text": "<h1>Sign in</h1>"}),
        ("not-json", {"text": "[" * 100_000}),
        ("sets-cookie", {"text": "{}", "headers": {"Set-Cookie": "a=b"}}),
        ("no-store", {"text": "{}", "headers": {"Cache-Control": "private, No-Store"}}),
        ("no-store", {"text": "{}", "headers": {"Cache-Control": "max-age=0"}}),
    ],
)
async def test_some_replies_are_seen_and_not_kept(reason: str, options: dict[str, object]) -> None:
    async with Website({"/x": answer(**options)}) as site:
        api = json_api_environment(site.url)
        reply = await api.step(Call("/x"))
        assert (reply.status, reply.refusal, reply.max_age_seconds) == (options.get("status", 200), reason, 0.0)
        with pytest.raises(Unspeculable, match=reason):
            await api.peek(Call("/x"))
        assert asked(site) == ["GET /x"] * 2


async def test_a_redirect_is_shown_and_not_followed(site: Website) -> None:
    async with Website({"/x": answer(status=301, headers={"Location": f"{site.url}/item"})}) as other:
        reply = await json_api_environment(other.url).step(Call("/x"))
    assert (reply.status, reply.location) == (301, f"{site.url}/item")
    assert site.asked == []


async def test_a_reply_says_how_long_it_may_be_used() -> None:
    headers = {"Cache-Control": 'public, max-age="60"'}
    async with Website({"/x": answer(text="[]", headers=headers), "/y": answer(status=204)}) as site:
        api = json_api_environment(site.url)
        assert (await api.peek(Call("/x"))).max_age_seconds == 60.0
        assert (await api.peek(Call("/y"))).max_age_seconds is None


@pytest.mark.parametrize(
    "path", ["//127.0.0.1:9/x", "http://127.0.0.1:9/x", "https://example.com/", "http://[", "file:///etc/passwd"]
)
async def test_no_call_leaves_the_origin(site: Website, api: Api, path: str) -> None:
    assert api.key(Call(path)) is None
    assert "no call of this API" in ((await api.step(Call(path))).problem or "")
    assert site.asked == []


async def test_nothing_can_be_smuggled_into_a_request(site: Website, api: Api) -> None:
    await api.step(Call("/item HTTP/1.1\r\nX-Evil: 1\r\n\r\nGET /cart"))
    assert [request.path for request in site.asked] == ["/item%20HTTP/1.1X-Evil:%201GET%20/cart"]
    assert (await api.step(Call("/item", "GET / HTTP/1.1\r\n"))).problem  # type: ignore[arg-type]
    assert len(site.asked) == 1
    for headers in ({"X": "a\r\nY: b"}, {"X\n": "a"}):
        with pytest.raises(ValueError, match="line break"):
            json_api_environment(site.url, headers=headers)


@pytest.mark.parametrize("url", ["ftp://localhost/", "localhost:80", "/x", "http://", "http://me:secret@localhost/"])
async def test_an_api_needs_a_web_address(url: str) -> None:
    with pytest.raises(ValueError, match="needs an http or https address") as caught:
        json_api_environment(url)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("response", "problem"),
    [
        (b"", "closed connection without response"),
        (b"SSH-2.0-OpenSSH\r\n", "SSH-2.0"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{}", "IncompleteRead"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n[1", "IncompleteRead"),
        (b"HTTP/1.1 200 OK\r\n\r\n" + b" " * 5000, "longer than 4096 bytes"),
    ],
)
async def test_a_broken_response_is_a_problem(response: bytes, problem: str) -> None:
    async with server(raw(response)) as url:
        reply = await json_api_environment(url, max_bytes=4096).step(Call("/"))
    assert problem in (reply.problem or "")
    assert reply.refusal == "failed"


async def test_a_chunked_response_is_read_whole() -> None:
    response = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n[1\r\n3\r\n, 2\r\n1\r\n]\r\n0\r\n\r\n"
    async with server(raw(response)) as url:
        assert (await json_api_environment(url).step(Call("/"))).json() == [1, 2]


async def test_no_server_is_a_problem() -> None:
    async with server(raw(b"")) as url:
        pass
    assert (await json_api_environment(url).step(Call("/"))).problem


async def test_a_call_has_a_time_limit(site: Website) -> None:
    site.shut("/item")
    reply = await json_api_environment(site.url, timeout_seconds=0.05).step(Call("/item"))
    assert reply.problem == "no answer within 0.05 s"


async def test_a_cancelled_call_closes_its_connection() -> None:
    arrived, gone = asyncio.Event(), asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        arrived.set()
        assert await reader.read() == b""
        gone.set()
        writer.close()

    async with server(serve) as url:
        api = json_api_environment(url)
        for act in (api.peek, api.step):
            arrived.clear()
            gone.clear()
            task = asyncio.create_task(act(Call("/")))
            await arrived.wait()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            await gone.wait()


async def test_a_call_cancelled_at_any_moment_leaves_no_connection() -> None:
    opened, closed = 0, asyncio.Semaphore(0)

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal opened
        opened += 1
        await reader.read()
        writer.close()
        closed.release()

    async with server(serve) as url:
        api = json_api_environment(url)
        for ticks in range(20):
            task = asyncio.create_task(api.step(Call("/", "POST", "x" * 10_000)))
            for _ in range(ticks):
                await asyncio.sleep(0)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
        assert opened
        for _ in range(opened):
            await closed.acquire()
