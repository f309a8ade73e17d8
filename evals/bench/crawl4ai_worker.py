"""Reads pages with crawl4ai; run by the interpreter that has it: `PYTHON crawl4ai_worker.py CHROMIUM`.

Invariant: one line of JSON in (`{"urls": [...], "concurrency": 2}`), one line out (`{"seconds": 1.5, "loads": [[0.7,
"<html>"]]}`, in the order of the addresses); it ends when its input ends. It imports nothing of this project.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from collections.abc import Sequence
from typing import Any, TextIO

from crawl4ai import (  # type: ignore[import-not-found]
    AsyncWebCrawler,
    BrowserConfig,
    CacheMode,
    CrawlerRunConfig,
)

# Its defaults, but for the cache of results on disk, which would answer without a load.
_CONFIG = CrawlerRunConfig(cache_mode=CacheMode.BYPASS, verbose=False)


async def serve(executable: str, answers: TextIO) -> None:
    """Answer one request after the other."""
    crawler = AsyncWebCrawler(config=BrowserConfig(headless=True, verbose=False))
    # It has no setting for the browser's path, and would look for the one of its own Playwright version.
    browsers = crawler.crawler_strategy.browser_manager
    arguments = browsers._build_browser_args  # noqa: SLF001
    browsers._build_browser_args = lambda: {**arguments(), "executable_path": executable}  # noqa: SLF001
    async with crawler:
        print(json.dumps({"ready": True}), file=answers, flush=True)
        while line := await asyncio.to_thread(sys.stdin.readline):
            request = json.loads(line)
            answer = await crawl(crawler, request["urls"], concurrency=request["concurrency"])
            print(json.dumps(answer), file=answers, flush=True)


async def crawl(crawler: Any, urls: Sequence[str], *, concurrency: int) -> dict[str, Any]:
    """Crawl addresses, so many at once."""
    waiting = iter(enumerate(urls))
    found: dict[int, tuple[float, str]] = {}

    async def work() -> None:
        for number, url in waiting:
            started_seconds = time.perf_counter()
            result = await crawler.arun(url, config=_CONFIG)
            found[number] = time.perf_counter() - started_seconds, result.html or ""

    started_seconds = time.perf_counter()
    async with asyncio.TaskGroup() as group:
        for _ in range(concurrency):
            group.create_task(work())
    seconds = time.perf_counter() - started_seconds
    return {"seconds": seconds, "loads": [found[number] for number in range(len(urls))]}


if __name__ == "__main__":
    # Whatever it prints by itself goes where it does not disturb.
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    asyncio.run(serve(sys.argv[1], answers))
