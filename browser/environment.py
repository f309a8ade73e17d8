"""The web as a speculable environment: pages, links, and one place to stand.

Invariant: what an action shows depends only on the page stood on, on the session's cookies, and on what the session
has done on the site; all three are in the key.
"""

from __future__ import annotations

import time
from collections.abc import Collection
from contextlib import AbstractContextManager
from dataclasses import replace

from playwright.async_api import Page

from browser.acting.allowance import Allowance
from browser.acting.outcome import told, told_of_file
from browser.action import Action, Back, Find, Forward, Interaction, Looking, More, Visit
from browser.address import check_address, page_key
from browser.destination import resolve
from browser.errors import ActionFailed, AddressRefused, SlotCrashed
from browser.foreground import Foreground
from browser.history import History
from browser.observation import Document, Observation, Readiness
from browser.page import LoadOptions
from browser.pool import BrowserPool
from browser.reading.parts import find, split_parts
from browser.session.holding import Holding
from browser.session.identity import Identity
from browser.session.session import Session
from browser.session.storage_state import StorageState
from browser.slots.slot_queue import Rank
from browser.speculation.ahead import Ahead
from browser.speculation.freshness import freshness, varies
from browser.speculation.gate import address_refusal, refusal
from browser.speculation.interstitial import is_interstitial
from browser.speculation.page_names import PageNames
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
    ) -> None:
        self._pool = pool
        self._named_hosts = frozenset(named_hosts)
        self._part_chars = part_chars
        self._allowance = allowance
        self._owner = object()
        self._closed = False
        pool.egress.rule.allow(self._named_hosts)
        self._holding = Holding(session or Session(), identity or pool.options.identity)
        self._foreground = Foreground(pool, self._holding, load_options=load_options, allowance=allowance)
        self._ahead = Ahead(pool, self._holding, owner=self._owner, load_options=load_options, allowance=allowance)
        self._history = History()
        self._known_as = self._holding.name
        self._names = PageNames()

    def key(self, action: Action, /) -> str | None:
        """Name the page a visit leads to, and the session it is seen in; other actions cost nothing and have no key."""
        if not isinstance(action, Visit):
            return None
        url = resolve(action.target, self._history.here)
        if url is None:
            return None
        version, stored = self._history.version(url), self._ahead.storage_name(url)
        session = self._holding.name + (f"+{version}" if version else "") + (f"~{stored}" if stored else "")
        return f"{self._names.key(url)} {session} {self._holding.identity.name}"

    def refusal(self, action: Action, seen: Observation | None = None, /) -> str | None:
        """Say why an action must not be run ahead; None if it may be.

        Args:
            action: The action.
            seen: The page it was guessed from. With it, only links that a person could see on it or on a page visited
                are let through; without it, an address is judged by itself where it stands on no page.
        """
        here = seen or self._history.here
        url = resolve(action.target, self._history.here) if isinstance(action, Visit) else None
        if url is None or here is None:
            return "not-a-visit"
        key, pages = page_key(url), (here, *self._history.pages)
        reasons = [
            refusal(link, page_url=page.url) for page in pages for link in page.links if page_key(link.url) == key
        ]
        if not reasons:
            reasons = [address_refusal(url, page_url=here.url), "not-a-link" if seen else None]
        return next(filter(None, reasons), None) or self._pool.courtesy.refusal(url)

    def lifetime(self, observation: Observation, /) -> Lifetime:
        """Tell for how long an observation may be used again: as its server says, within our own bounds."""
        document = observation.document
        failed = document.problem is not None or document.status is None or document.status >= 400
        if failed or is_interstitial(document) or document.readiness is Readiness.CAP or varies(document.headers):
            return Lifetime(max_age_seconds=0.0)  # the next look may find it whole
        return freshness(document.headers, now_seconds=time.time())

    async def step(self, action: Action, /) -> Observation:
        """Do the action for real.

        Raises:
            SlotCrashed: The browser died twice under the same load.
            BrowserNotFound: There is no Chromium on this machine.
            LaunchFailed: It does not start.
        """
        match action:
            case Visit():
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
        reason = self.refusal(action)
        if reason is not None or not isinstance(action, Visit):
            raise Unspeculable(reason or "not-a-visit")
        here = self._history.here
        url = str(resolve(action.target, here))
        near = here is None or any(page_key(link.url) == page_key(url) for link in here.links)
        document = await self._ahead.load(url, rank=Rank.GUESS if near else Rank.DEEPER)
        self._learn(document)
        return self._show(document)

    def urgent(self) -> AbstractContextManager[None]:
        """Let what this environment loads ahead go first, for as long as somebody waits for it."""
        return self._pool.urgent(self._owner)

    def _learn(self, document: Document) -> None:
        self._names.learn_redirect(document.requested_url, document.url)
        self._names.learn(document.url, document.headers.get("no-vary-search", ""))

    async def adopt(self, action: Action, observation: Observation, /) -> None:
        """Stand on a page that was loaded elsewhere; the foreground page catches up when something needs it."""
        self._ahead.adopt(observation.document)
        self._history.push(observation)

    async def live(self) -> Page:
        """Return the foreground page, showing the page stood on; one that was loaded ahead is loaded again for it.

        The spare page it came from cannot take its place: it lives in the browser that real actions keep out of, and
        the guard took away what a page may need (sockets, workers).

        Raises:
            SlotCrashed: The browser died twice under the load.
        """
        here = self._history.here
        return await self._foreground.live(here.document if here else None)

    async def _visit(self, action: Visit) -> Observation:
        url = resolve(action.target, self._history.here)
        if url is None:
            return self._cannot(
                f"There is no link {action.target!r} on this page, or several have that text: use its number."
            )
        try:
            check_address(url, named_hosts=self._named_hosts)
            self._pool.courtesy.prepare(url)
            document = await self._load(url)
            self._pool.courtesy.observe(document)
        except AddressRefused as refused:
            document = Document(requested_url=url, url=url, problem=f"{refused}.")
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
        try:
            # What a page made by itself has no address that anything could be reached at.
            is_made_here = document.download is not None and document.url.startswith(("blob:", "data:"))
            if document.problem is None and not is_made_here:
                check_address(document.url, named_hosts=self._named_hosts)
        except AddressRefused as refused:
            return Document(requested_url=document.requested_url, url=document.url, problem=f"{refused}.")
        return document

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
        if here is None:
            return self._cannot("No page is open.")
        passages = find(here.document.markdown, text, max_chars=self._part_chars)
        return replace(here, text=passages or f"The text {text!r} does not occur on this page.")

    def _cannot(self, why: str) -> Observation:
        here = self._history.here
        document = here.document if here else Document(requested_url="", url="", problem=why)
        return replace(here, text=why) if here else Observation(document=document, text=why)

    def _show(self, document: Document, *, part: int = 1) -> Observation:
        if document.problem is not None:
            return Observation(document=document, text=document.problem)
        parts = split_parts(document.markdown, self._part_chars) or ("(The page has no visible text.)",)
        part = min(part, len(parts))
        return Observation(document=document, text=parts[part - 1], part=part, parts=len(parts))

    async def storage_state(self) -> StorageState:
        """Return what sites have stored with the session, to be kept for another run."""
        return await self._foreground.storage_state()

    async def aclose(self) -> None:
        """Give the foreground slot back, and what speculation has open for this session."""
        if not self._closed:
            self._closed = True
            self._pool.egress.rule.withdraw(self._named_hosts)
        try:
            await self._foreground.aclose()
        finally:
            await self._ahead.aclose()

    def __repr__(self) -> str:
        return f"<WebEnvironment at={here.url if (here := self._history.here) else None} pages={len(self._history)}>"
