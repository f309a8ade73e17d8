"""Async functions as an environment: some only read, all others may change what those read.

Invariant: only functions named as reads are ever run ahead, and each answer comes from a run of its own: what was run
ahead serves one call, or those that wait for it side by side, and none that is made after a write began or after the
state changed.
"""

from __future__ import annotations

import copy
import inspect
import json
from collections.abc import Awaitable, Callable, Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any

from speccache.errors import InvalidCall, Unspeculable

Function = Callable[..., Awaitable[Any]]

_MAX_SERVED = 1_000
"""Of how many different calls it is remembered when each was made last."""


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call of a tool.

    Attributes:
        name: The tool's name.
        arguments: Its arguments by name.
    """

    name: str
    arguments: Mapping[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.name}({', '.join(f'{name}={value!r}' for name, value in self.arguments.items())})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What a tool returned.

    Attributes:
        value: The value; it is shared, so whoever hands it on copies it.
        ahead: Whether it was run before anyone asked for it.
    """

    value: Any
    ahead: bool = False


class ToolEnvironment:
    """Makes functions speculable.

    Args:
        reads: Functions that change nothing and may run side by side, by name.
        writes: Functions that may change what the reads return, by name.
        ahead: What runs a read ahead, by its name, where that is not the read itself: it takes and returns the same,
            but in a way that no call has to wait for.
        state: Names everything else that the reads depend on, context variables included (who is logged in, a version).
        copied: Copies what was run ahead; what it cannot copy is not kept, since it may have to serve several.

    Raises:
        ValueError: A name is both a read and a write, or no read is run ahead by it.
    """

    def __init__(
        self,
        reads: Mapping[str, Function],
        *,
        writes: Mapping[str, Function] | None = None,
        ahead: Mapping[str, Function] | None = None,
        state: Callable[[], Hashable] = lambda: None,
        copied: Callable[[Any], Any] = copy.deepcopy,
    ) -> None:
        self._reads = dict(reads)
        self._writes = dict(writes or {})
        both = self._reads.keys() & self._writes.keys()
        if both:
            raise ValueError(f"{min(both)!r} is named as a read and as a write: it can only be one of them")
        strange = (ahead or {}).keys() - self._reads.keys()
        if strange:
            raise ValueError(f"{min(strange)!r} is to be run ahead, but is no read")
        self._ahead = self._reads | dict(ahead or {})
        self._functions = self._reads | self._writes
        self._signatures = {name: inspect.signature(function) for name, function in self._functions.items()}
        self._state = state
        self._copied = copied
        # By the hash of its text: which of all calls of reads the last one like it was. Where two texts have one hash,
        # they only outdate each other.
        self._served: dict[int, int] = {}
        self._forgotten = 0
        self._calls = 0
        self._version = 0
        self._writing = 0

    @property
    def names(self) -> frozenset[str]:
        """The names of all tools."""
        return frozenset(self._functions)

    def is_read(self, name: str) -> bool:
        """Tell whether a tool may be run ahead."""
        return name in self._reads

    def bind(self, name: str, positional: tuple[Any, ...], named: Mapping[str, Any]) -> ToolCall:
        """Make a call of arguments as they are written in Python.

        Raises:
            InvalidCall: There is no such tool, or these are not its arguments.
        """
        if name not in self._functions:
            raise InvalidCall(f"there is no tool {name!r}, only {', '.join(sorted(self._functions))}")
        signature = self._signatures[name]
        try:
            bound = signature.bind(*positional, **named)
        except TypeError as error:
            raise InvalidCall(f"{name}: {error}") from error
        arguments: dict[str, Any] = {}
        for parameter, value in bound.arguments.items():
            match signature.parameters[parameter].kind:
                case inspect.Parameter.VAR_KEYWORD:
                    arguments |= value
                case inspect.Parameter.KEYWORD_ONLY | inspect.Parameter.POSITIONAL_OR_KEYWORD:
                    arguments[parameter] = value
                case _:
                    raise InvalidCall(f"{name}: {parameter!r} cannot be given by name, as a tool's arguments must be")
        return ToolCall(name, arguments)

    def key(self, call: ToolCall, /) -> Hashable | None:
        """Name what a read returns now; None for a write, during one, and for arguments that are no JSON."""
        text = None if self._writing or call.name not in self._reads else self._text(call)
        served = self._served.get(hash(text), self._forgotten)
        return None if text is None else (text, served, self._version, self._state())

    def _text(self, call: ToolCall) -> str | None:
        """Write a call in one way only: names sorted, without arguments that are the defaults anyway."""
        try:
            self._signatures[call.name].bind(**call.arguments)
            given = {name: value for name, value in call.arguments.items() if not self._is_default(call, name)}
            text = json.dumps(given, sort_keys=True, allow_nan=False)
            # What JSON writes alike need not be alike to a function: a tuple and a list, the keys 1 and "1".
            return f"{call.name} {text}" if json.loads(text) == given else None
        except (TypeError, ValueError, RecursionError):
            return None

    def _is_default(self, call: ToolCall, parameter: str) -> bool:
        known, value = self._signatures[call.name].parameters.get(parameter), call.arguments[parameter]
        if known is None or known.default is inspect.Parameter.empty:
            return False
        return value is known.default or (
            isinstance(value, str | int | float) and type(value) is type(known.default) and value == known.default
        )

    async def step(self, call: ToolCall, /) -> Result:
        """Run a tool because it was called.

        Cancellation: is passed on to the function.

        Raises:
            TypeError: It is no async function; whatever it does, it has done.
            Exception: Whatever the function raises.
        """
        if call.name in self._reads:
            self._count(call)
            return Result(value=await _run(self._functions, call))
        # Twice: what is read while this runs belongs neither to the state before it nor to that after it.
        self._version += 1
        self._writing += 1
        try:
            return Result(value=await _run(self._functions, call))
        finally:
            self._writing -= 1
            self._version += 1

    async def peek(self, call: ToolCall, /) -> Result:
        """Run a read ahead.

        Raises:
            Unspeculable: It is no read, what it depends on changed meanwhile, or its result cannot be copied.
            Exception: Whatever the function raises.
        """
        if self.key(call) is None:
            raise Unspeculable("no-key")
        before = self._moment()
        # A guess made of earlier results shares its arguments with them, and a function may change what it is given.
        value = await _run(self._ahead, ToolCall(call.name, copy.deepcopy(dict(call.arguments))))
        if self._moment() != before:
            raise Unspeculable("changed")
        self.copy_of(value)
        return Result(value=value, ahead=True)

    async def adopt(self, call: ToolCall, result: Result, /) -> Result:
        """Count the call: the next one like it is another."""
        self._count(call)
        return result

    def copy_of(self, value: Any) -> Any:
        """Copy what a tool returned.

        Raises:
            Unspeculable: It cannot be copied.
        """
        try:
            return self._copied(value)
        except Exception as error:
            raise Unspeculable("no-copy") from error

    def _moment(self) -> Hashable:
        return (self._version, self._writing, self._state())

    def _count(self, call: ToolCall) -> None:
        text = self._text(call)
        if text is None:
            return
        self._calls += 1
        if len(self._served) >= _MAX_SERVED:
            # All that runs ahead just now is outdated with it: a number given for what is forgotten is never old.
            self._served.clear()
            self._forgotten = self._calls
        self._served[hash(text)] = self._calls

    async def aclose(self) -> None:
        """Do nothing: the functions are their owner's."""


async def _run(functions: Mapping[str, Function], call: ToolCall) -> Any:
    running = functions[call.name](**call.arguments)
    if not inspect.isawaitable(running):
        raise TypeError(
            f"the tool {call.name!r} gave a value of {type(running).__name__} that cannot be awaited: it has to be an "
            "async function, which calls `await asyncio.to_thread(...)` where it blocks"
        )
    return await running
