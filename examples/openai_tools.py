"""The OpenAI tools loop: while the model thinks, the call it is likely to make next runs already."""

import asyncio
import json
import os
from collections.abc import Sequence

from openai import AsyncOpenAI

from agent.adapters.openai_tools import run_tools
from evals.scripted_model import scripted_model
from speccache import SpeculativeTools, ToolCall

TASK = [{"role": "user", "content": "Where are the orders of user 7? Look at one after the other."}]


def schema(name: str, argument: str) -> dict[str, object]:
    parameters = {"type": "object", "properties": {argument: {"type": "string"}}, "required": [argument]}
    return {"type": "function", "function": {"name": name, "parameters": parameters}}


async def list_orders(user: str) -> list[str]:
    await asyncio.sleep(0.15)
    return [f"{user}-{number}" for number in range(1, 6)]


async def track(order: str) -> str:
    await asyncio.sleep(0.15)
    return f"{order} is in Lund"


def stand_in(results: Sequence[str]) -> ToolCall | str:
    if not results:
        return ToolCall("list_orders", {"user": "7"})
    orders = json.loads(results[0])
    left = orders[len(results) - 1 :]
    return ToolCall("track", {"order": left[0]}) if left else "; ".join(results[1:])


async def main() -> None:
    schemas = [schema("list_orders", "user"), schema("track", "order")]
    model = AsyncOpenAI() if "OPENAI_API_KEY" in os.environ else scripted_model(stand_in, think_seconds=0.25)
    async with model as client, SpeculativeTools({"list_orders": list_orders, "track": track}) as tools:
        conversation = await run_tools(client, tools, model="gpt-5-mini", messages=TASK, schemas=schemas)
    print(conversation.answer)
    account = tools.account
    print(f"{account.hits} hits, {account.misses} misses; {account.hidden_seconds:.2f} s saved")


asyncio.run(main())
