"""What links, pages and servers try while they are only looked at ahead of time: nothing comes of it.

The proof is what the servers were asked for.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field

import pytest
from aiohttp import web

from browser import Action, Observation, Visit
from browser.environment import WebEnvironment
from browser.page import LoadOptions
from browser.pool import BrowserPool, PoolOptions
from speccache.account import Account
from speccache.environment import Step
from speccache.errors import Unspeculable
from speccache.events import Event, EventKind
from speccache.options import SpeculationOptions
from speccache.predictor import Guess
from speccache.speculative_environment import SpeculativeEnvironment
from tests.browser.trap_site import HIDDEN, LINKS, PAGES, PLAIN, SCHEMES, LinkTrap, PageTrap, answers, script, trap_site
from tests.website import Answer, Website

SLOTS = 3
READING = ("GET", "HEAD", "OPTIONS")
# Nothing is to be judged by how far it came in a limited time but what is about that time.
PATIENT = LoadOptions(settle_cap_seconds=30.0, frames_cap_seconds=30.0)
HASTY = LoadOptions(settle_cap_seconds=1.0)
DECIDED = (EventKind.KNOWN, EventKind.REFUSE, EventKind.LOAD, EventKind.FAIL, EventKind.CANCEL)

Pages = dict[str, str | Answer]


@pytest.fixture(scope="module")
async def pool() -> AsyncIterator[BrowserPool]:
    async with BrowserPool(PoolOptions(speculation_slots=SLOTS)) as opened:
        yield opened
        assert "foreground=0 leased=0" in repr(opened)


def web_environment(pool: BrowserPool, options: LoadOptions = PATIENT) -> WebEnvironment:
    return WebEnvironment(pool, named_hosts={"127.0.0.1"}, load_options=options)


async def know_robots(pool: BrowserPool, site: Website) -> None:
    """Read the site's robots.txt, without which nothing is loaded ahead."""
    await pool.courtesy._robots.refusal(site.url)


def assert_only_read(site: Website, elsewhere: Website) -> None:
    never = {trap.target for trap in (*LINKS, *HIDDEN)}
    assert [asked.path for asked in site.asked if asked.path in never or asked.path.startswith("/never")] == []
    assert [asked for asked in site.asked if asked.method not in READING or "Upgrade" in asked.headers] == []
    assert elsewhere.asked == []


# ---- each trap by itself ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """A session that stands on the first page of a site."""

    site: Website
    environment: WebEnvironment
    first: Observation

    async def peek(self, target: str) -> str | None:
        """Look ahead; why what is there must not be kept, or None."""
        try:
            await self.environment.peek(Visit(target))
        except Unspeculable as refused:
            return refused.reason
        return None


@asynccontextmanager
async def standing(pool: BrowserPool, site: Website) -> AsyncIterator[Ground]:
    async with site, aclosing(web_environment(pool)) as environment:
        first = await environment.step(Visit(f"{site.url}/"))
        await know_robots(pool, site)
        yield Ground(site=site, environment=environment, first=first)


@pytest.fixture(scope="module")
async def elsewhere() -> AsyncIterator[Website]:
    async with Website({}) as other:
        yield other


@pytest.fixture(scope="module")
async def ground(pool: BrowserPool, elsewhere: Website) -> AsyncIterator[Ground]:
    async with standing(pool, trap_site(elsewhere.url)) as ground:
        yield ground
        await ground.environment.step(Visit("/plain/1"))
        assert ground.site.asked[-1].headers.get("Cookie") is None


@pytest.mark.parametrize("trap", LINKS, ids=lambda trap: trap.name)
async def test_a_link_with_effects_is_never_asked_for(ground: Ground, elsewhere: Website, trap: LinkTrap) -> None:
    url = trap.target.replace("{elsewhere}", elsewhere.url)
    assert [link.text for link in ground.first.links if link.url.endswith(url)][:1] == [trap.text]
    assert await ground.peek(url) == trap.reason
    assert_only_read(ground.site, elsewhere)


@pytest.mark.parametrize("trap", HIDDEN, ids=lambda trap: f"30-{trap.name}")
async def test_a_honeypot_is_no_link(ground: Ground, trap: LinkTrap) -> None:
    assert [link for link in ground.first.links if link.url.endswith(trap.target)] == []
    assert ground.site.count(trap.target) == 0


@pytest.mark.parametrize("trap", SCHEMES, ids=lambda trap: trap.name)
async def test_an_address_of_no_page_is_no_link(ground: Ground, trap: LinkTrap) -> None:
    assert [link for link in ground.first.links if link.url.startswith(f"{trap.name}:")] == []
    assert await ground.peek(trap.target) == "scheme"


@pytest.mark.parametrize("trap", PAGES, ids=lambda trap: trap.name)
async def test_a_page_can_only_be_read(ground: Ground, elsewhere: Website, trap: PageTrap) -> None:
    ground.site.asked.clear()
    assert await ground.peek(trap.path) == trap.reason
    assert ground.site.count(trap.path) > 0
    # It leaves no trace on the page that follows it either, by when all that it sent has arrived.
    assert await ground.peek("/plain/1") is None
    assert_only_read(ground.site, elsewhere)


# ---- what servers say ------------------------------------------------------------------------------------------------


@asynccontextmanager
async def visiting(pool: BrowserPool, pages: Pages) -> AsyncIterator[Ground]:
    """Stand on a site of the test's own: a host is remembered for what it said."""
    async with standing(pool, Website({"/": "<p>first</p>", "/plain": "<p>plain text</p>", **pages})) as ground:
        yield ground


async def show_cookie(request: web.Request) -> web.Response:
    return web.Response(text=f"<p>cookie: {request.cookies.get('who')}</p>", content_type="text/html")


def unless_ahead(refuse: Answer) -> Answer:
    """Answer only real actions."""

    async def answer(request: web.Request) -> web.StreamResponse:
        ahead = "prefetch" in request.headers.get("Sec-Purpose", "")
        return await (refuse if ahead else answers("<p>for people only</p>"))(request)

    return answer


async def break_off(request: web.Request) -> web.Response:
    assert request.transport is not None
    request.transport.close()
    return web.Response()


@pytest.mark.parametrize(
    ("status", "headers"),
    [(429, {"Retry_After": "60"}), (503, {"Retry_After": "60"}), (503, {})],
    ids=["429-retry-after", "503-retry-after", "503"],
)
async def test_an_overloaded_host_is_left_alone(pool: BrowserPool, status: int, headers: dict[str, str]) -> None:
    busy = answers("<p>too much</p>", status=status, **headers)
    async with visiting(pool, {"/busy": busy}) as ground:
        assert await ground.peek("/busy") == f"status-{status}"
        assert await ground.peek("/plain") == "retry-after"
        assert ground.site.count("/plain") == 0
        assert "plain text" in (await ground.environment.step(Visit("/plain"))).text


async def test_a_page_that_refuses_to_be_loaded_ahead_is_left_to_real_actions(pool: BrowserPool) -> None:
    refusing = unless_ahead(answers("", status=503, CF_Speculation_Refused="1"))
    async with visiting(pool, {"/shy": refusing}) as ground:
        assert await ground.peek("/shy") == "status-503"
        assert await ground.peek("/shy") == "speculation-refused"
        assert await ground.peek("/plain") is None
        assert "for people only" in (await ground.environment.step(Visit("/shy"))).text
        assert ground.site.count("/shy") == 2


async def test_a_refused_page_leaves_no_cookie_to_the_next(pool: BrowserPool) -> None:
    sending = script("document.cookie = 'who=trap; path=/'; fetch('/never', {method: 'POST'})")
    async with visiting(pool, {"/sending": sending, "/who": show_cookie}) as ground:
        assert await ground.peek("/sending") == "sends-post"
        assert "cookie: None" in (await ground.environment.peek(Visit("/who"))).text


# ---- whole runs ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class EveryLink:
    """Guesses every link of the first page, or some paths instead; nothing on later pages."""

    paths: tuple[str, ...] = ()
    name: str = "every-link"

    async def predict(self, trajectory: Sequence[Step[Action, Observation]], /) -> AsyncIterator[Guess[Action]]:
        if len(trajectory) == 1:
            for rank, target in enumerate(self.paths or _urls(trajectory[0].observation), 1):
                yield Guess(action=Visit(target), predictor=self.name, rank=rank)


def _urls(page: Observation) -> tuple[str, ...]:
    return tuple(link.url for link in page.links)


@dataclass(slots=True)
class Verdicts:
    """The account of a run; knows when its guesses are decided."""

    account: Account = field(default_factory=Account)
    _guesses: set[str] = field(default_factory=set)
    _news: asyncio.Event = field(default_factory=asyncio.Event)

    def __call__(self, event: Event) -> None:
        self.account(event)
        if event.kind in DECIDED:
            self._guesses.add(event.action)
            self._news.set()

    async def on(self, guesses: int) -> None:
        """Wait until so many guesses are decided."""
        while len(self._guesses) < guesses:
            self._news.clear()
            await self._news.wait()


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """A speculative run on the first page of a site."""

    site: Website
    environment: SpeculativeEnvironment[Action, Observation]
    verdicts: Verdicts

    async def see(self, path: str) -> str:
        """Do a real visit."""
        return (await self.environment.step(Visit(path))).text

    @property
    def uses(self) -> tuple[int, int]:
        """Hits and misses, the first page aside."""
        return self.verdicts.account.hits, self.verdicts.account.misses - 1


@asynccontextmanager
async def started(pool: BrowserPool, site: Website, *paths: str, options: LoadOptions = PATIENT) -> AsyncIterator[Run]:
    """Begin a run that guesses these paths, or every link; its guesses need not be decided yet."""
    verdicts = Verdicts()
    environment = web_environment(pool, options)
    speculative = SpeculativeEnvironment(
        environment,
        predictors=[EveryLink(paths)],
        options=SpeculationOptions(max_guesses=1000, max_running=SLOTS, min_plausibility=0.0),
        gate=environment.refusal,
        listener=verdicts,
        lifetime_of=environment.lifetime,
    )
    async with site, aclosing(speculative):
        await know_robots(pool, site)
        await speculative.step(Visit(f"{site.url}/"))
        yield Run(site=site, environment=speculative, verdicts=verdicts)


@asynccontextmanager
async def guessed(pool: BrowserPool, pages: Pages, *paths: str, options: LoadOptions = PATIENT) -> AsyncIterator[Run]:
    """Begin a run whose guesses, all of them links of the first page, are decided."""
    links = "".join(f"<p><a href='{path}'>Page {number}</a></p>" for number, path in enumerate(paths))
    site = Website({"/": f"<p>first</p>{links}", "/plain": "<p>plain text</p>", **pages})
    async with started(pool, site, *paths, options=options) as run:
        await run.verdicts.on(len(paths))
        yield run


async def test_a_run_that_guesses_every_link_springs_no_trap(pool: BrowserPool, elsewhere: Website) -> None:
    traps = (*LINKS, *PAGES)
    async with started(pool, trap_site(elsewhere.url)) as run:
        await run.verdicts.on(len(traps) + len(PLAIN))
        for path in PLAIN:
            assert path in await run.see(path)
        assert run.uses == (len(PLAIN), 0)
        assert_only_read(run.site, elsewhere)
        real = [asked for asked in run.site.asked if "Sec-Purpose" not in asked.headers]
        assert [asked.path for asked in real] == ["/robots.txt", "/"]
        assert run.verdicts.account.refusals == Counter(trap.reason for trap in traps if trap.reason)
        assert run.verdicts.account.failures == Counter()


async def never(_: web.Request) -> web.Response:
    await asyncio.Event().wait()
    raise AssertionError("it came")


RESTLESS: Pages = {"/restless": script("fetch('/endless')", "restless"), "/endless": never}


async def test_a_page_that_never_settles_is_not_kept(pool: BrowserPool) -> None:
    async with guessed(pool, RESTLESS, "/restless", options=HASTY) as run:
        assert run.verdicts.account.refusals == {"not-kept": 1}
        await run.see("/restless")
        assert (run.uses, run.site.count("/restless")) == ((0, 1), 2)


async def test_who_waits_for_a_page_that_never_settles_need_not_load_it_again(pool: BrowserPool) -> None:
    site = Website({"/": "<a href=/restless>Restless</a>", **RESTLESS})
    gate = site.shut("/restless")
    async with started(pool, site, "/restless", options=HASTY) as run:
        await site.arrived("/restless")
        async with asyncio.TaskGroup() as group:
            seen = group.create_task(run.see("/restless"))
            await asyncio.sleep(0)
            gate.set()
        assert "restless" in seen.result()
        assert (run.verdicts.account.joins, site.count("/restless")) == (1, 1)
        await run.see("/restless")
        assert site.count("/restless") == 2


async def test_what_must_not_be_stored_serves_the_next_step_only(pool: BrowserPool) -> None:
    async with guessed(pool, {"/now": answers("<p>now</p>", Cache_Control="no-store")}, "/now") as run:
        assert "now" in await run.see("/now")
        assert (run.uses, run.site.count("/now")) == ((1, 0), 1)
        await run.see("/plain")
        assert "now" in await run.see("/now")
        assert (run.uses, run.site.count("/now")) == ((1, 2), 2)


@pytest.mark.parametrize(
    ("header", "guess", "visit"),
    [('params=("from")', "/list?from=menu", "/list?from=footer"), ("key-order", "/list?a=1&b=2", "/list?b=2&a=1")],
    ids=["params", "key-order"],
)
async def test_one_load_serves_all_addresses_that_name_one_page(
    pool: BrowserPool, header: str, guess: str, visit: str
) -> None:
    async with guessed(pool, {"/list": answers("<p>list</p>", No_Vary_Search=header)}, guess) as run:
        assert "list" in await run.see(visit)
        assert run.uses == (1, 0)
        assert (run.site.count(guess), run.site.count(visit)) == (1, 0)


@pytest.mark.parametrize(
    "sign_in",
    [answers("<p>welcome</p>", Set_Cookie="who=me; Path=/"), script("document.cookie = 'who=me; path=/'")],
    ids=["by-server", "by-script"],
)
async def test_a_page_older_than_the_session_is_loaded_anew(pool: BrowserPool, sign_in: str | Answer) -> None:
    async with guessed(pool, {"/welcome": sign_in, "/who": show_cookie}, "/who") as run:
        await run.see("/welcome")
        assert "cookie: me" in await run.see("/who")
        assert (run.uses, run.site.count("/who")) == ((0, 2), 2)


async def test_a_failed_look_ahead_is_neither_served_nor_felt(pool: BrowserPool) -> None:
    async with guessed(pool, {"/odd": unless_ahead(break_off)}, "/odd") as run:
        assert run.verdicts.account.refusals == Counter({"failed": 1})
        assert "for people only" in await run.see("/odd")
        assert run.uses == (0, 1)


async def test_a_look_ahead_ends_with_its_run(pool: BrowserPool) -> None:
    site = Website({"/": "<p>first</p><a href='/slow'>Slow</a>", "/slow": "<p>slow</p>"})
    site.shut("/slow")
    async with started(pool, site, "/slow") as run:
        await site.arrived("/slow")
        await run.environment.aclose()
        assert "leased=0" in repr(pool)
        names = [task.get_name() for task in asyncio.all_tasks()]
        assert [name for name in names if name.startswith(("speculate", "flight", "predict"))] == []
