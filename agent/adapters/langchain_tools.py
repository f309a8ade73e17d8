"""LangChain's tools, with likely next calls run ahead; for LangGraph's `ToolNode` and whatever else awaits tools.

Invariant: a tool that comes out has the name, description and schema of the one that went in, and returns or raises the
same. It only awaits: called without `await`, it would pass the cache by, so that is refused.

Needs `langchain-core`, which whoever has such tools has.
"""

from __future__ import annotations

import asyncio
import functools
from collections.abc import AsyncIterator, Collection, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from langchain_core.tools import BaseTool, StructuredTool, Tool

from speccache.account import Account
from speccache.tool_environment import Function
from speccache.tools import SpeculativeTools


@dataclass(frozen=True, slots=True, kw_only=True)
class Toolkit:
    """LangChain's tools with speculation between their calls.

    Attributes:
        tools: The tools, in the order they were given.
        calls: What runs them.
    """

    tools: Sequence[BaseTool]
    calls: SpeculativeTools

    @property
    def account(self) -> Account:
        """Hits, joins, misses, and the seconds saved (`hidden_seconds`)."""
        return self.calls.account


@asynccontextmanager
async def speculative_toolkit(
    tools: Sequence[BaseTool], *, reads: Collection[str], **options: Any
) -> AsyncIterator[Toolkit]:
    """Wrap tools that one conversation uses.

    A call with an argument that is no JSON (a run's state, its configuration, a pydantic model) is never run ahead, and
    neither is one whose arguments the model chose badly: these are told it as ever.

    Args:
        tools: All tools of the conversation: one with effects outdates what was run ahead.
        reads: The names of those that change nothing; only these are run ahead.
        options: `predict`, `state`, `options` and `listener` of `SpeculativeTools`.

    Resource handling: what runs ahead ends with the block; the tools must not be used afterwards.

    Raises:
        ValueError: There is no tool of a name in `reads`, or a tool does not say what arguments it takes.
    """
    functions = {tool.name: _function(tool) for tool in tools}
    unknown = set(reads) - functions.keys()
    if unknown:
        raise ValueError(f"there is no tool {min(unknown)!r}, only {', '.join(sorted(functions))}")
    reading = {name: function for name, function in functions.items() if name in reads}
    writing = {name: function for name, function in functions.items() if name not in reads}
    async with SpeculativeTools(reading, writes=writing, **options) as calls:
        yield Toolkit(tools=[_wrapped(tool, functions[tool.name], calls) for tool in tools], calls=calls)


def _function(tool: BaseTool) -> Function:
    """Return what a tool runs, below its reading of arguments and its handling of errors."""
    if isinstance(tool, Tool) and tool.args_schema is None:
        raise ValueError(f"the tool {tool.name!r} does not say what its argument is: give it an args_schema")
    if not isinstance(tool, StructuredTool):
        return _invoking(tool)
    if tool.coroutine is not None:
        return tool.coroutine
    blocking = tool.func
    if blocking is None:
        raise ValueError(f"the tool {tool.name!r} has no function")

    @functools.wraps(blocking)
    async def run(**arguments: Any) -> Any:
        return await asyncio.to_thread(blocking, **arguments)

    return run


def _invoking(tool: BaseTool) -> Function:
    # What the tool makes of its errors is left to the wrapper: an error that became a text would be kept like a result.
    bare = tool.model_copy(update={"handle_tool_error": False, "handle_validation_error": False})

    async def run(**arguments: Any) -> Any:
        if tool.response_format != "content_and_artifact":
            return await bare.ainvoke(arguments)
        message = await bare.ainvoke({"type": "tool_call", "id": "", "name": tool.name, "args": arguments})
        return message.content, message.artifact

    return run


def _wrapped(tool: BaseTool, function: Function, calls: SpeculativeTools) -> BaseTool:
    # LangChain gives a function what its signature asks for, so the wrapper's has to be the same.
    @functools.wraps(function)
    async def run(**arguments: Any) -> Any:
        return await calls.call(tool.name, **arguments)

    if isinstance(tool, StructuredTool):
        return tool.model_copy(update={"coroutine": run, "func": None})
    return StructuredTool(
        name=tool.name,
        description=tool.description,
        args_schema=tool.args_schema or tool.get_input_schema(),
        coroutine=run,
        return_direct=tool.return_direct,
        response_format=tool.response_format,
        handle_tool_error=tool.handle_tool_error,
        handle_validation_error=tool.handle_validation_error,
        tags=tool.tags,
        metadata=tool.metadata,
        callbacks=tool.callbacks,
    )
