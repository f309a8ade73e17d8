"""What a session keeps that never ends: as much after thousands of steps as after hundreds, and exact totals."""

from __future__ import annotations

import asyncio
import gc
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from types import FunctionType, ModuleType

from speccache import Account, Event, EventKind, Found, Guess, SpeculationOptions, SpeculativeEnvironment
from speccache.account import MAX_LOADS, MAX_REASONS, OTHER
from speccache.environment import Step

OPTIONS = SpeculationOptions(max_entries=16, max_deeper=0, max_steps=10, min_plausibility=0.0)
WINDOW = 500
"""Steps after which everything that is bounded has reached its bound: each loads three rooms ahead."""


class Corridor:
    """Rooms without end: what can be done in each leads on, and nothing of it is ever seen again."""

    def key(self, action: str) -> str | None:
        return None if action == "look" else f"room {action}"

    async def step(self, action: str) -> str:
        return action

    async def peek(self, action: str) -> str:
        if action.endswith("walled"):
            raise ValueError(f"{action} has no door")
        return action

    async def adopt(self, action: str, observation: str) -> str:
        return observation

    async def aclose(self) -> None:
        """Nothing is held."""


class Onward:
    """Guesses the three rooms behind the one stood in."""

    name = "onward"

    async def predict(self, trajectory: Sequence[Step[str, str]]) -> AsyncIterator[Guess[str]]:
        at = int(trajectory[-1].observation.split()[0]) + 1
        for rank, room in enumerate((f"{at} open", f"{at} side", f"{at} walled"), 1):
            yield Guess(action=room, predictor=self.name, rank=rank, score=1.0)


class Kept:
    """A second level that has every other room."""

    patience_seconds = 1.0

    async def get(self, key: object, /) -> Found[str] | None:
        room = str(key).removeprefix("room ")
        has = int(room.split()[0]) % 2 and not room.endswith("walled")
        return Found(value=room, remaining_seconds=60.0) if has else None

    def put(self, key: object, value: str, /) -> None:
        """It has what it has."""


def reachable(root: object) -> int:
    """Count the objects that one holds, whatever holds them in turn; not its classes and code."""
    seen: dict[int, object] = {}
    waiting = [root]
    while waiting:
        found = waiting.pop()
        if id(found) not in seen and not isinstance(
            found, type | ModuleType | FunctionType | asyncio.AbstractEventLoop
        ):
            seen[id(found)] = found
            # The collector passes by the keys of a dict that are texts.
            waiting += [*found, *found.values()] if isinstance(found, dict) else gc.get_referents(found)
    return len(seen)


async def test_a_session_without_end_keeps_no_more_and_its_account_stays_exact() -> None:
    account, counted, sizes, now = Account(), Counter[EventKind](), [], [0.0]
    unused: dict[str, int] = {}

    def told(event: Event) -> None:
        account(event)
        counted[event.kind] += 1
        if event.kind is EventKind.LAUNCH:
            unused[event.key] = 0
        elif event.kind is EventKind.LOAD:
            unused[event.key] = event.size_bytes
        elif event.kind is EventKind.HIT:
            del unused[event.key]

    environment = SpeculativeEnvironment(
        Corridor(),
        predictors=[Onward()],
        options=OPTIONS,
        listener=told,
        second_level=Kept(),
        size_of=len,
        clock=lambda: now[0],
    )
    for at in range(4 * WINDOW):
        now[0] += 1.0
        await environment.step(f"{at} open")
        while counted[EventKind.PREDICT] <= at or counted[EventKind.LAUNCH] > ended(counted):
            await asyncio.sleep(0)
        if at % WINDOW == WINDOW - 1:
            sizes.append(reachable(environment) + reachable(account))
    assert max(sizes[1:]) <= 1.05 * sizes[1], sizes
    assert (account.hits, account.misses) == (4 * WINDOW - 1, 1)
    assert account.speculated == counted[EventKind.LAUNCH] == 3 * 4 * WINDOW
    assert (account.wasted, account.wasted_bytes) == (len(unused), sum(unused.values()))
    assert account.failures.total() == counted[EventKind.FAIL] == 4 * WINDOW
    assert (len(account.failures), account.failures[OTHER]) == (MAX_REASONS + 1, 4 * WINDOW - MAX_REASONS)
    await environment.aclose()


def ended(counted: Counter[EventKind]) -> int:
    return counted[EventKind.LOAD] + counted[EventKind.FAIL]


def test_a_load_that_is_used_again_and_again_is_not_forgotten() -> None:
    account = Account()
    for at in range(3 * MAX_LOADS):
        account(Event(kind=EventKind.LAUNCH, at_seconds=at, turn=at, action="", key=f"room {at}"))
        account(Event(kind=EventKind.HIT, at_seconds=at, turn=at, action="", key="room 0", seconds=1.0))
    assert (account.wasted, account.hidden_seconds) == (3 * MAX_LOADS - 1, 1.0)
    account(Event(kind=EventKind.LAUNCH, at_seconds=at, turn=at, action="", key="room 0"))
    assert (account.wasted, account.speculated) == (3 * MAX_LOADS, 3 * MAX_LOADS + 1)
