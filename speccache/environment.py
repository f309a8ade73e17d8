"""What an environment must offer so that its answers can be had ahead of time.

Invariant (the law of every `Speculable`): `peek(a)`, `adopt(a, it)`, `step(b)` gives what `step(a)`, `step(b)` gives.
Whatever else this package does rests on that law; `tests/conformance.py` checks it for every environment.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

ActionT = TypeVar("ActionT")
ObservationT = TypeVar("ObservationT")
ActionT_contra = TypeVar("ActionT_contra", contravariant=True)
ObservationT_co = TypeVar("ObservationT_co", covariant=True)


@dataclass(frozen=True, slots=True)
class Step(Generic[ActionT, ObservationT]):
    """One action that was taken, and what came of it."""

    action: ActionT
    observation: ObservationT


class Environment(Protocol[ActionT_contra, ObservationT_co]):
    """Something an agent acts on and observes."""

    async def step(self, action: ActionT_contra, /) -> ObservationT_co:
        """Do the action, for real, and observe what came of it."""
        ...

    async def aclose(self) -> None:
        """Let go of everything; may be called twice."""
        ...


class Speculable(Environment[ActionT_contra, ObservationT], Protocol[ActionT_contra, ObservationT]):
    """An environment whose observations can be had before anyone asks for them."""

    def key(self, action: ActionT_contra, /) -> Hashable | None:
        """Name the observation that this action gives *from here*.

        The key carries the state it depends on (current page, session, database version, file time), so that equal keys
        mean equal observations. None means that the action has effects or costs nothing: it is never run ahead.
        Must not block and must not change anything.
        """
        ...

    async def peek(self, action: ActionT_contra, /) -> ObservationT:
        """Observe what the action would give, without moving this environment.

        Resolves the action against the state at the time of the call, before its first await. Several may run at once.

        Raises:
            Unspeculable: The observation came, but must not be kept.
        """
        ...

    async def adopt(self, action: ActionT_contra, observation: ObservationT, /) -> ObservationT:
        """Move to the state after `action`, whose observation is already in hand.

        Returns:
            The observation as `step` would have given it: an equal one may have been made by another action of the key.
        """
        ...
