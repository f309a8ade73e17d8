"""What loading ahead owes to a host: its robots.txt is obeyed, and a host in trouble is left alone.

Invariant: only speculation is held back. A real action is a person's wish and is never delayed here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from browser.observation import Document
from browser.speculation.politeness import Politeness, PolitenessOptions
from browser.speculation.robots import Robots


class Courtesy:
    """What all sessions of one pool know of the hosts they visit.

    Args:
        proxy: Gives the proxy that robots.txt is fetched through; None: the environment's, if any.
        loads_per_second: Loads that may begin at one host; None: any number.

    Resource handling: owns the fetches of robots.txt under way; close it with `aclose()`.
    """

    def __init__(
        self, *, proxy: Callable[[], str | None] = lambda: None, loads_per_second: float | None = None
    ) -> None:
        self._robots = Robots(proxy=proxy)
        self._politeness = Politeness(
            crawl_delay_seconds=self._robots.crawl_delay_seconds,
            options=PolitenessOptions(max_loads_per_second=loads_per_second),
        )

    def prepare(self, url: str) -> None:
        """Begin to find out what the site's robots.txt says, so that it is known when the first guesses come."""
        self._robots.prepare(url)

    def refusal(self, url: str) -> str | None:
        """Say why nothing may be loaded ahead from here now; None if it may. What is not known yet is not allowed."""
        return self._politeness.refusal(url) or self._robots.known(url)

    async def forbids(self, url: str) -> str | None:
        """Say the same of the site's rules alone, once they are known: they are fetched where they are not there.

        Cancellation: takes this caller out.
        """
        return await self._robots.refusal(url)

    @contextmanager
    def load(self, url: str) -> Iterator[None]:
        """Count one load ahead while it runs.

        Raises:
            Unspeculable: The host has enough to do.
        """
        with self._politeness.load(url):
            yield

    def began(self, url: str) -> None:
        """Count a real load that begins."""
        self._politeness.began(url)

    def observe(self, document: Document) -> None:
        """Learn from an answer: a host that says 429 or 503 is left alone for as long as it asks."""
        if document.status is not None:
            self._politeness.observe(document.url, status=document.status, headers=document.headers)

    async def aclose(self) -> None:
        """End what is under way; may be called twice."""
        await self._robots.aclose()
