"""The OpenAI tools loop, streamed: while the model still writes its second call, its first runs already."""

import asyncio
import json

from aiohttp import web
from openai import AsyncOpenAI

from agent.adapters.openai_tools import run_tools
from speccache import SpeculativeTools

TASK = [{"role": "user", "content": "Where are the orders 7-1, 7-2 and 7-3?"}]
PARAMETERS = {"type": "object", "properties": {"order": {"type": "string"}}, "required": ["order"]}
SCHEMAS = [{"type": "function", "function": {"name": "track", "parameters": PARAMETERS}}]


async def track(order: str) -> str:
    await asyncio.sleep(0.25)
    return f"{order} is in Lund"


def written(at: int, order: str) -> dict[str, object]:
    function = {"name": "track", "arguments": json.dumps({"order": order})}
    return {"tool_calls": [{"index": at, "id": f"call_{at}", "type": "function", "function": function}]}


async def stand_in(request: web.Request) -> web.StreamResponse:
    """Write three calls as slowly as a model does, then the answer."""
    said = (await request.json())["messages"]
    told = "; ".join(each["content"] for each in said if each["role"] == "tool")
    deltas = [{"content": told}] if told else [written(at, f"7-{at + 1}") for at in range(3)]
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
    await response.prepare(request)
    for delta in deltas:
        await asyncio.sleep(0.3)
        chunk = {"choices": [{"index": 0, "delta": delta}]}
        await response.write(f"data: {json.dumps(chunk)}\n\n".encode())
    await response.write(b"data: [DONE]\n\n")
    return response


async def main() -> None:
    application = web.Application()
    application.router.add_post("/chat/completions", stand_in)
    runner = web.AppRunner(application)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    async with AsyncOpenAI(base_url=url, api_key="none") as client, SpeculativeTools({"track": track}) as tools:
        conversation = await run_tools(client, tools, model="any", messages=TASK, schemas=SCHEMAS, stream=True)
    await runner.cleanup()
    print(conversation.answer)
    account = tools.account
    print(f"{account.hits} hits, {account.misses} misses; {account.hidden_seconds:.2f} s saved")


asyncio.run(main())
