"""The law of every speculable environment, as a suite: peek, adopt, step(b) gives what step(a), step(b) gives."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from speccache.environment import Speculable

Fresh = Callable[[], Awaitable[Speculable[Any, Any]]]


async def check_law(
    fresh: Fresh, *, first: Any, then: Sequence[Any], same: Callable[[Any], Any] = lambda seen: seen
) -> None:
    """Check the law on two fresh environments.

    Args:
        fresh: Makes an environment in the same starting state each time.
        first: The action that is peeked at and adopted in one, taken in the other.
        then: Actions taken afterwards in both.
        same: What two observations must have in common; their timings may differ.
    """
    stepped, adopted = await fresh(), await fresh()
    try:
        seen = await stepped.step(first)
        key = adopted.key(first)
        assert key is not None, "an action with effects cannot be peeked at"
        peeked = await adopted.peek(first)
        assert adopted.key(first) == key, "a peek moved the environment"
        assert same(await adopted.adopt(first, peeked)) == same(seen)
        for action in then:
            assert adopted.key(action) == stepped.key(action)
            assert same(await adopted.step(action)) == same(await stepped.step(action))
    finally:
        await stepped.aclose()
        await adopted.aclose()
    await adopted.aclose()  # closing twice is allowed
