"""Runs the predictors' guesses ahead of the target.

Invariant: everything started here is owned here and ends with `aclose()`; a failing guess is counted, never raised.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Hashable, Mapping, Sequence
from contextlib import aclosing
from typing import Any, Generic, cast

from speccache.acceptance import Acceptance
from speccache.environment import ActionT, ObservationT, Speculable, Step
from speccache.errors import Unspeculable
from speccache.events import EventKind
from speccache.flight import Flights
from speccache.options import SpeculationOptions
from speccache.predictor import Guess, Predictor
from speccache.recorder import Recorder
from speccache.schedule import Load, Schedule
from speccache.second_level import Found
from speccache.store import Store
from speccache.supply import Supply


class Speculator(Generic[ActionT, ObservationT]):
    """Takes up the guesses of the current turn and keeps the best of them running.

    Args:
        environment: What the guesses are peeked at in.
        predictors: Where guesses come from; they run side by side.
        deeper: Predictors that also guess from observations which are only guessed at; they should be cheap.
        store: Where finished observations go.
        supply: Where an observation comes from that is not stored.
        flights: Where running ones can be joined.
        recorder: Where every decision is recorded.
        options: How much may run.
        keep: Stores an observation and returns its size in bytes, or None where it was not kept.
        gate: Says why an action, guessed from an observation, must not be run ahead; None if it may be.
        pressure: Says what is too short just now for anything to be run ahead; None if nothing is.
        priors: How often predictors' guesses are right, by predictor and rank, as far as it was measured before.

    Resource handling: owns its prediction task and its loads; close it with `aclose()`.
    """

    def __init__(
        self,
        environment: Speculable[ActionT, ObservationT],
        *,
        predictors: Sequence[Predictor[ActionT, ObservationT]],
        deeper: Sequence[Predictor[ActionT, ObservationT]],
        store: Store[ObservationT],
        supply: Supply[ObservationT],
        flights: Flights[Found[ObservationT]],
        recorder: Recorder,
        options: SpeculationOptions,
        keep: Callable[[Hashable, Found[ObservationT], float], int | None],
        gate: Callable[[ActionT, ObservationT], str | None],
        pressure: Callable[[], str | None],
        priors: Mapping[str, Sequence[float]],
    ) -> None:
        self._environment = environment
        self._predictors = tuple(predictors)
        self._deeper = tuple(deeper)
        self._store = store
        self._supply = supply
        self._flights = flights
        self._recorder = recorder
        self._options = options
        self._keep = keep
        self._gate = gate
        self._pressure = pressure
        self.acceptance = Acceptance(priors)
        self._schedule: Schedule[ActionT] = Schedule(options)
        self._guessed: list[tuple[Guess[ActionT], Hashable]] = []
        self._trajectory: Sequence[Step[ActionT, ObservationT]] = ()
        self._tasks: dict[Load[ActionT], asyncio.Task[None]] = {}
        self._predicting: asyncio.Task[None] | None = None
        self._ending: set[asyncio.Task[None]] = set()
        self._held = 0
        self._deepened = False
        self._closed = False

    def is_loading(self, key: Hashable) -> bool:
        """Tell whether a load of this key has been launched and not ended; its task may not have run yet."""
        return any(load.key == key for load in self._tasks)

    def decided(self, key: Hashable | None) -> None:
        """Learn which action the target took."""
        if key is not None:
            self.acceptance.learn(self._guessed, key)
        self._guessed = []

    def observe(self, trajectory: Sequence[Step[ActionT, ObservationT]]) -> None:
        """Start guessing what follows the trajectory; guesses of the turn before that have not started are dropped."""
        if self._closed or not self._predictors:
            return
        self._stop_predicting()
        for load in self._schedule.begin_turn():
            self._tell(EventKind.REFUSE, load, reason="no-slot")
        self._trajectory = trajectory
        self._guessed = []
        self._deepened = False
        self._predicting = asyncio.create_task(self._predict(), name="predict")

    async def _predict(self) -> None:
        async with asyncio.TaskGroup() as group:
            for predictor in self._predictors:
                group.create_task(self._listen(predictor, self._trajectory), name=f"predict {predictor.name}")
        self._predicting = None
        self._go_deeper()

    async def _listen(
        self,
        predictor: Predictor[ActionT, ObservationT],
        trajectory: Sequence[Step[ActionT, ObservationT]],
        *,
        within: float = 1.0,
        depth: int = 0,
    ) -> None:
        started_seconds = self._recorder.now()
        try:
            guesses = cast("AsyncGenerator[Guess[ActionT]]", predictor.predict(trajectory))
            async with aclosing(guesses):
                async for guess in guesses:
                    self._take(guess, trajectory[-1].observation, within=within, depth=depth)
        except Exception as error:  # noqa: BLE001 - a speculation is one of the three borders
            reason = f"{type(error).__name__}: {error}"
            self._recorder.record(EventKind.FAIL, "predict", predictor=predictor.name, reason=reason)
        finally:
            seconds = self._recorder.now() - started_seconds
            self._recorder.record(EventKind.PREDICT, "predict", predictor=predictor.name, seconds=seconds)

    def _take(self, guess: Guess[ActionT], seen: ObservationT, *, within: float, depth: int) -> None:
        key = self._environment.key(guess.action)
        reason = "no-key" if key is None else self._objection(guess, key, seen)
        if key is None or reason is not None:
            self._record(EventKind.REFUSE, guess, key, depth=depth, reason=reason or "no-key")
            return
        if depth == 0:
            self._guessed.append((guess, key))
        if not self._schedule.is_new(key):
            return
        if key in self._schedule or key in self._flights or key in self._store:
            if self._schedule.take_known(key, depth=depth):
                self._record(EventKind.KNOWN, guess, key, depth=depth)
            return
        plausibility = within * self.acceptance.plausibility(guess)
        verdict = self._schedule.offer(guess, key, plausibility=plausibility, depth=depth)
        if verdict.evicted is not None:
            self._give_up(verdict.evicted, "implausible")
        if verdict.load is None:
            self._record(EventKind.REFUSE, guess, key, depth=depth, reason=verdict.reason)
        self._launch()

    def _objection(self, guess: Guess[ActionT], key: Hashable, seen: ObservationT) -> str | None:
        # What loads already has passed, costs nothing more, and may itself be what is too much for its host just now.
        if key in self._schedule or key in self._flights:
            return None
        return self._gate(guess.action, seen) or self._pressure()

    def _launch(self) -> None:
        """Start waiting loads while there is room and the target is not loading itself."""
        while not self._held and not self._closed and (load := self._schedule.start_next()) is not None:
            self._tell(EventKind.LAUNCH, load)
            self._tasks[load] = asyncio.create_task(self._run(load), name=f"speculate {load.guess.action}")

    async def _run(self, load: Load[ActionT]) -> None:
        guess, key = load.guess, load.key
        started_seconds = self._recorder.now()
        try:
            found = await self._flights.run(key, lambda: self._supply.obtain(key, lambda: self._peek(guess, key)))
        except Unspeculable as refusal:
            self._tell(EventKind.REFUSE, load, reason=refusal.reason)
        except Exception as error:  # noqa: BLE001 - a speculation is one of the three borders
            self._tell(EventKind.FAIL, load, reason=f"{type(error).__name__}: {error}")
        else:
            self._finish(load, found, self._recorder.now() - started_seconds)
        finally:
            self._schedule.remove(load)
            self._tasks.pop(load, None)
            self._launch()
        self._go_deeper()

    def _finish(self, load: Load[ActionT], found: Found[ObservationT], seconds: float) -> None:
        size_bytes = self._keep(load.key, found, seconds)
        if size_bytes is None:
            self._tell(EventKind.REFUSE, load, reason="not-kept", seconds=seconds)
        else:
            facts = {"seconds": seconds, "size_bytes": size_bytes, "reason": found.origin}
            self._tell(EventKind.LOAD, load, **facts)

    async def _peek(self, guess: Guess[ActionT], key: Hashable) -> ObservationT:
        # The environment may have moved since the guess was taken; no other task runs between this test and the peek's
        # own first await, so what is stored under the key is what the key names.
        if self._environment.key(guess.action) != key:
            raise Unspeculable("moved-on")
        return await self._environment.peek(guess.action)

    def _go_deeper(self) -> None:
        """Once nothing is left to do for the next action, guess the one after from the best observation at hand."""
        busy = self._predicting is not None or self._tasks or self._held or self._closed
        if busy or self._deepened or not self._deeper or not self._options.max_deeper:
            return
        known = [(guess, key) for guess, key in self._guessed if key in self._store]
        if not known:
            return
        self._deepened = True
        guess, key = max(known, key=lambda pair: self.acceptance.plausibility(pair[0]))
        entry = self._store.get(key)
        if entry is not None:
            trajectory = (*self._trajectory, Step(guess.action, entry.value))
            self._predicting = asyncio.create_task(self._predict_deeper(guess, trajectory), name="predict deeper")

    async def _predict_deeper(self, first: Guess[ActionT], trajectory: Sequence[Step[ActionT, ObservationT]]) -> None:
        within = self.acceptance.plausibility(first)
        for predictor in self._deeper:
            await self._listen(predictor, trajectory, within=within, depth=1)
        self._predicting = None

    def hold(self) -> None:
        """Start nothing until `release()`: the target is loading a page itself."""
        self._held += 1

    def release(self, key: Hashable) -> None:
        """Undo one `hold()`: what waits starts, but for the observation that the target now has itself."""
        self._held -= 1
        load = self._schedule.withdraw(key)
        if load is not None:
            self._tell(EventKind.REFUSE, load, reason="no-slot")
        self._launch()

    def _give_up(self, load: Load[ActionT], reason: str) -> None:
        self._schedule.remove(load)
        task = self._tasks.pop(load, None)
        if task is not None:
            self._end(task)
        self._tell(EventKind.CANCEL, load, reason=reason)

    def _stop_predicting(self) -> None:
        if self._predicting is not None:
            self._end(self._predicting)
            self._predicting = None

    def _end(self, task: asyncio.Task[None]) -> None:
        task.cancel()
        self._ending.add(task)
        task.add_done_callback(self._ending.discard)

    def _tell(self, kind: EventKind, load: Load[ActionT], **facts: Any) -> None:
        self._record(kind, load.guess, load.key, depth=load.depth, **facts)

    def _record(self, kind: EventKind, guess: Guess[ActionT], key: Hashable | None, **facts: Any) -> None:
        self._recorder.record(kind, guess.action, key=key, predictor=guess.predictor, rank=guess.rank, **facts)

    async def aclose(self) -> None:
        """Cancel everything and wait for it, `close_seconds` at most; may be called twice."""
        self._closed = True
        self._stop_predicting()
        for load in list(self._tasks):
            self._give_up(load, "closed")
        if self._ending:
            await asyncio.wait(self._ending, timeout=self._options.close_seconds)

    def __repr__(self) -> str:
        return f"<Speculator held={self._held} {self._schedule}>"
