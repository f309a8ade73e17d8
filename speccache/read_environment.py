"""An environment made from one async read function.

Invariant: an action with a key is a read and moves nothing, so looking ahead is the same as looking. An action without
one is never run ahead; only `step` does it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Hashable
from typing import Generic

from speccache.environment import ActionT, ObservationT
from speccache.errors import Unspeculable


class ReadEnvironment(Generic[ActionT, ObservationT]):
    """Makes a read function speculable.

    Args:
        read: Observes what an action with a key gives, and changes nothing; several may run at once.
        key: Names that observation, with the version of the state it depends on; None for an action with effects, and
            for a read that cannot be named (its source was just changed, its result is random). Must not block.
        write: Does an action without a key. Once it has an effect, the keys of the reads it touches must differ.
        refuse: Says why an observation must not be kept; None if it may be.
        close: Lets go of what the functions use; called once.

    Cancellation: is passed on to the function that is running.
    """

    def __init__(
        self,
        read: Callable[[ActionT], Awaitable[ObservationT]],
        *,
        key: Callable[[ActionT], Hashable | None],
        write: Callable[[ActionT], Awaitable[ObservationT]] | None = None,
        refuse: Callable[[ObservationT], str | None] = lambda _: None,
        close: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        self._read = read
        self._key = key
        self._write = write
        self._refuse = refuse
        self._close = close

    def key(self, action: ActionT, /) -> Hashable | None:
        """Name the observation of a read; None for any other action."""
        return self._key(action)

    async def step(self, action: ActionT, /) -> ObservationT:
        """Read, or do an action that has no key.

        Raises:
            TypeError: The action has no key, and there is no write function.
        """
        if self._key(action) is not None:
            return await self._read(action)
        if self._write is None:
            raise TypeError(f"{action} is no read, and this environment has no write function: pass `write`")
        return await self._write(action)

    async def peek(self, action: ActionT, /) -> ObservationT:
        """Read ahead.

        Raises:
            Unspeculable: The action is no read, its source changed meanwhile, or the observation is refused.
        """
        key = self._key(action)
        if key is None:
            raise Unspeculable("no-key")
        observation = await self._read(action)
        # What was read is then older or newer than its key says, or a mixture of both.
        reason = "changed" if self._key(action) != key else self._refuse(observation)
        if reason is not None:
            raise Unspeculable(reason)
        return observation

    async def adopt(self, action: ActionT, observation: ObservationT, /) -> ObservationT:
        """Return the observation: a read moves nothing."""
        return observation

    async def aclose(self) -> None:
        """Close what the functions use; may be called twice."""
        close, self._close = self._close, None
        if close is not None:
            await close()
