"""A worker process: walks through pages beside others, with a cheap environment in a browser's place.

It says when it is ready, and begins when it is told to.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Sequence

from aiohttp import ClientSession

from browser import Action, Document, Observation, Readiness, Timings, Visit
from browser.shared_cache.address import parse_cache_address
from browser.shared_cache.cache import SharedCache, SharedCacheOptions
from browser.shared_cache.link import CacheLink, LinkOptions
from speccache import Guess, SpeculativeEnvironment, Step

_PATIENT = SharedCacheOptions(target_seconds=60.0, ahead_seconds=60.0)


class Fetching:
    """The web without a browser: an answer's text is the page's."""

    def __init__(self, session: ClientSession) -> None:
        self._session = session

    def key(self, action: Action) -> str | None:
        return f"{action.target} anonymous viewport en-US" if isinstance(action, Visit) else None

    async def peek(self, action: Action) -> Observation:
        assert isinstance(action, Visit)
        async with self._session.get(action.target) as answer:
            document = Document(
                requested_url=action.target,
                url=action.target,
                status=answer.status,
                content_type=answer.content_type,
                title="",
                markdown=await answer.text(),
                links=(),
                controls=(),
                readiness=Readiness.STATIC,
                timings=Timings(),
                headers={name.lower(): value for name, value in answer.headers.items()},
            )
        return Observation(document=document, text=document.markdown, parts=1)

    step = peek

    async def adopt(self, action: Action, observation: Observation) -> Observation:
        return observation

    async def aclose(self) -> None:
        pass


class NextOnes:
    """Guesses the next two pages."""

    name = "next"

    def __init__(self, urls: Sequence[str]) -> None:
        self._urls = urls

    async def predict(self, trajectory: Sequence[Step[Action, Observation]]) -> AsyncIterator[Guess[Action]]:
        for rank, url in enumerate(self._urls[len(trajectory) : len(trajectory) + 2], start=1):
            yield Guess(action=Visit(url), predictor=self.name, rank=rank)


async def main(cache: str, site: str, *paths: str) -> None:
    urls = [site + path for path in paths]
    options = LinkOptions(patience_seconds=60.0, open_seconds=60.0)
    async with ClientSession() as session, CacheLink(parse_cache_address(cache), options=options) as link:
        web = Fetching(session)
        level = SharedCache(link, name_of=web.key, part_chars=2000, named_hosts={"127.0.0.1"}, options=_PATIENT)
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        await asyncio.to_thread(sys.stdin.readline)
        environment = SpeculativeEnvironment(web, predictors=[NextOnes(urls)], second_level=level)
        texts = [(await environment.step(Visit(url))).text for url in urls]
        await environment.aclose()
    sys.stdout.write(f"read {len(texts)} pages\n")


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
