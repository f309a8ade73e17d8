"""The web as a speculable environment: pages, links, and one place to stand.

Invariant: what an action shows depends only on the page stood on, on the session's cookies, and on what the session
has done on the site; all three are in the key.
"""

from __future__ import annotations

from collections.abc import Collection
from contextlib import AbstractContextManager

from playwright.async_api import Page

from browser.acting.allowance import Allowance
from browser.acting.outcome import told, told_of_file
from browser.action import Action, Back, Find, Forward, Interaction, Looking, More, Search, Visit
from browser.address import page_key, same_site
from browser.arrival import as_asked, permitted, refused
from browser.destination import no_link, resolve
from browser.errors import ActionFailed, SlotCrashed
from browser.foreground import Foreground
from browser.history import History
from browser.observation import Document, Observation
from browser.page import LoadOptions
from browser.pool import BrowserPool
from browser.search.desk import SearchDesk
from browser.search.engine import SearchEngine
from browser.session.holding import Holding
from browser.session.identity import Identity
from browser.session.session import Session
from browser.session.storage_state import StorageState
from browser.slots.slot_queue import Rank
from browser.speculation.ahead import Ahead
from browser.speculation.gate import visit_refusal
from browser.speculation.page_names import PageNames
from browser.speculation.robots import UNKNOWN
from browser.speculation.verdict import lifetime
from browser.window import found, shown, unmoved
from speccache.errors import Unspeculable
from speccache.store import Lifetime


class WebEnvironment:
    """One question's walk through the web.

    Args:
        pool: Where pages are loaded.
        named_hosts: Hosts the user named; only these may be private addresses.
        part_chars: Length of one part of a page, in characters.
        load_options: Limits of one load.
        allowance: What may be uploaded and typed.
        session: What sites have stored with it; None: one of its own.
        identity: Who it is to the sites; None: whom the pool's options name.
        search: The search engine, whose host counts as named; None: there is none.

    Resource handling: holds one foreground slot of the pool from its first step on; `aclose()` gives it back.
    """

    def __init__(
        self,
        pool: BrowserPool,
        *,
        named_hosts: Collection[str] = (),
        part_chars: int = 16_000,
        load_options: LoadOptions = LoadOptions(),
        allowance: Allowance = Allowance(),
        session: Session | None = None,
        identity: Identity | None = None,
        search: SearchEngine | None = None,
    ) -> None:
        self._pool = pool
        self._desk = SearchDesk(search, named_hosts=named_hosts)
        self.named_hosts = self._desk.named_hosts
        """Hosts that may be private, as the user named them; the search engine's is one."""
        self.egress = pool.egress
        self._part_chars = part_chars
        self._allowance = allowance
        self._owner = object()
        self._closed = False
        pool.egress.rule.allow(self.named_hosts)
        self._holding = Holding(session or Session(), identity or pool.options.identity)
        read = self._desk.read
        self._foreground = Foreground(pool, self._holding, load_options=load_options, allowance=allowance, read=read)
        self._ahead = Ahead(
            pool, self._holding, owner=self._owner, load_options=load_options, allowance=allowance, read=read
        )
        self._history = History()
        self._known_as = self._holding.name
        self._names = PageNames()

    def address(self, action: Action, /) -> str | None:
        """Say where a visit or a search leads from here; None where it leads nowhere, and for other actions."""
        match action:
            case Visit():
                return resolve(action.target, self._history.here)
            case Search():
                return self._desk.address(action.query)
            case _:
                return None

    def key(self, action: Action, /) -> str | None:
        """Name the page an action leads to, and the session it is seen in; what leads nowhere has no key."""
        url = self.address(action)
        if url is None:
            return None
        version, stored = self._history.version(url), self._ahead.storage_name(url)
        session = self._holding.name + (f"+{version}" if version else "") + (f"~{stored}" if stored else "")
        return f"{self._names.key(url)} {session} {self._holding.identity.name}{self._desk.mark(url)}"

    def refusal(self, action: Action, seen: Observation | None = None, /) -> str | None:
        """Say why an action must not be run ahead; None if it may be.

        Args:
            action: The action.
            seen: The page it was guessed from. With it, only links that a person could see on it or on a page visited
                are let through; without it, an address is judged by itself where it stands on no page.
        """
        here, url, reason = seen or self._history.here, self.address(action), None
        if url is None or (here is None and not isinstance(action, Search)):
            return "not-a-visit"
        if here is not None and not isinstance(action, Search):  # the user named the engine
            pages, is_found = (here, *self._history.pages), self._desk.has_found(url)
            reason = visit_refusal(url, here=here, pages=pages, must_be_linked=seen is not None, found=is_found)
        reason = reason or self._pool.courtesy.refusal(url)
        # The rules of another site are fetched when a load there is about to begin: see `peek`.
        return None if reason == UNKNOWN and not (here and same_site(url, here.url)) else reason

    def lifetime(self, observation: Observation, /) -> Lifetime:
        """Tell for how long an observation may be used again: as its server says, within our own bounds."""
        return lifetime(observation.document)

    async def step(self, action: Action, /) -> Observation:
        """Do the action for real.

        Raises:
            SlotCrashed: The browser died twice under the same load.
            BrowserNotFound: There is no Chromium on this machine.
            LaunchFailed: It does not start.
        """
        match action:
            case Visit() | Search():
                return await self._visit(action)
            case Back():
                return await self._move(-1)
            case Forward():
                return await self._move(1)
            case More():
                return self._more()
            case Find():
                return self._find(action.text)
            case _:
                return await self._interact(action)

    async def peek(self, action: Action, /) -> Observation:
        """Load a page in a spare slot, under guard.

        Raises:
            Unspeculable: The page must not be loaded ahead, or must not be kept.
        """
        reason, url, key = self.refusal(action), self.address(action), self.key(action)
        if reason is not None or url is None:
            raise Unspeculable(reason or "not-a-visit")
        links = self._history.here.links if self._history.here else ()
        is_near = isinstance(action, Search) or any(page_key(link.url) == page_key(url) for link in links)
        reason = await self._pool.courtesy.forbids(url)
        if reason is not None or self.key(Visit(url)) != key:
            raise Unspeculable(reason or "moved-on")
        document = await self._ahead.load(url, rank=Rank.GUESS if is_near else Rank.DEEPER)
        self._learn(document)
        return self._show(document)

    def urgent(self) -> AbstractContextManager[None]:
        """Let what this environment loads ahead go first, for as long as somebody waits for it."""
        return self._pool.urgent(self._owner)

    def _learn(self, document: Document) -> None:
        self._names.learn_redirect(document.requested_url, document.url)
        self._names.learn(document.url, document.headers.get("no-vary-search", ""))

    async def adopt(self, action: Action, observation: Observation, /) -> Observation:
        """Stand on a page that was loaded elsewhere; the foreground page catches up when something needs it."""
        seen = as_asked(observation, self.address(action))
        self._ahead.adopt(observation.document, seen=seen.document)
        self._history.push(seen)
        return seen

    async def live(self) -> Page:
        """Return the foreground page, showing the page stood on; one that was loaded ahead is loaded again for it.

        The spare page it came from cannot take its place: it lives in the browser that real actions keep out of, and
        the guard took away what a page may need (sockets, workers).

        Raises:
            SlotCrashed: The browser died twice under the load.
        """
        here = self._history.here
        return await self._foreground.live(here.document if here else None)

    async def _visit(self, action: Visit | Search) -> Observation:
        url = self.address(action)
        if url is None:
            return self._cannot(
                self._desk.cannot(action.query) if isinstance(action, Search) else no_link(action.target)
            )
        document = refused(url, named_hosts=self.named_hosts)
        if document is None:
            self._pool.courtesy.prepare(url)
            document = await self._load(url)
            self._pool.courtesy.observe(document)
        observation = self._show(self._permitted(document))
        self._history.push(observation)
        return observation

    async def _load(self, url: str) -> Document:
        document = await self._foreground.load(url)
        self._see_session()
        self._learn(document)
        return document

    def _see_session(self) -> None:
        if self._holding.name != self._known_as:
            self._names = PageNames()  # where a redirect leads depends on who asks
        self._known_as = self._holding.name

    async def _interact(self, action: Interaction) -> Observation:
        here = self._history.here
        if here is None or here.document.problem is not None:
            return self._cannot("There is no page to act on.")
        if here.document.download is not None:
            return self._cannot("This is a file, which can only be read. Go back to act on the page.")
        if self._desk.is_list(here.document):
            return self._cannot("This is a list of search results, which can only be read. Visit one by its number.")
        if not isinstance(action, Looking):
            self._history.outdate([here.url])  # also where it fails, or is cancelled half-way
        try:
            outcome = await self._foreground.act(here.document, action)
        except ActionFailed as failed:
            return self._cannot(str(failed))
        except SlotCrashed as crashed:
            return self._cannot(f"{crashed}. Whether it was done before is not known.")
        self._see_session()
        self._history.outdate(outcome.origins)
        seen = self._show(self._permitted(outcome.document), part=1 if outcome.moved else here.part)
        observation = told(outcome, seen, before=here)
        (self._history.push if outcome.moved else self._history.replace)(observation)
        if outcome.file is not None:
            observation = told_of_file(outcome, self._show(self._permitted(outcome.file)))
            self._history.push(observation)
        return observation

    def _permitted(self, document: Document) -> Document:
        return permitted(document, named_hosts=self.named_hosts)

    async def _move(self, steps: int) -> Observation:
        if not self._history.move(steps):
            return self._cannot(f"There is no page to go {'back' if steps < 0 else 'forward'} to.")
        here = self._history.here
        if here is not None and here.document.download is None and not self._history.holds:
            document = await self._foreground.look_again(here.document)
            self._see_session()
            self._history.replace(self._show(document))
        return self._history.here or self._cannot("No page is open.")

    def _more(self) -> Observation:
        here = self._history.here
        if here is None or here.part >= here.parts:
            return self._cannot("This page has no further part.")
        observation = self._show(here.document, part=here.part + 1)
        self._history.replace(observation)
        return observation

    def _find(self, text: str) -> Observation:
        here = self._history.here
        return found(here, text, max_chars=self._part_chars) if here else self._cannot("No page is open.")

    def _cannot(self, why: str) -> Observation:
        return unmoved(self._history.here, why)

    def _show(self, document: Document, *, part: int = 1) -> Observation:
        return shown(document, part=part, part_chars=self._part_chars)

    async def storage_state(self) -> StorageState:
        """Return what sites have stored with the session, to be kept for another run."""
        return await self._foreground.storage_state()

    async def aclose(self) -> None:
        """Give the foreground slot back, and what speculation has open for this session."""
        if not self._closed:
            self._closed = True
            self._pool.egress.rule.withdraw(self.named_hosts)
        try:
            await self._foreground.aclose()
        finally:
            await self._ahead.aclose()

    def __repr__(self) -> str:
        return f"<WebEnvironment at={here.url if (here := self._history.here) else None} pages={len(self._history)}>"
