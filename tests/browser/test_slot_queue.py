"""Who gets a slot next, with slots and memory of paper and a clock ticked by hand."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Hashable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from browser.errors import PoolClosed
from browser.slots.slot_queue import Lease, Rank, SlotQueue
from speccache.errors import Unspeculable

AGEING_SECONDS = 5.0


@dataclass(eq=False)
class PaperSlot:
    owner: Hashable = None
    reusable: bool = True


@dataclass
class PaperMemory:
    """Room for so many slots."""

    room: int = 100

    def has_room(self) -> bool:
        return self.room > 0

    def opened(self) -> None:
        self.room -= 1

    def closed(self) -> None:
        self.room += 1


@dataclass
class Bench:
    """A queue, and what it is made of."""

    queue: SlotQueue
    memory: PaperMemory
    dropped: list[PaperSlot]
    seconds: float = 0.0
    spare: bool = False
    order: list[str] = field(default_factory=list)

    def ask(self, name: str, rank: Rank, owner: Hashable = None) -> asyncio.Task[Lease]:
        """Wait for a slot; its name is noted when it comes."""

        async def wait() -> Lease:
            lease = await self.queue.lease(owner or name, rank)
            self.order.append(name)
            return lease

        return asyncio.create_task(wait(), name=name)

    async def lease(self, rank: Rank, owner: Hashable = "owner") -> Lease:
        """Get a slot that is to be had at once."""
        async with asyncio.timeout(1):
            return await self.queue.lease(owner, rank)

    def idle(self, *owners: Hashable) -> list[PaperSlot]:
        """Leave idle slots of these owners."""
        slots = []
        for owner in owners:
            lease = self.queue.try_lease()
            assert lease is not None
            slots.append(PaperSlot(owner=owner))
            self.queue.give_back(lease, idle=slots[-1])
        return slots


def bench(*, live: int = 2, ahead: int = 2, room: int = 100) -> Bench:
    memory, dropped = PaperMemory(room), []
    made: list[Bench] = []
    queue = SlotQueue(
        live=live,
        ahead=ahead,
        memory=memory,
        drop=dropped.append,
        has_spare=lambda: made[0].spare,
        ageing_seconds=AGEING_SECONDS,
        clock=lambda: made[0].seconds if made else 0.0,
    )
    made.append(Bench(queue, memory, dropped))
    return made[0]


@asynccontextmanager
async def waiting(*tasks: asyncio.Task[Lease]) -> AsyncIterator[None]:
    """Tasks that wait by now, and are ended."""
    await asyncio.sleep(0)
    assert not any(task.done() for task in tasks)
    yield
    for task in tasks:
        task.cancel()
    await asyncio.wait(tasks)


async def test_a_real_action_never_waits_for_speculation() -> None:
    a = bench(live=1, ahead=1)
    await a.lease(Rank.GUESS)
    async with waiting(a.ask("guess", Rank.GUESS)):
        await a.lease(Rank.ACTION)
        assert repr(a.queue) == "<SlotQueue live=1 ahead=1 idle=0 waiting=1>"


async def test_real_actions_wait_for_each_other_in_turn() -> None:
    a = bench(live=1)
    first = await a.lease(Rank.ACTION)
    tasks = [a.ask(name, Rank.ACTION) for name in "xyz"]
    async with waiting(*tasks):
        assert a.queue.waiting[Rank.ACTION] == 3
        a.queue.give_back(first)
        for task in tasks:
            a.queue.give_back(await task)
        assert a.order == ["x", "y", "z"]


async def test_ranks_go_before_arrival() -> None:
    a = bench(ahead=1)
    held = await a.lease(Rank.GUESS)
    tasks = [a.ask(rank.name, rank) for rank in (Rank.DEEPER, Rank.GUESS, Rank.JOINED)]
    await asyncio.sleep(0)
    a.queue.give_back(held)
    for task in reversed(tasks):
        a.queue.give_back(await task)
    assert a.order == ["JOINED", "GUESS", "DEEPER"]


@pytest.mark.parametrize(("waited_ranks", "first"), [(0.9, "young"), (1.1, "old")])
async def test_whoever_waits_rises_by_a_rank_after_a_while(waited_ranks: float, first: str) -> None:
    a = bench(ahead=1)
    held = await a.lease(Rank.GUESS)
    old = a.ask("old", Rank.DEEPER)
    await asyncio.sleep(0)
    a.seconds += waited_ranks * AGEING_SECONDS
    young = a.ask("young", Rank.GUESS)
    await asyncio.sleep(0)
    a.queue.give_back(held)
    for task in (old, young) if first == "old" else (young, old):
        a.queue.give_back(await task)
    assert a.order[0] == first


async def test_no_guess_rises_above_a_real_action() -> None:
    a = bench(room=2)
    await a.lease(Rank.ACTION)
    held = await a.lease(Rank.GUESS)
    guess = a.ask("guess", Rank.DEEPER)
    a.queue.resize(1)
    await asyncio.sleep(0)
    a.seconds += 100 * AGEING_SECONDS
    action = a.ask("action", Rank.ACTION)
    await asyncio.sleep(0)
    a.queue.give_back(held)  # its memory is enough for one of them
    with pytest.raises(Unspeculable, match="memory"):
        await guess
    await action


async def test_what_somebody_waits_for_by_now_goes_before_other_guesses() -> None:
    a = bench(ahead=1)
    held = await a.lease(Rank.GUESS)
    other, mine = a.ask("other", Rank.GUESS), a.ask("mine", Rank.DEEPER)
    await asyncio.sleep(0)
    a.queue.promote("mine")
    a.queue.give_back(held)
    a.queue.give_back(await mine)
    a.queue.give_back(await other)
    assert a.order == ["mine", "other"]


async def test_an_owner_gets_its_own_idle_slot_else_one_that_nobody_used() -> None:
    a = bench(ahead=3)
    fresh, used, mine = a.idle(None, "other", "me")
    assert [(await a.lease(Rank.GUESS, "me")).slot for _ in range(2)] == [mine, fresh]
    assert (await a.lease(Rank.GUESS, "me")).slot is None, "another owner's slot is closed, and a new one opened"
    assert a.dropped == [used]


async def test_dead_slots_are_not_given_out() -> None:
    a = bench()
    [dead] = a.idle("me")
    dead.reusable = False
    assert (await a.lease(Rank.GUESS, "me")).slot is None
    assert a.dropped == [dead]


async def test_where_memory_is_short_idle_slots_make_way_for_real_actions() -> None:
    a = bench(room=1)
    [idle] = a.idle("me")
    await a.lease(Rank.ACTION)
    assert (a.dropped, a.memory.room) == ([idle], 0)


async def test_one_real_action_has_its_slot_whatever_the_memory() -> None:
    a = bench(room=-5)
    first = await a.lease(Rank.ACTION)
    second = a.ask("second", Rank.ACTION)
    async with waiting(second):
        a.queue.give_back(first)
        await second


async def test_what_stands_ready_takes_no_more_memory_but_serves_one_only() -> None:
    a = bench(room=0)
    held = await a.lease(Rank.ACTION)
    a.spare = True
    assert (await a.lease(Rank.ACTION)).spare
    a.queue.give_back(held)
    async with waiting(a.ask("third", Rank.ACTION)):
        assert a.queue.live == 1


async def test_more_memory_lets_those_that_wait_go_on() -> None:
    a = bench(room=1)
    await a.lease(Rank.ACTION)
    second = a.ask("second", Rank.ACTION)
    async with waiting(second):
        a.memory.room = 1
        a.queue.drop_idle(lambda _: False)
        await second


@pytest.mark.parametrize(("ahead", "room", "reason"), [(0, 9, "no-slot"), (2, 0, "memory")])
async def test_a_guess_that_can_get_no_slot_is_refused(ahead: int, room: int, reason: str) -> None:
    with pytest.raises(Unspeculable, match=reason):
        await bench(ahead=ahead, room=room).lease(Rank.GUESS)


async def test_a_guess_waits_where_another_will_give_its_slot_back() -> None:
    a = bench(room=1)
    held = await a.lease(Rank.GUESS)
    second = a.ask("second", Rank.GUESS)
    async with waiting(second):
        a.queue.give_back(held, idle=PaperSlot(owner="second"))
        assert (await second).slot is not None


async def test_resizing_grows_at_once_and_shrinks_as_slots_come_back() -> None:
    a = bench(ahead=1)
    first = await a.lease(Rank.GUESS)
    more = [a.ask(name, Rank.GUESS) for name in "xy"]
    async with waiting(*more):
        a.queue.resize(3)
        leases = [first, *[await task for task in more]]
    a.queue.resize(1)
    slots = [PaperSlot() for _ in leases]
    for lease, slot in zip(leases, slots, strict=True):
        a.queue.give_back(lease, idle=slot)
    assert (a.queue.idle, a.dropped) == ([slots[2]], slots[:2])
    last = await a.lease(Rank.GUESS)
    waiter = a.ask("waiter", Rank.GUESS)
    await asyncio.sleep(0)
    a.queue.resize(0)
    with pytest.raises(Unspeculable, match="no-slot"):
        await waiter
    a.queue.give_back(last, idle=slots[2])
    assert a.queue.idle == []


async def test_warming_takes_what_nobody_waits_for() -> None:
    a = bench(ahead=2)
    first = await a.lease(Rank.GUESS)
    warm = a.queue.try_lease()
    assert warm is not None
    assert (a.queue.warming, a.queue.try_lease()) == (1, None)
    waiter = a.ask("waiter", Rank.GUESS)
    async with waiting(waiter):
        a.queue.give_back(first)
        await waiter
    assert bench(room=0).queue.try_lease() is None


async def test_a_cancelled_waiter_leaves_the_queue() -> None:
    a = bench(ahead=1)
    held = await a.lease(Rank.GUESS)
    cancelled, next_one = a.ask("cancelled", Rank.GUESS), a.ask("next", Rank.GUESS)
    await asyncio.sleep(0)
    cancelled.cancel()
    await asyncio.wait([cancelled])
    a.queue.give_back(held)
    a.queue.give_back(await next_one)
    assert repr(a.queue) == "<SlotQueue live=0 ahead=0 idle=0 waiting=0>"


async def test_a_waiter_cancelled_in_the_moment_of_its_turn_passes_the_slot_on() -> None:
    a = bench(ahead=1)
    held = await a.lease(Rank.GUESS)
    cancelled, next_one = a.ask("cancelled", Rank.GUESS), a.ask("next", Rank.GUESS)
    await asyncio.sleep(0)
    a.queue.give_back(held)
    cancelled.cancel()
    a.queue.give_back(await next_one)
    assert cancelled.cancelled()
    assert repr(a.queue) == "<SlotQueue live=0 ahead=0 idle=0 waiting=0>"
    assert a.memory.room == 100


async def test_what_a_cancelled_waiter_was_given_is_as_it_was_before() -> None:
    a = bench(live=1, ahead=1)
    a.spare = True
    (idle,) = a.idle("owner")
    room = a.memory.room
    for rank in (Rank.GUESS, Rank.ACTION):
        held = await a.lease(rank)
        cancelled = a.ask("cancelled", rank, owner="owner")
        await asyncio.sleep(0)
        held.spare = False
        a.queue.give_back(held, idle=held.slot)
        cancelled.cancel()
        await asyncio.wait([cancelled])
        assert (a.queue.idle, a.dropped) == ([idle], [])
        assert repr(a.queue) == "<SlotQueue live=0 ahead=0 idle=1 waiting=0>"
    assert a.memory.room == room + 1, "only who took what stood ready has closed it"


async def test_closing_turns_everybody_away() -> None:
    a = bench(live=1)
    held = await a.lease(Rank.ACTION)
    a.idle(None)
    waiter = a.ask("waiter", Rank.ACTION)
    await asyncio.sleep(0)
    a.queue.close()
    a.queue.close()
    with pytest.raises(PoolClosed):
        await waiter
    a.queue.give_back(held)
    assert repr(a.queue) == "<SlotQueue live=0 ahead=0 idle=0 waiting=0>"


async def test_waiting_time_is_counted() -> None:
    a = bench(ahead=1)
    held = await a.lease(Rank.GUESS)
    waiter = a.ask("waiter", Rank.GUESS)
    await asyncio.sleep(0)
    a.seconds += 3
    a.queue.give_back(held)
    await waiter
    assert a.queue.waited_seconds == 3


@settings(max_examples=50)
@given(st.lists(st.tuples(st.sampled_from(["ask", "cancel", "return", "resize", "age", "memory"]), st.integers(0, 3))))
def test_whatever_happens_limits_hold_and_nothing_is_left(moves: list[tuple[str, int]]) -> None:
    asyncio.run(_play(moves))


async def _play(moves: list[tuple[str, int]]) -> None:  # noqa: C901 - one case for each move
    a, tasks, biggest = bench(live=2, ahead=2, room=3), [], 2
    for move, number in moves:
        done = [task for task in tasks if task.done() and not task.cancelled() and task.exception() is None]
        match move:
            case "ask":
                tasks.append(a.ask(f"{number}", Rank(number)))
            case "cancel" if tasks:
                tasks[number % len(tasks)].cancel()
            case "return" if done:
                a.queue.give_back(done[0].result(), idle=PaperSlot() if done[0].result().ahead else None)
                tasks.remove(done[0])
            case "resize":
                biggest = max(biggest, number)
                a.queue.resize(number)
            case "age":
                a.seconds += number * AGEING_SECONDS
            case "memory":
                a.memory.room += number - 1
                a.queue.drop_idle(lambda _: False)
        await asyncio.sleep(0)
        assert a.queue.live <= 2
        assert a.queue.ahead + len(a.queue.idle) <= biggest
    for task in tasks:
        task.cancel()
    if tasks:
        await asyncio.wait(tasks)
    for task in tasks:
        if not task.cancelled() and task.exception() is None:
            a.queue.give_back(task.result())
    assert (a.queue.live, a.queue.ahead, sum(a.queue.waiting.values())) == (0, 0, 0)
