"""LangChain's tools, with likely next calls run ahead; for LangGraph's `ToolNode` and whatever else awaits tools.

Invariant: a tool that comes out has the name, description and schema of the one that went in, and returns or raises the
same. It only awaits: called without `await`, it would pass the cache by, so that is refused. What runs ahead was given
to the tool's schema like a call, and is what a call with these arguments runs.

Needs `langchain-core`, which whoever has such tools has.
"""

from __future__ import annotations

import functools
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Hashable, Mapping, Sequence
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass
from typing import Any

from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.config import var_child_runnable_config
from langchain_core.tools import BaseTool, StructuredTool, Tool

from agent.adapters.blocking_calls import BlockingCalls
from speccache.account import Account
from speccache.errors import InvalidCall
from speccache.tool_environment import Function, ToolCall
from speccache.tools import SpeculativeTools, ToolOptions

_Threaded = Callable[[Callable[[], Any]], Awaitable[Any]]
_Invoke = Callable[[BaseTool, Any], Awaitable[Any]]

_UNHEARD: RunnableConfig = {"callbacks": []}
"""Callbacks and traces are told of calls, not of what runs ahead."""


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
    tools: Sequence[BaseTool],
    *,
    reads: Collection[str],
    options: ToolOptions = ToolOptions(),
    state: Callable[[], Hashable] = lambda: None,
    **more: Any,
) -> AsyncIterator[Toolkit]:
    """Wrap tools that one conversation uses.

    Guesses are read by the tools' schemas, as the model's calls are; what a schema refuses is not run ahead. Neither is
    a call with an argument that, once it is read, is no JSON (a run's state, its configuration, a pydantic model).

    Args:
        tools: All tools of the conversation: one with effects outdates what was run ahead.
        reads: The names of those that change nothing; only these are run ahead.
        options: How much runs ahead, and how old a result may be when it is served.
        state: Names everything else that reads depend on; see `SpeculativeTools`.
        more: `predict`, `copied` and `listener` of `SpeculativeTools`.

    Resource handling: what runs ahead ends with the block, and so do the threads of tools that block, once these have
    ended; the wrapped tools must not be used afterwards.

    Raises:
        ValueError: There is no tool of a name in `reads`, or a tool does not say what arguments it takes.
    """
    with closing(BlockingCalls("tool", max_ahead=options.max_running)) as threads:
        functions = {tool.name: _called(tool, threads) for tool in tools}
        unknown = set(reads) - functions.keys()
        if unknown:
            raise ValueError(f"there is no tool {min(unknown)!r}, only {', '.join(sorted(functions))}")
        wrapped: dict[str, BaseTool] = {}
        async with SpeculativeTools(
            {name: function for name, function in functions.items() if name in reads},
            writes={name: function for name, function in functions.items() if name not in reads},
            ahead={tool.name: _ahead(tool, threads) for tool in tools if tool.name in reads},
            as_called=lambda guess: _as_called(guess, wrapped),
            options=options,
            # A thread cannot be stopped: what a cancelled call writes in one comes after the call has ended.
            state=lambda: (state(), threads.unheard),
            **more,
        ) as calls:
            wrapped |= {tool.name: _wrapped(tool, functions[tool.name], calls) for tool in tools}
            yield Toolkit(tools=tuple(wrapped.values()), calls=calls)


def _called(tool: BaseTool, threads: BlockingCalls) -> Function:
    """Return what a call of a tool runs, below its reading of arguments and its handling of errors."""
    if isinstance(tool, StructuredTool):
        return tool.coroutine or _threaded(tool, threads.called)
    if isinstance(tool, Tool) and tool.args_schema is None:
        raise ValueError(f"the tool {tool.name!r} does not say what its argument is: give it an args_schema")
    return _invoking(tool, lambda bare, given: bare.ainvoke(given))


def _ahead(tool: BaseTool, threads: BlockingCalls) -> Function:
    """Return what runs the same ahead."""
    if isinstance(tool, StructuredTool):
        return _unheard(tool.coroutine or _threaded(tool, threads.ahead))
    if _is_async(tool):
        return _invoking(tool, lambda bare, given: bare.ainvoke(given, _UNHEARD))
    return _invoking(tool, lambda bare, given: threads.ahead(lambda: bare.invoke(given, _UNHEARD)))


def _unheard(function: Function) -> Function:
    @functools.wraps(function)
    async def run(**arguments: Any) -> Any:
        # Whatever runs ahead has a task, and so a context, of its own: what is set here does not reach the calls.
        var_child_runnable_config.set({**(var_child_runnable_config.get() or {}), **_UNHEARD})
        return await function(**arguments)

    return run


def _is_async(tool: BaseTool) -> bool:
    if isinstance(tool, Tool):
        return tool.coroutine is not None
    return type(tool)._arun is not BaseTool._arun  # noqa: SLF001 - LangChain itself has no other sign of it


def _threaded(tool: StructuredTool, in_thread: _Threaded) -> Function:
    blocking = tool.func
    if blocking is None:
        raise ValueError(f"the tool {tool.name!r} has no function")

    @functools.wraps(blocking)
    async def run(**arguments: Any) -> Any:
        return await in_thread(functools.partial(blocking, **arguments))

    return run


def _invoking(tool: BaseTool, invoke: _Invoke) -> Function:
    # What the wrapper does is not done twice: reading arguments, telling the tool's own callbacks. And what becomes of
    # errors is left to it: an error that became a text would be kept like a result.
    left = {"handle_tool_error": False, "handle_validation_error": False, "args_schema": None, "callbacks": None}
    bare = tool.model_copy(update=left)

    async def run(**arguments: Any) -> Any:
        if tool.response_format != "content_and_artifact":
            return await invoke(bare, arguments)
        message = await invoke(bare, {"type": "tool_call", "id": "", "name": tool.name, "args": arguments})
        return message.content, message.artifact

    return run


def _as_called(guess: ToolCall, tools: Mapping[str, BaseTool]) -> ToolCall:
    """Read the arguments of a guess as LangChain reads those of a call."""
    tool = tools.get(guess.name)
    if tool is None:
        return guess
    try:
        # The only way to have them read without a run, of which callbacks and traces would be told.
        _, arguments = tool._to_args_and_kwargs(dict(guess.arguments), None)  # noqa: SLF001
    except (ValueError, TypeError) as error:  # pydantic's ValidationError is a ValueError
        raise InvalidCall(f"{guess.name}: {error}") from error
    return ToolCall(guess.name, arguments)


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
        # Without a schema of its own a tool takes what it is given: as JSON, the one that is shown reads nothing.
        args_schema=tool.args_schema or tool.get_input_jsonschema(),
        coroutine=run,
        return_direct=tool.return_direct,
        response_format=tool.response_format,
        handle_tool_error=tool.handle_tool_error,
        handle_validation_error=tool.handle_validation_error,
        tags=tool.tags,
        metadata=tool.metadata,
        callbacks=tool.callbacks,
    )
