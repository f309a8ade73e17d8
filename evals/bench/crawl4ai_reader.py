"""crawl4ai as one of the compared programs, in an interpreter of its own: what it depends on need not fit this project.

Invariant: its process is gone when the block ends.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from browser.engine.chromium import find_chromium
from evals.bench.contents import Contents, text_of
from evals.bench.page_readers import CRAWLER, Load, Round

_WORKER = Path(__file__).with_name("crawl4ai_worker.py")
_MAX_LINE_BYTES = 1 << 28
_END_SECONDS = 15.0


class Crawl4aiReader:
    """crawl4ai with its defaults: one browser, one context, a fresh page in it for each load.

    Args:
        process: The worker.
    """

    name = CRAWLER

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        assert process.stdin is not None and process.stdout is not None  # noqa: S101, PT018 - tells the type checker
        self._process = process
        self._stdin = process.stdin
        self._stdout = process.stdout

    @classmethod
    @asynccontextmanager
    async def opened(cls, python: Path) -> AsyncIterator[Crawl4aiReader]:
        """Start it with an interpreter that has it, for the length of the block.

        Raises:
            RuntimeError: It does not start.
        """
        pipe = asyncio.subprocess.PIPE
        with TemporaryDirectory(prefix="crawl4ai-") as folder:
            process = await asyncio.create_subprocess_exec(
                python,
                _WORKER,
                find_chromium().executable,
                stdin=pipe,
                stdout=pipe,
                limit=_MAX_LINE_BYTES,
                env={**os.environ, "CRAWL4_AI_BASE_DIRECTORY": folder},
            )
            reader = cls(process)
            try:
                await reader._answer()
                yield reader
            finally:
                await reader.aclose()

    async def read(self, base: str, pages: Sequence[Contents], *, concurrency: int) -> Round:
        """Read pages, each as the HTML that it was rendered to."""
        request = {"urls": [base + page.path for page in pages], "concurrency": concurrency}
        self._stdin.write(json.dumps(request).encode() + b"\n")
        answer = await self._answer()
        loads = [
            Load(seconds=seconds, complete=page.complete(text_of(html)))
            for page, (seconds, html) in zip(pages, answer["loads"], strict=True)
        ]
        return Round(seconds=answer["seconds"], loads=tuple(loads))

    async def _answer(self) -> dict[str, Any]:
        line = await self._stdout.readline()
        if not line:
            raise RuntimeError("crawl4ai ended: what it printed above says why")
        answer: dict[str, Any] = json.loads(line)
        return answer

    async def aclose(self) -> None:
        """End the process; may be called twice."""
        try:
            async with asyncio.timeout(_END_SECONDS):
                self._stdin.close()
                await self._process.wait()
        except TimeoutError:
            self._process.kill()
            await self._process.wait()
