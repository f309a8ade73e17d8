"""Who a run is to the sites: what is shared between sessions, what a page loaded ahead sees, and what is sent where."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack

import pytest
from aiohttp import web

from browser import Click, Observation, Type, Visit
from browser.acting.allowance import Allowance, Secret
from browser.environment import WebEnvironment
from browser.errors import SessionUnusable
from browser.pool import BrowserPool, PoolOptions
from browser.session.identity import Identity, Viewport
from browser.session.session import Session
from browser.session.site_headers import Header, SiteHeaders
from browser.session.storage_state import StorageState
from speccache.errors import Unspeculable
from tests.website import Website

SHOW = "<p id=p></p><script>p.textContent = JSON.stringify([{...localStorage}, {...sessionStorage}])</script>"
COUNT = SHOW + "<script>localStorage.n = 1 + Number(localStorage.n ?? 0); sessionStorage.s = 'tab'</script>"
LINKS = "<a href=/show>Show</a> <a href=/count>Count</a> <a href=/me>Me</a> <a href=/database>Database</a>"


async def me(request: web.Request) -> web.Response:
    """Give whoever comes without one a cookie of their own, and say what the browser tells of itself."""
    known = request.cookies.get("me")
    shown = [known, request.headers.get("X-Key"), request.headers["User-Agent"], request.headers["Accept-Language"]]
    script = "<script>q.textContent = [navigator.userAgent, navigator.language, innerWidth, innerHeight]</script>"
    response = web.Response(text=f"<p>{json.dumps(shown)}</p><p id=q></p>{script}", content_type="text/html")
    if known is None and "new" in request.query:
        response.set_cookie("me", request.query["new"])
    return response


async def away(request: web.Request) -> web.Response:
    raise web.HTTPFound(f"http://localhost:{request.url.port}/landed")


PAGES = {
    "/": LINKS,
    "/show": SHOW,
    "/count": COUNT,
    "/me": me,
    "/away": away,
    "/landed": "<p>landed</p>",
    "/database": "<p>data</p><script>indexedDB.open('shop').onupgradeneeded = () => {}</script>",
    "/act": COUNT + "<button onclick=\"localStorage.n = 'clicked'\">Act</button>",
}


@pytest.fixture
async def site() -> AsyncIterator[Website]:
    async with Website(PAGES) as website:
        yield website


@pytest.fixture(scope="module")
async def pool() -> AsyncIterator[BrowserPool]:
    async with BrowserPool(PoolOptions(speculation_slots=1)) as opened:
        yield opened


class Visitors:
    """Environments on one pool, closed together."""

    def __init__(self, pool: BrowserPool, stack: AsyncExitStack) -> None:
        self._pool = pool
        self._stack = stack

    def __call__(
        self,
        session: Session | None = None,
        *,
        identity: Identity | None = None,
        allowance: Allowance = Allowance(),
    ) -> WebEnvironment:
        environment = WebEnvironment(
            self._pool,
            named_hosts={"127.0.0.1", "localhost"},
            session=session,
            identity=identity,
            allowance=allowance,
        )
        self._stack.push_async_callback(environment.aclose)
        return environment


@pytest.fixture
async def visitors(pool: BrowserPool) -> AsyncIterator[Visitors]:
    async with AsyncExitStack() as stack:
        yield Visitors(pool, stack)


async def start(environment: WebEnvironment, site: Website) -> None:
    await environment.step(Visit(site.url + "/"))


def stored(observation: Observation) -> list[dict[str, str]]:
    """What `SHOW` found in localStorage and sessionStorage."""
    found: list[dict[str, str]] = json.loads(observation.text.replace("\\", "").partition("\n")[0])
    return found


async def test_two_sessions_share_no_cookie_and_one_session_shares_all(visitors: Visitors, site: Website) -> None:
    shared = Session()
    one, other, third = visitors(shared), visitors(), visitors(shared)
    for environment in (one, other, third):
        await start(environment, site)
    await one.step(Visit("/me?new=one"))
    await other.step(Visit("/me?new=other"))
    for environment, cookie in ((one, "one"), (other, "other"), (third, "one")):
        assert f'["{cookie}"' in (await environment.peek(Visit("/me"))).text, "a page loaded ahead"
        assert f'["{cookie}"' in (await environment.step(Visit("/me"))).text
    assert one.key(Visit("/show")) == third.key(Visit("/show")) != other.key(Visit("/show"))


async def test_a_shared_session_keeps_what_each_changed(visitors: Visitors, site: Website) -> None:
    shared = Session()
    one, other = visitors(shared), visitors(shared)
    await start(one, site)
    await start(other, site)
    await one.step(Visit("/me?new=one"))
    await other.step(Visit("/count"))
    assert [cookie["value"] for cookie in shared.cookies] == ["one"]
    assert stored(await one.step(Visit("/show"))) == [{"n": "1"}, {}], "a tab's own storage is its own"
    assert '["one"' in (await other.step(Visit("/me"))).text


async def test_a_page_loaded_ahead_finds_the_storage_and_leaves_none(visitors: Visitors, site: Website) -> None:
    environment, stranger = visitors(), visitors()
    await start(environment, site)
    await start(stranger, site)
    await environment.step(Visit("/count"))
    for _ in range(2):  # the second time in a slot that the page before has written to
        assert stored(await environment.peek(Visit("/show"))) == [{"n": "1"}, {"s": "tab"}]
        assert stored(await environment.peek(Visit("/count"))) == [{"n": "1"}, {"s": "tab"}]
    assert stored(await environment.step(Visit("/show"))) == [{"n": "1"}, {"s": "tab"}]
    assert stored(await stranger.peek(Visit("/show"))) == [{}, {}]
    assert [asked.path for asked in site.asked if "well-known" in asked.path] == []


async def test_what_an_adopted_page_stored_counts_once(visitors: Visitors, site: Website) -> None:
    environment = visitors()
    await start(environment, site)
    key = environment.key(Visit("/show"))
    for visits in ("1", "2"):
        observation = await environment.peek(Visit("/count"))
        await environment.adopt(Visit("/count"), observation)
        assert stored(await environment.peek(Visit("/show")))[0] == {"n": visits}
        assert stored(await environment.step(Visit("/show")))[0] == {"n": visits}
    assert environment.key(Visit("/show")) != key, "what was loaded before shows another state"
    observation = await environment.peek(Visit("/act"))
    await environment.adopt(Visit("/act"), observation)
    await environment.live()  # it is loaded again for it
    assert stored(await environment.step(Visit("/show")))[0] == {"n": "3"}
    await environment.step(Visit("/act"))
    await environment.step(Click("c1"))
    assert stored(await environment.peek(Visit("/show")))[0] == {"n": "clicked"}


async def test_a_site_with_a_database_is_not_loaded_ahead(visitors: Visitors, site: Website) -> None:
    environment = visitors()
    await start(environment, site)
    with pytest.raises(Unspeculable, match="keeps-database"):
        await environment.peek(Visit("/database"))
    await environment.step(Visit("/database"))
    with pytest.raises(Unspeculable, match="keeps-database"):
        await environment.peek(Visit("/show"))


async def test_an_identity_is_the_same_loaded_ahead(visitors: Visitors, site: Website) -> None:
    identity = Identity(
        locale="de-AT",
        viewport=Viewport(width=800, height=600),
        user_agent="Reader/1.0",
        headers=SiteHeaders(headers=(Header(name="X-Key", value="secret-key"),), url=site.url),
    )
    environment, plain = visitors(identity=identity), visitors()
    await start(environment, site)
    await start(plain, site)
    real, ahead = await environment.step(Visit("/me")), await environment.peek(Visit("/me"))
    assert '[null, "secret-key", "Reader/1.0", "de-AT' in real.text
    assert "Reader/1.0,de-AT,800,600" in real.text
    assert ahead.text == real.text
    key = str(environment.key(Visit("/me")))
    assert key != plain.key(Visit("/me"))
    assert "secret-key" not in key
    assert " anonymous " not in key, "nobody else may be shown what a header opens"


async def test_headers_go_to_their_own_site_only(visitors: Visitors, site: Website) -> None:
    other = site.url.replace("127.0.0.1", "localhost")
    fetch = f"fetch('/api'); fetch('{other}/api', {{mode: 'no-cors'}})"
    site.pages = {**site.pages, "/frames": f"<iframe src={other}/me></iframe><script>{fetch}</script>"}
    headers = SiteHeaders(headers=(Header(name="X-Key", value="secret-key"),), url=site.url)
    environment = visitors(identity=Identity(headers=headers))
    await environment.step(Visit(site.url + "/me?new=one"))
    await environment.step(Visit(site.url + "/frames"))
    await environment.step(Visit(site.url + "/away"))
    sent = {(asked.headers["Host"].partition(":")[0], asked.path): asked.headers for asked in site.asked}
    ours = {place for place, headers in sent.items() if headers.get("X-Key") == "secret-key"}
    assert ours >= {("127.0.0.1", path) for path in ("/me?new=one", "/frames", "/api", "/away")}
    assert {place for place in sent if place[0] == "localhost"} >= {("localhost", "/me"), ("localhost", "/landed")}
    assert {place for place in ours if place[0] == "localhost"} == set()
    assert sent["127.0.0.1", "/frames"]["Cookie"] == "me=one"


async def test_a_storage_state_is_restored_with_its_databases(visitors: Visitors, site: Website) -> None:
    environment = visitors()
    await start(environment, site)
    await environment.step(Visit("/me?new=one"))
    await environment.step(Visit("/database"))
    await environment.step(Visit("/count"))
    state = await environment.storage_state()
    again = visitors(Session(state=StorageState(**json.loads(json.dumps(state)))))
    await start(again, site)
    assert '["one"' in (await again.step(Visit("/me"))).text
    assert stored(await again.step(Visit("/show"))) == [{"n": "1"}, {}]
    page = await again.live()
    assert await page.evaluate("indexedDB.databases().then((found) => found.map(({name}) => name))") == ["shop"]
    assert " anonymous " not in str(again.key(Visit("/show")))


async def test_a_slot_that_died_is_replaced_by_one_that_holds_the_same(visitors: Visitors, site: Website) -> None:
    environment = visitors()
    await start(environment, site)
    await environment.step(Visit("/me?new=one"))
    await environment.step(Visit("/count"))
    page = await environment.live()
    await page.context.close()
    assert stored(await environment.step(Visit(site.url + "/show"))) == [{"n": "1"}, {"s": "tab"}]
    assert '["one"' in (await environment.step(Visit("/me"))).text


async def test_an_address_that_repeats_a_secret_is_not_loaded_ahead(visitors: Visitors, site: Website) -> None:
    site.pages = {**site.pages, "/": "<a href='/show?p=hunter2%26'>Show</a>"}
    secret = Secret(name="PASSWORD", value="hunter2&", host="127.0.0.1")
    environment = visitors(allowance=Allowance(secrets=[secret]))
    observation = await environment.step(Visit(site.url + "/"))
    assert observation.links[0].url == f"{site.url}/show?p={{{{PASSWORD}}}}"
    with pytest.raises(Unspeculable, match="secret"):
        await environment.peek(Visit("1"))
    assert [asked.path for asked in site.asked if asked.path.startswith("/show")] == []


@pytest.mark.parametrize("first", ["/count", "/show"])
async def test_storage_keeps_the_law(visitors: Visitors, site: Website, first: str) -> None:
    real, ahead = visitors(), visitors()
    for environment in (real, ahead):
        await start(environment, site)
        await environment.step(Visit("/count"))
    await real.step(Visit(first))
    await ahead.adopt(Visit(first), await ahead.peek(Visit(first)))
    assert real.key(Visit("/show")) == ahead.key(Visit("/show"))
    assert stored(await ahead.step(Visit("/show"))) == stored(await real.step(Visit("/show")))
    assert stored(await ahead.step(Visit("/count"))) == stored(await real.step(Visit("/count")))


async def test_cookies_that_no_browser_takes_are_told_of(visitors: Visitors, site: Website) -> None:
    cookie = {"name": "__Host-id", "value": "1", "domain": ".127.0.0.1", "path": "/x", "secure": False}
    with pytest.raises(SessionUnusable, match="does not take the cookies"):
        await start(visitors(Session(state=StorageState(cookies=[cookie], origins=[]))), site)


async def test_a_frame_that_takes_the_focus_away_gets_no_secret(visitors: Visitors, site: Website) -> None:
    thief = "<input id=i><script>setInterval(() => i.focus(), 1); i.oninput = () => fetch('/stolen')</script>"
    frame = f"<iframe src={site.url.replace('127.0.0.1', 'localhost')}/thief></iframe>"
    listener = "oninput=\"fetch('/typed?' + this.value)\""
    site.pages = {**site.pages, "/thief": thief, "/": f"<input type=password aria-label=Word {listener}>{frame}"}
    secret = Secret(name="PASSWORD", value="hunter2", host="127.0.0.1")
    environment = visitors(allowance=Allowance(secrets=[secret]))
    await environment.step(Visit(site.url + "/"))
    for _ in range(3):
        await environment.step(Type("c1", "{{PASSWORD}}"))
    assert "not for localhost" in (await environment.step(Type("c2", "{{PASSWORD}}"))).text
    assert site.count("/thief") == 1
    assert [asked.path for asked in site.asked if "stolen" in asked.path] == []
    assert {asked.path for asked in site.asked if "typed" in asked.path} <= {"/typed?hunter2"}
