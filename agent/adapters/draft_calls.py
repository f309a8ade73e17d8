"""A small, fast model that names the calls a larger one may make next (arXiv 2510.16276).

Invariant: what it is asked depends on the task, the tools and the calls so far alone; it never runs anything.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any

from openai import AsyncOpenAI

from agent.adapters.openai_tools import content
from speccache.tool_environment import ToolCall
from speccache.tools import Calls


class DraftCalls:
    """Predicts by asking a model, as the `predict` of `SpeculativeTools`.

    Args:
        client: Where the model is asked; it stays the caller's.
        model: The model's name.
        messages: The task, as the larger model was told it.
        schemas: The tools as the chat-completions protocol wants them.
        options: More fields of each request, such as `temperature`.

    Cancellation: closes the request.
    """

    def __init__(
        self,
        client: AsyncOpenAI,
        *,
        model: str,
        messages: Sequence[Mapping[str, Any]],
        schemas: Sequence[Mapping[str, Any]],
        **options: Any,
    ) -> None:
        self._client = client
        self._request: dict[str, Any] = {"model": model, "tools": list(schemas), **options}
        self._messages = [dict(message) for message in messages]

    async def __call__(self, trajectory: Calls) -> AsyncIterator[ToolCall]:
        """Name the calls that the model would make now.

        Raises:
            openai.OpenAIError: The model could not be asked; `SpeculativeTools` counts it as a failure.
            ValueError: The arguments it wrote are no JSON.
            TypeError: They are no JSON object.
        """
        messages = list(self._messages)
        for number, step in enumerate(trajectory, start=1):
            call, identity = step.action, f"call_{number}"
            function = {"name": call.name, "arguments": json.dumps(dict(call.arguments), default=str)}
            messages += [
                {
                    "role": "assistant",
                    "content": None,
                    "tool_calls": [{"id": identity, "type": "function", "function": function}],
                },
                {"role": "tool", "tool_call_id": identity, "content": content(step.observation)},
            ]
        request = {**self._request, "messages": messages}
        completion = await self._client.chat.completions.create(**request)
        for wanted in completion.choices[0].message.tool_calls or ():
            if wanted.type == "function":
                yield ToolCall(wanted.function.name, dict(json.loads(wanted.function.arguments or "{}")))
