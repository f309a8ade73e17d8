"""Async functions whose next results may already be there.

Invariant: a call returns or raises what the function itself would; the caller can tell the two apart only by the clock.
"""

from __future__ import annotations

import copy
from collections.abc import AsyncIterable, Awaitable, Callable, Hashable, Iterable, Mapping, Sequence
from types import TracebackType
from typing import Any, Self

from speccache.account import Account
from speccache.call_patterns import CallPatterns
from speccache.environment import Step
from speccache.events import Event, Listener
from speccache.function_predictor import FunctionPredictor
from speccache.options import SpeculationOptions
from speccache.speculative_environment import SpeculativeEnvironment
from speccache.store import Lifetime
from speccache.tool_environment import Function, Result, ToolCall, ToolEnvironment

Calls = Sequence[Step[ToolCall, Any]]
"""The calls of a run so far and what each returned, which must not be changed."""
Predict = Callable[[Calls], Iterable[ToolCall] | AsyncIterable[ToolCall]]
"""Names the calls that may come next, the most plausible first. Where it is no async function, it must be quick."""


class SpeculativeTools:
    """Runs likely next calls of functions that only read while the caller thinks.

    Use it as `async with SpeculativeTools({"get_user": get_user}) as tools: await tools.get_user(id=7)`; a name that
    this class has itself (`call`) goes by `await tools.call("name", id=7)`. Calls may run side by side.

    Args:
        reads: Async functions that change nothing; only these are ever run ahead.
        writes: Async functions that may change what those return; a call of one outdates all that was run ahead.
        predict: Names likely next calls; None: a `CallPatterns` of its own, which learns them from the calls so far.
        state: Names everything else that reads depend on; see `ToolEnvironment`.
        copied: Copies what a read returned for the caller, who may change it.
        options: How much runs ahead, and how old a result may be when it is served.
        listener: Called with every event.

    Resource handling: what runs ahead ends with the block; the functions stay their owner's.
    Cancellation: is passed on to the function, where nobody else waits for it.

    Raises:
        ValueError: A name is both a read and a write.
    """

    def __init__(
        self,
        reads: Mapping[str, Function],
        *,
        writes: Mapping[str, Function] | None = None,
        predict: Predict | None = None,
        state: Callable[[], Hashable] = lambda: None,
        copied: Callable[[Any], Any] = copy.deepcopy,
        options: SpeculationOptions = SpeculationOptions(max_age_seconds=30.0),
        listener: Listener | None = None,
    ) -> None:
        self.account = Account()
        """Hits, joins, misses, and the seconds saved (`hidden_seconds`)."""
        self._listener = listener
        self._copied = copied
        self._trajectory: list[Step[ToolCall, Any]] = []
        self._max_steps = options.max_steps
        self._predict: Predict = CallPatterns() if predict is None else predict
        predictors = [FunctionPredictor(self._named)]
        self._tools = ToolEnvironment(reads, writes=writes, state=state)
        self._environment = SpeculativeEnvironment(
            self._tools,
            predictors=predictors,
            deeper=predictors if isinstance(self._predict, CallPatterns) else (),
            options=options,
            listener=self._tell,
            # What ran when it was called has served its call.
            lifetime_of=lambda result: Lifetime(max_age_seconds=None if result.ahead else 0.0),
        )

    def _named(self, steps: Sequence[Step[ToolCall, Result]]) -> Iterable[ToolCall] | AsyncIterable[ToolCall]:
        return self._predict(tuple(Step(step.action, step.observation.value) for step in steps))

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
        del self._trajectory[: -self._max_steps]
        if isinstance(self._predict, CallPatterns):
            self._predict.learn(self._trajectory)
        # What a write returned was made for this call alone; what a read returned may serve two calls side by side.
        return self._copied(result.value) if self.is_read(name) else result.value

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
        await self._environment.aclose()

    def __repr__(self) -> str:
        return f"<SpeculativeTools {', '.join(sorted(self.names))} {self._environment!r}>"
