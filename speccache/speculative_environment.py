"""An environment whose next observation may already be there.

Invariant: `step` gives what the wrapped environment's `step` would give; the target can tell the two apart only by the
clock.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Hashable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Generic

from speccache.environment import ActionT, ObservationT, Speculable, Step
from speccache.events import EventKind, Listener
from speccache.flight import Flights
from speccache.options import SpeculationOptions
from speccache.predictor import Predictor
from speccache.recorder import Recorder
from speccache.second_level import Found, SecondLevel, SharedLevel
from speccache.speculator import Speculator
from speccache.store import Lifetime, Store
from speccache.supply import Supply


class SpeculativeEnvironment(Generic[ActionT, ObservationT]):
    """Wraps a speculable environment: guesses run ahead while the target thinks.

    Args:
        environment: The environment; closed together with this one.
        predictors: What guesses the target's next actions; with none, only visited observations are kept.
        deeper: Which of them also guess one level deeper, when there is nothing else to do; they should be cheap.
        options: How much is run ahead and kept.
        gate: Says why an action, guessed from an observation, must not be run ahead; None if it may be.
        pressure: Says what is too short just now for anything to be run ahead; None if nothing is.
        priors: How often predictors' guesses are right, by predictor and rank, as far as it was measured before.
        listener: Called with every event.
        urgent: Entered while the target waits for a load under way, to give it the priority of a real action.
        size_of: Bytes that an observation occupies.
        lifetime_of: For how long an observation may be used again.
        second_level: Where observations are looked for before they are made, and kept for later runs; it stays the
            caller's, who closes it after this.
        clock: Where the time comes from, in seconds.

    Resource handling: `aclose()` ends all that was started here, then closes the environment.
    Cancellation: a cancelled `step` leaves the wrapped environment as its own `step` or `adopt` leaves it.
    """

    def __init__(
        self,
        environment: Speculable[ActionT, ObservationT],
        *,
        predictors: Sequence[Predictor[ActionT, ObservationT]] = (),
        deeper: Sequence[Predictor[ActionT, ObservationT]] = (),
        options: SpeculationOptions = SpeculationOptions(),
        gate: Callable[[ActionT, ObservationT], str | None] = lambda _action, _seen: None,
        pressure: Callable[[], str | None] = lambda: None,
        priors: Mapping[str, Sequence[float]] | None = None,
        listener: Listener | None = None,
        urgent: Callable[[], AbstractContextManager[None]] = nullcontext,
        size_of: Callable[[ObservationT], int] = lambda _: 0,
        lifetime_of: Callable[[ObservationT], Lifetime] = lambda _: Lifetime(),
        second_level: SecondLevel[ObservationT] | SharedLevel[ObservationT] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._environment = environment
        self._urgent = urgent
        self._size_of = size_of
        self._lifetime_of = lifetime_of
        self._supply = Supply(second_level, lifetime_of=lifetime_of)
        self._origins: dict[Hashable, str] = {}
        self._recorder = Recorder(listener, clock=clock)
        self._trajectory: list[Step[ActionT, ObservationT]] = []
        self._max_steps = options.max_steps
        self._flights: Flights[Found[ObservationT]] = Flights(clock=clock)
        self._store: Store[ObservationT] = Store(
            max_entries=options.max_entries,
            max_bytes=options.max_bytes,
            max_age_seconds=options.max_age_seconds,
            clock=clock,
        )
        self._speculator = Speculator(
            environment,
            predictors=predictors,
            deeper=deeper,
            store=self._store,
            supply=self._supply,
            flights=self._flights,
            recorder=self._recorder,
            options=options,
            keep=self._keep,
            gate=gate,
            pressure=pressure,
            priors=priors or {},
        )

    def knows(self, action: ActionT, /) -> bool:
        """Tell whether what the action gives from here is stored or loading."""
        key = self._environment.key(action)
        return key is not None and (key in self._store or key in self._flights or self._speculator.is_loading(key))

    async def step(self, action: ActionT, /) -> ObservationT:
        """Do the action, from what is known already where that is possible, and start guessing what comes next."""
        key = self._environment.key(action)
        self._recorder.decided()
        self._speculator.decided(key)
        observation = await (self._direct(action) if key is None else self._fetch(action, key))
        self._store.drop_single_use()
        self._trajectory.append(Step(action, observation))
        del self._trajectory[: max(0, len(self._trajectory) - self._max_steps)]
        self._recorder.observed()
        self._speculator.observe(tuple(self._trajectory))
        return observation

    async def _direct(self, action: ActionT) -> ObservationT:
        started_seconds = self._recorder.now()
        observation = await self._environment.step(action)
        waited_seconds = self._recorder.now() - started_seconds
        self._recorder.record(EventKind.DIRECT, action, waited_seconds=waited_seconds)
        return observation

    async def _fetch(self, action: ActionT, key: Hashable) -> ObservationT:
        entry = self._store.take(key)
        if entry is not None:
            adopted = await self._environment.adopt(action, entry.value)
            origin = self._origins.get(key, "")
            self._recorder.record(EventKind.HIT, action, key=key, seconds=entry.load_seconds, reason=origin)
            return adopted
        joined = await self._join(action, key) if self._speculator.is_loading(key) else None
        if joined is not None:
            return await self._environment.adopt(action, joined.value)
        return await self._obtain(action, key)

    async def _join(self, action: ActionT, key: Hashable) -> Found[ObservationT] | None:
        """Wait for the running load; None where it ends without anything to use: the ordinary path is still there."""

        def peek() -> Awaitable[ObservationT]:
            return self._environment.peek(action)

        hidden_seconds = self._flights.running_seconds(key)
        started_seconds = self._recorder.now()
        self._speculator.hold()
        try:
            with self._urgent(), self._supply.urgent(key):
                found = await self._flights.run(key, lambda: self._supply.obtain(key, peek))
        except Exception:  # noqa: BLE001 - a speculation is one of the three borders; the speculator counts it
            return None
        finally:
            self._speculator.release(key)
        waited_seconds = self._recorder.now() - started_seconds
        self._recorder.record(
            EventKind.JOIN,
            action,
            key=key,
            reason=found.origin,
            seconds=hidden_seconds + waited_seconds,
            waited_seconds=waited_seconds,
        )
        return found

    async def _obtain(self, action: ActionT, key: Hashable) -> ObservationT:
        """Take from the second level what this run knows nothing of; where it is not there, do the action for real."""
        started_seconds = self._recorder.now()
        self._speculator.hold()
        try:
            with self._supply.urgent(key):
                found = await self._supply.obtain(key, lambda: self._environment.step(action))
            seen = await self._environment.adopt(action, found.value) if found.shelved else found.value
        finally:
            self._speculator.release(key)
        waited_seconds = self._recorder.now() - started_seconds
        self._keep(key, found, 0.0)
        kind = EventKind.HIT if found.shelved else EventKind.MISS
        self._recorder.record(kind, action, key=key, reason=found.origin, waited_seconds=waited_seconds)
        return seen

    def _keep(self, key: Hashable, found: Found[ObservationT], load_seconds: float) -> int | None:
        """Store an observation; its size in bytes, or None where it was not kept."""
        value, size_bytes = found.value, self._size_of(found.value)
        lifetime = Lifetime(max_age_seconds=found.remaining_seconds) if found.shelved else self._lifetime_of(value)
        kept = self._store.put(key, value, size_bytes=size_bytes, load_seconds=load_seconds, lifetime=lifetime)
        self._origins.pop(key, None)
        if kept and found.shelved:
            self._origins[key] = found.origin
            if len(self._origins) > 2 * self._store.max_entries:  # of what the store has dropped, nobody asks any more
                self._origins = {known: origin for known, origin in self._origins.items() if known in self._store}
        return size_bytes if kept else None

    async def aclose(self) -> None:
        """End every load, then close the environment; shielded, and may be called twice."""
        await asyncio.shield(asyncio.create_task(self._close(), name="close speculative environment"))

    async def _close(self) -> None:
        try:
            await self._speculator.aclose()
        finally:
            await self._environment.aclose()

    def __repr__(self) -> str:
        return f"<SpeculativeEnvironment turn={self._recorder.turn} {self._store} {self._flights} {self._speculator}>"
