"""A chat-completions endpoint on loopback behind which a function decides: for examples that need no key.

Invariant: the same results of tools get the same reply, after the same time to think.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any

from aiohttp import web
from openai import AsyncOpenAI

from speccache.tool_environment import ToolCall

Decide = Callable[[Sequence[str]], ToolCall | str]
"""Decides from what the tools returned so far: another call, or the answer."""


@asynccontextmanager
async def scripted_model(decide: Decide, *, think_seconds: float) -> AsyncIterator[AsyncOpenAI]:
    """Serve it, and open a client for it.

    Args:
        decide: Decides.
        think_seconds: How long each reply takes.
    """

    async def answer(request: web.Request) -> web.Response:
        said = (await request.json())["messages"]
        await asyncio.sleep(think_seconds)
        message = _message(decide([each["content"] for each in said if each["role"] == "tool"]), number=len(said))
        choice = {"index": 0, "finish_reason": "tool_calls" if "tool_calls" in message else "stop", "message": message}
        completion = {"id": "scripted", "object": "chat.completion", "created": 0, "model": "scripted"}
        return web.json_response({**completion, "choices": [choice]})

    application = web.Application()
    application.router.add_post("/v1/chat/completions", answer)
    runner = web.AppRunner(application, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        base_url = f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
        async with AsyncOpenAI(base_url=base_url, api_key="none-needed", max_retries=0) as client:
            yield client
    finally:
        await runner.cleanup()


def _message(decided: ToolCall | str, *, number: int) -> dict[str, Any]:
    if isinstance(decided, str):
        return {"role": "assistant", "content": decided}
    function = {"name": decided.name, "arguments": json.dumps(dict(decided.arguments))}
    call = {"id": f"call_{number}", "type": "function", "function": function}
    return {"role": "assistant", "content": None, "tool_calls": [call]}
