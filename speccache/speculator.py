"""Runs the predictors' guesses ahead of the target.

Invariant: everything started here is owned here and ends with `aclose()`; a failing guess is counted, never raised.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Hashable, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Generic, cast

from speccache.environment import ActionT, ObservationT, Speculable, Step
from speccache.errors import Unspeculable
from speccache.events import EventKind
from speccache.flight import Flights
from speccache.options import SpeculationOptions
from speccache.predictor import Guess, Predictor
from speccache.recorder import Recorder
from speccache.store import Store


@dataclass(slots=True, kw_only=True)
class _Load(Generic[ActionT]):
    """A guess that passed, queued or running."""

    guess: Guess[ActionT]
    key: Hashable
    turn: int
    """The last turn in which it was still guessed."""
    task: asyncio.Task[None] | None = None


class Speculator(Generic[ActionT, ObservationT]):
    """Takes guesses for the current turn and keeps the best of them running.

    Args:
        environment: What the guesses are peeked at in.
        predictors: Where guesses come from; they run side by side.
        store: Where finished observations go.
        flights: Where running ones can be joined.
        recorder: Where every decision is recorded.
        options: How much may run.
        keep: Stores an observation and returns its size in bytes, or None where it was not kept.
        gate: Says why an action must not be run ahead; None if it may be.

    Resource handling: owns its prediction task and its loads; close it with `aclose()`.
    """

    def __init__(
        self,
        environment: Speculable[ActionT, ObservationT],
        *,
        predictors: Sequence[Predictor[ActionT, ObservationT]],
        store: Store[ObservationT],
        flights: Flights[ObservationT],
        recorder: Recorder,
        options: SpeculationOptions,
        keep: Callable[[Hashable, ObservationT, float], int | None],
        gate: Callable[[ActionT], str | None],
    ) -> None:
        self._environment = environment
        self._predictors = tuple(predictors)
        self._store = store
        self._flights = flights
        self._recorder = recorder
        self._options = options
        self._keep = keep
        self._gate = gate
        self._loads: dict[Hashable, _Load[ActionT]] = {}
        self._predicting: asyncio.Task[None] | None = None
        self._ending: set[asyncio.Task[None]] = set()
        self._held = 0
        self._taken: set[Hashable] = set()
        self._closed = False

    @property
    def running(self) -> int:
        """Loads that have started and not ended."""
        return sum(load.task is not None for load in self._loads.values())

    def observe(self, trajectory: Sequence[Step[ActionT, ObservationT]]) -> None:
        """Start guessing what follows the trajectory; guesses of the turn before that have not started are dropped."""
        if self._closed or not self._predictors:
            return
        self._stop_predicting()
        for load in [load for load in self._loads.values() if load.task is None]:
            self._drop(load, "superseded")
        self._taken = set()
        self._predicting = asyncio.create_task(self._predict(trajectory), name="predict")

    async def _predict(self, trajectory: Sequence[Step[ActionT, ObservationT]]) -> None:
        async with asyncio.TaskGroup() as group:
            for predictor in self._predictors:
                group.create_task(self._listen(predictor, trajectory), name=f"predict {predictor.name}")

    async def _listen(
        self, predictor: Predictor[ActionT, ObservationT], trajectory: Sequence[Step[ActionT, ObservationT]]
    ) -> None:
        try:
            guesses = cast("AsyncGenerator[Guess[ActionT]]", predictor.predict(trajectory))
            async with aclosing(guesses):
                async for guess in guesses:
                    if not self._take(guess):
                        return
        except Exception as error:  # noqa: BLE001 - a speculation is one of the three borders
            self._recorder.record(
                EventKind.FAIL, "predict", predictor=predictor.name, reason=f"{type(error).__name__}: {error}"
            )

    def _take(self, guess: Guess[ActionT]) -> bool:
        """Decide about one guess; False when the turn takes no more."""
        if len(self._taken) >= self._options.max_guesses:
            return False
        key = self._environment.key(guess.action)
        reason = "no-key" if key is None else self._gate(guess.action)
        if key is None or reason is not None:
            self._record(EventKind.REFUSE, guess, key, reason=reason or "no-key")
        elif key not in self._taken:
            self._taken.add(key)
            self._admit(guess, key)
        return len(self._taken) < self._options.max_guesses

    def _admit(self, guess: Guess[ActionT], key: Hashable) -> None:
        load = self._loads.get(key)
        if load is not None:
            load.turn = self._recorder.turn
        if load is not None or key in self._flights or key in self._store:
            self._record(EventKind.KNOWN, guess, key)
            return
        self._loads[key] = _Load(guess=guess, key=key, turn=self._recorder.turn)
        self._make_room()
        self._launch()

    def _make_room(self) -> None:
        """Give up one load that is no longer guessed, where a newer guess would have to wait for its slot."""
        if self.running < self._options.max_running:
            return
        stale = [load for load in self._loads.values() if load.task is not None and load.turn < self._recorder.turn]
        if stale:
            self._drop(min(stale, key=lambda load: load.turn), "implausible")

    def _launch(self) -> None:
        """Start queued loads, oldest first, while there is room and the target is not loading itself."""
        for load in self._loads.values():
            if self._held or self._closed or self.running >= self._options.max_running:
                return
            if load.task is None:
                self._record(EventKind.LAUNCH, load.guess, load.key)
                load.task = asyncio.create_task(self._run(load), name=f"speculate {load.guess.action}")

    async def _run(self, load: _Load[ActionT]) -> None:
        guess, key = load.guess, load.key
        started_seconds = self._recorder.now()
        try:
            observation = await self._flights.run(key, lambda: self._peek(guess, key))
        except Unspeculable as refusal:
            self._record(EventKind.REFUSE, guess, key, reason=refusal.reason)
        except Exception as error:  # noqa: BLE001 - a speculation is one of the three borders
            self._record(EventKind.FAIL, guess, key, reason=f"{type(error).__name__}: {error}")
        else:
            seconds = self._recorder.now() - started_seconds
            size_bytes = self._keep(key, observation, seconds)
            if size_bytes is None:
                self._record(EventKind.REFUSE, guess, key, reason="not-kept", seconds=seconds)
            else:
                self._record(EventKind.LOAD, guess, key, seconds=seconds, size_bytes=size_bytes)
        finally:
            if self._loads.get(key) is load:
                del self._loads[key]
                self._launch()

    async def _peek(self, guess: Guess[ActionT], key: Hashable) -> ObservationT:
        # The environment may have moved since the guess was taken; no other task runs between this test and the peek's
        # own first await, so what is stored under the key is what the key names.
        if self._environment.key(guess.action) != key:
            raise Unspeculable("moved-on")
        return await self._environment.peek(guess.action)

    def hold(self) -> None:
        """Start nothing until `release()`: the target is loading a page itself."""
        self._held += 1

    def release(self) -> None:
        """Undo one `hold()`."""
        self._held -= 1
        self._launch()

    def _drop(self, load: _Load[ActionT], reason: str) -> None:
        del self._loads[load.key]
        if load.task is not None:
            self._end(load.task)
            self._record(EventKind.CANCEL, load.guess, load.key, reason=reason)
        else:
            self._record(EventKind.REFUSE, load.guess, load.key, reason="no-slot")

    def _stop_predicting(self) -> None:
        if self._predicting is not None:
            self._end(self._predicting)
            self._predicting = None

    def _end(self, task: asyncio.Task[None]) -> None:
        task.cancel()
        self._ending.add(task)
        task.add_done_callback(self._ending.discard)

    def _record(
        self,
        kind: EventKind,
        guess: Guess[ActionT],
        key: Hashable | None,
        *,
        reason: str = "",
        seconds: float = 0.0,
        size_bytes: int = 0,
    ) -> None:
        self._recorder.record(
            kind,
            guess.action,
            key=key,
            predictor=guess.predictor,
            rank=guess.rank,
            reason=reason,
            seconds=seconds,
            size_bytes=size_bytes,
        )

    async def aclose(self) -> None:
        """Cancel everything and wait for it, `close_seconds` at most; may be called twice."""
        self._closed = True
        self._stop_predicting()
        for load in list(self._loads.values()):
            self._drop(load, "closed")
        if self._ending:
            await asyncio.wait(self._ending, timeout=self._options.close_seconds)

    def __repr__(self) -> str:
        return f"<Speculator running={self.running} queued={len(self._loads) - self.running} held={self._held}>"
