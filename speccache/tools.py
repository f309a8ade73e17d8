"""Async functions whose next results may already be there.

Invariant: a call returns or raises what the function itself would; the caller can tell the two apart only by the clock.
"""

from __future__ import annotations

import copy
from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable, Hashable, Iterable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

from speccache.account import Account
from speccache.call_patterns import CallPatterns
from speccache.environment import Step
from speccache.errors import InvalidCall, Unspeculable
from speccache.events import Event, Listener
from speccache.expected_calls import ExpectedCalls
from speccache.function_predictor import FunctionPredictor, one_by_one
from speccache.options import SpeculationOptions
from speccache.speculative_environment import SpeculativeEnvironment
from speccache.store import Lifetime
from speccache.text_size import text_size
from speccache.tool_environment import Function, Result, ToolCall, ToolEnvironment

Calls = Sequence[Step[ToolCall, Any]]
"""The calls of a run so far and what each returned, which must not be changed."""
Predict = Callable[[Calls], Iterable[ToolCall] | AsyncIterable[ToolCall]]
"""Names the calls that may come next, the most plausible first. Where it is no async function, it must be quick."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolOptions(SpeculationOptions):
    """How much is run ahead of calls, and how much is kept; the attributes are those of `SpeculationOptions`.

    Attributes:
        max_age_seconds: How old a result may be when it is served; what tools read changes sooner than a page.
        max_bytes: How many bytes kept results may occupy together, by the texts in them.
    """

    max_age_seconds: float = 30.0


class _Refused(ToolCall):
    """A guess whose arguments its tool would refuse."""

    __slots__ = ()


class SpeculativeTools:
    """Runs likely next calls of functions that only read while the caller thinks.

    Use it as `async with SpeculativeTools({"get_user": get_user}) as tools: await tools.get_user(id=7)`; a name that
    this class has itself (`call`) goes by `await tools.call("name", id=7)`. Calls may run side by side.

    Args:
        reads: Async functions that change nothing; only these are ever run ahead.
        writes: Async functions that may change what those return; a call of one outdates all that was run ahead.
        predict: Names likely next calls; None: a `CallPatterns` of its own, which learns them from the calls so far.
        as_called: Makes of a guess the call that its tool would be given (types read, defaults filled in); raises
            `InvalidCall` where the tool would refuse it, and nothing is run then.
        ahead: What runs a read ahead, by its name, where that is not the read itself; see `ToolEnvironment`.
        state: Names everything else that reads depend on; see `ToolEnvironment`.
        copied: Copies what a read returned for the caller, who may change it. What it cannot copy is not kept ahead,
            and the caller gets it as it is.
        options: How much runs ahead, and how old a result may be when it is served.
        listener: Called with every event; must be quick and must not raise.

    Resource handling: what runs ahead ends with the block; the functions stay their owner's.
    Cancellation: is passed on to the function, where nobody else waits for it.

    Raises:
        TypeError: The options are not those of tools, whose results must not become as old as pages may.
        ValueError: A name is both a read and a write.
    """

    def __init__(
        self,
        reads: Mapping[str, Function],
        *,
        writes: Mapping[str, Function] | None = None,
        predict: Predict | None = None,
        as_called: Callable[[ToolCall], ToolCall] = lambda call: call,
        ahead: Mapping[str, Function] | None = None,
        state: Callable[[], Hashable] = lambda: None,
        copied: Callable[[Any], Any] = copy.deepcopy,
        options: ToolOptions = ToolOptions(),
        listener: Listener | None = None,
    ) -> None:
        if not isinstance(options, ToolOptions):
            raise TypeError(f"{options!r} are no options of tools: give ToolOptions, which have the same attributes")
        self.account = Account()
        """Hits, joins, misses, and the seconds saved (`hidden_seconds`)."""
        self._listener = listener
        self._as_called = as_called
        self._unlearned = 0
        self._trajectory: list[Step[ToolCall, Any]] = []
        self._max_steps = options.max_steps
        self._predict: Predict = CallPatterns() if predict is None else predict
        predictors = [FunctionPredictor(self._named)]
        self._tools = ToolEnvironment(reads, writes=writes, ahead=ahead, state=state, copied=copied)
        self._expected = ExpectedCalls(
            self._tools,
            max_age_seconds=options.max_age_seconds,
            listener=self._tell,
            close_seconds=options.close_seconds,
        )
        self._environment = SpeculativeEnvironment(
            self._tools,
            predictors=predictors,
            deeper=predictors if isinstance(self._predict, CallPatterns) else (),
            options=options,
            gate=self._objection,
            listener=self._expected.told,
            # What ran when it was called has served its call.
            size_of=lambda result: text_size(result.value) if result.ahead else 0,
            lifetime_of=lambda result: Lifetime(max_age_seconds=None if result.ahead else 0.0),
            second_level=self._expected,
        )

    async def _named(self, steps: Sequence[Step[ToolCall, Result]]) -> AsyncIterator[ToolCall]:
        self._learn()
        calls = self._predict(tuple(Step(step.action, step.observation.value) for step in steps))
        async with aclosing(one_by_one(calls)) as named:
            async for call in named:
                try:
                    guess = self._as_called(call)
                except InvalidCall:
                    guess = _Refused(call.name, call.arguments)
                yield guess

    def _learn(self) -> None:
        """Learn from the calls since the last time; what goes wrong here fails a prediction, and no call."""
        while self._unlearned:
            self._unlearned -= 1
            if isinstance(self._predict, CallPatterns):
                self._predict.learn(self._trajectory[: len(self._trajectory) - self._unlearned])

    def _objection(self, call: ToolCall, _: Result) -> str | None:
        if isinstance(call, _Refused):
            return "invalid"
        return "expected" if self._tools.key(call) in self._expected else None

    def _tell(self, event: Event) -> None:
        self.account(event)
        if self._listener is not None:
            self._listener(event)

    @property
    def names(self) -> frozenset[str]:
        """The names of all tools."""
        return self._tools.names

    @property
    def trajectory(self) -> Calls:
        """The latest calls that returned (`max_steps`), in the order they did, and what they returned."""
        return tuple(self._trajectory)

    def is_read(self, name: str) -> bool:
        """Tell whether a tool may be run ahead."""
        return self._tools.is_read(name)

    async def call(self, name: str, /, *positional: Any, **named: Any) -> Any:
        """Call a tool.

        Raises:
            InvalidCall: There is no such tool, or these are not its arguments.
            Exception: Whatever the tool raises.
        """
        call = self._tools.bind(name, positional, named)
        result = await self._environment.step(call)
        self._trajectory.append(Step(call, result.value))
        del self._trajectory[: max(0, len(self._trajectory) - self._max_steps)]
        self._unlearned = min(self._unlearned + 1, len(self._trajectory))
        # What a write returned was made for this call alone; what a read returned may serve two calls side by side.
        if not self.is_read(name):
            return result.value
        try:
            return self._tools.copy_of(result.value)
        except Unspeculable:
            # Nothing that was run ahead is kept unless it can be copied, so this, too, was made for this call alone.
            return result.value

    def expect(self, name: str, /, *positional: Any, **named: Any) -> bool:
        """Begin a read that is sure to be called with these arguments soon, such as one in a reply that still streams.

        The call then waits for the rest of it only. It counts as a load ahead: what may not be run ahead is not begun,
        what fails is run again by the call, and what is never called is wasted.

        Returns:
            Whether it runs, or is there already.
        """
        try:
            call = self._tools.bind(name, positional, named)
        except InvalidCall:
            return False
        return self._environment.knows(call) or self._expected.begin(call)

    def __getattr__(self, name: str) -> Callable[..., Awaitable[Any]]:
        if name.startswith("_") or name not in self.names:
            raise AttributeError(f"there is no tool {name!r}")

        def call(*positional: Any, **named: Any) -> Awaitable[Any]:
            return self.call(name, *positional, **named)

        return call

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """End what runs ahead; may be called twice."""
        try:
            await self._expected.aclose()
        finally:
            await self._environment.aclose()
        self._learn()

    def __repr__(self) -> str:
        return f"<SpeculativeTools {', '.join(sorted(self.names))} {self._environment!r}>"
