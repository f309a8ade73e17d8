"""Hit, join, miss: the target sees the same, only sooner."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence

import pytest

from speccache import (
    Account,
    Event,
    EventKind,
    Guess,
    Lifetime,
    SpeculationOptions,
    SpeculativeEnvironment,
    Unspeculable,
)
from tests.conformance import check_law
from tests.speccache.maze import Maze, Script

Environments = Callable[..., SpeculativeEnvironment[str, str]]


@pytest.fixture
async def maze() -> Maze:
    return Maze()


@pytest.fixture
async def speculative(maze: Maze, events: list[Event]) -> AsyncIterator[Environments]:
    made: list[SpeculativeEnvironment[str, str]] = []

    def make(*turns: Sequence[str] | Exception, **options: int) -> SpeculativeEnvironment[str, str]:
        environment = SpeculativeEnvironment(
            maze, predictors=[Script(*turns)], options=SpeculationOptions(**options), listener=events.append
        )
        made.append(environment)
        return environment

    yield make
    for environment in made:
        await environment.aclose()
        assert "running=0 waiters=0" in repr(environment)
        assert "running=0 queued=0" in repr(environment)
    assert not +maze.peeking


def kinds(events: list[Event]) -> list[EventKind]:
    return [event.kind for event in events]


async def until(events: list[Event], kind: EventKind, count: int = 1) -> None:
    while kinds(events).count(kind) < count:
        await asyncio.sleep(0)


async def test_a_hit_is_there_at_once(maze: Maze, events: list[Event], speculative: Environments) -> None:
    environment = speculative(["a", "b"])
    await environment.step("start")
    await until(events, EventKind.LOAD, 2)
    assert await environment.step("a") == "view of a"
    assert maze.room == "a"
    assert maze.entered == ["start"]
    assert events[-1].kind is EventKind.HIT


class Shown:
    """A predictor that remembers how many steps it was shown."""

    name = "shown"

    def __init__(self) -> None:
        self.steps: list[int] = []

    async def predict(self, trajectory: Sequence[object], /) -> AsyncGenerator[Guess[str]]:
        self.steps.append(len(trajectory))
        return
        yield


async def test_predictors_are_shown_the_latest_steps_only(maze: Maze) -> None:
    shown = Shown()
    environment = SpeculativeEnvironment(maze, predictors=[shown], options=SpeculationOptions(max_steps=2))
    for turn, room in enumerate(["start", "a", "b", "c"], 1):
        await environment.step(room)
        while len(shown.steps) < turn:
            await asyncio.sleep(0)
    assert shown.steps == [1, 2, 2, 2]
    await environment.aclose()


async def test_the_load_starts_before_the_decision(maze: Maze, events: list[Event], speculative: Environments) -> None:
    maze.shut("a")
    environment = speculative(["a"])
    await environment.step("start")
    await maze.until_peeking("a")
    assert kinds(events) == [EventKind.MISS, EventKind.LAUNCH, EventKind.PREDICT]


async def test_a_predictor_that_is_stopped_tells_how_long_it_guessed(maze: Maze, events: list[Event]) -> None:
    now, asked = [0.0], asyncio.Event()

    class Slow:
        name = "slow"

        async def predict(self, trajectory: object, /) -> AsyncGenerator[Guess[str]]:
            asked.set()
            await asyncio.Event().wait()
            yield Guess(action="a", predictor=self.name)

    environment = SpeculativeEnvironment(maze, predictors=[Slow()], listener=events.append, clock=lambda: now[0])
    await environment.step("start")
    await asked.wait()
    now[0] = 2.5
    await environment.aclose()
    assert [(event.predictor, event.seconds) for event in events if event.kind is EventKind.PREDICT] == [("slow", 2.5)]


async def test_a_join_waits_for_the_rest_only(maze: Maze, events: list[Event], speculative: Environments) -> None:
    gate = maze.shut("a")
    environment = speculative(["a"])
    await environment.step("start")
    await maze.until_peeking("a")
    step = asyncio.create_task(environment.step("a"))
    await asyncio.sleep(0)
    gate.set()
    assert await step == "view of a"
    assert maze.room == "a"
    assert maze.peeked == ["a"]
    assert EventKind.JOIN in kinds(events)


async def test_a_load_that_was_only_just_launched_is_joined(
    maze: Maze, events: list[Event], speculative: Environments
) -> None:
    environment = speculative(["a"])
    await environment.step("start")
    while EventKind.LAUNCH not in kinds(events):
        await asyncio.sleep(0)
    assert maze.peeked == [], "its task has not run yet"
    await environment.step("a")
    assert maze.peeked == ["a"]
    assert maze.entered == ["start"]


async def test_a_miss_never_waits_for_a_speculation(maze: Maze, speculative: Environments) -> None:
    maze.shut("a")
    maze.shut("b")
    environment = speculative(["a", "b"], max_running=2)
    await environment.step("start")
    await maze.until_peeking("a", "b")
    assert await environment.step("c") == "view of c"
    assert maze.entered == ["start", "c"]


async def test_nothing_new_starts_while_the_target_loads(maze: Maze, speculative: Environments) -> None:
    first, slow = maze.shut("a"), maze.shut("c")
    environment = speculative(["a", "b"], max_running=1)
    await environment.step("start")
    await maze.until_peeking("a")
    step = asyncio.create_task(environment.step("c"))
    await asyncio.sleep(0)
    first.set()
    for _ in range(10):
        await asyncio.sleep(0)
    assert maze.peeked == ["a"]
    slow.set()
    await step


async def test_a_failed_speculation_is_counted_and_the_ordinary_path_taken(
    maze: Maze, events: list[Event], speculative: Environments
) -> None:
    gate = maze.shut("a")
    maze.broken = {"a": RuntimeError("no door"), "b": Unspeculable("trap")}
    environment = speculative(["a", "b"])
    await environment.step("start")
    await maze.until_peeking("a")
    step = asyncio.create_task(environment.step("a"))
    await asyncio.sleep(0)
    gate.set()
    assert await step == "view of a"
    assert maze.entered == ["start", "a"]
    await until(events, EventKind.REFUSE)
    account = Account()
    for event in events:
        account(event)
    assert account.failures == {"RuntimeError: no door": 1}
    assert account.refusals == {"trap": 1}
    assert (account.hits, account.joins, account.misses) == (0, 0, 2)
    assert (account.speculated, account.wasted) == (2, 2)


async def test_a_failing_predictor_is_counted(events: list[Event], speculative: Environments) -> None:
    environment = speculative(ValueError("no idea"), ["a"])
    await environment.step("start")
    await until(events, EventKind.FAIL)
    await environment.step("b")
    await until(events, EventKind.LOAD)


async def test_max_guesses_caps_a_turn(maze: Maze, events: list[Event], speculative: Environments) -> None:
    environment = speculative(["a", "a", "look", "b", "c", "d"], max_guesses=3)
    await environment.step("start")
    await until(events, EventKind.LOAD, 3)
    assert sorted(maze.peeked) == ["a", "b", "c"]


async def test_a_new_guess_takes_the_slot_of_an_implausible_one(
    maze: Maze, events: list[Event], speculative: Environments
) -> None:
    maze.shut("a")
    environment = speculative(["a"], ["b"], max_running=1)
    await environment.step("start")
    await maze.until_peeking("a")
    await environment.step("c")
    await until(events, EventKind.LOAD)
    cancelled = [event for event in events if event.kind is EventKind.CANCEL]
    assert [(event.action, event.reason) for event in cancelled] == [("a", "implausible")]
    assert maze.peeked == ["a", "b"]


async def test_a_page_visited_before_is_a_hit(maze: Maze, events: list[Event], speculative: Environments) -> None:
    environment = speculative()
    await environment.step("a")
    await environment.step("b")
    await environment.step("a")
    assert kinds(events) == [EventKind.MISS, EventKind.MISS, EventKind.HIT]
    assert maze.entered == ["a", "b"]


async def test_an_action_without_key_goes_straight_through(events: list[Event], speculative: Environments) -> None:
    environment = speculative()
    assert await environment.step("look") == "view of start"
    assert kinds(events) == [EventKind.DIRECT]


async def test_a_step_that_is_cancelled_leaves_nothing_behind(maze: Maze, speculative: Environments) -> None:
    maze.shut("a")
    environment = speculative(["a"])
    await environment.step("start")
    await maze.until_peeking("a")
    join = asyncio.create_task(environment.step("a"))
    await asyncio.sleep(0)
    join.cancel()
    with pytest.raises(asyncio.CancelledError):
        await join
    assert "held=0" in repr(environment)
    maze.shut("b")
    miss = asyncio.create_task(environment.step("b"))
    await asyncio.sleep(0)
    miss.cancel()
    with pytest.raises(asyncio.CancelledError):
        await miss
    assert "held=0" in repr(environment)


async def test_closing_ends_running_loads_and_may_be_repeated(
    maze: Maze, events: list[Event], speculative: Environments
) -> None:
    maze.shut("a")
    environment = speculative(["a"])
    await environment.step("start")
    await maze.until_peeking("a")
    await environment.aclose()
    assert not +maze.peeking
    assert (events[-1].kind, events[-1].reason) == (EventKind.CANCEL, "closed")
    await environment.aclose()
    assert maze.closed == 2


async def test_a_guess_is_never_stored_under_another_places_key(events: list[Event]) -> None:
    class Turning(Maze):
        """The view depends on the room one stands in, and so does the key."""

        def key(self, action: str) -> str | None:
            return f"{action} from {self.room}"

    maze = Turning()
    environment = SpeculativeEnvironment(
        maze, predictors=[Script(["a", "b"])], options=SpeculationOptions(max_running=1), listener=events.append
    )
    maze.shut("a")
    await environment.step("start")
    await maze.until_peeking("a")
    await environment.step("c")
    maze.gates["a"].set()
    await until(events, EventKind.LOAD)
    assert "no-slot" in {event.reason for event in events}
    await environment.step("a")
    assert events[-1].kind is EventKind.MISS
    await environment.aclose()


async def test_hidden_time_is_what_ran_behind_the_thinking(maze: Maze, events: list[Event]) -> None:
    now = [0.0]
    account = Account()
    environment = SpeculativeEnvironment(maze, predictors=[Script(["a", "b"])], listener=account, clock=lambda: now[0])
    gates = [maze.shut("a"), maze.shut("b")]
    await environment.step("start")
    await maze.until_peeking("a", "b")
    now[0] = 3.0
    gates[0].set()
    while "entries=2" not in repr(environment):
        await asyncio.sleep(0)
    await environment.step("a")
    step = asyncio.create_task(environment.step("b"))
    await asyncio.sleep(0)
    now[0] = 4.0
    gates[1].set()
    await step
    assert (account.hits, account.joins, account.wasted) == (1, 1, 0)
    assert account.hidden_seconds == 6.0
    assert account.waited_seconds == 1.0
    await environment.aclose()


async def test_the_maze_keeps_the_law() -> None:
    async def fresh() -> Maze:
        return Maze()

    await check_law(fresh, first="a", then=["look", "b", "a"])


async def test_idle_time_goes_one_level_deeper(maze: Maze, events: list[Event]) -> None:
    script = Script(["a"], ["c", "d", "e"])
    environment = SpeculativeEnvironment(
        maze, predictors=[script], deeper=[script], options=SpeculationOptions(max_deeper=2), listener=events.append
    )
    gate = maze.shut("a")
    await environment.step("start")
    await maze.until_peeking("a")
    assert maze.peeked == ["a"], "nothing deeper while there is something to do"
    gate.set()
    await until(events, EventKind.LOAD, 3)
    assert maze.peeked == ["a", "c", "d"]
    assert "over-cap" in {event.reason for event in events}
    await environment.step("a")
    await environment.step("c")
    assert [event.kind for event in events if event.kind in (EventKind.HIT, EventKind.MISS)][1:] == [EventKind.HIT] * 2
    await environment.aclose()


async def test_what_is_guessed_one_level_deeper_is_no_guess_of_the_turns_own_action(
    maze: Maze, events: list[Event]
) -> None:
    account, script = Account(), Script(["a"], ["c"])

    def told(event: Event) -> None:
        events.append(event)
        account(event)

    environment = SpeculativeEnvironment(maze, predictors=[script], deeper=[script], listener=told)
    await environment.step("start")
    await until(events, EventKind.LOAD, 2)
    assert [(event.action, event.depth) for event in events if event.kind is EventKind.LAUNCH] == [("a", 0), ("c", 1)]
    await environment.step("c")
    assert (events[-1].kind, account.hits) == (EventKind.HIT, 1)
    assert account.hits_within(3) == 0
    await environment.aclose()


async def test_guesses_are_counted_anew_after_an_action_that_is_never_run_ahead(
    maze: Maze, events: list[Event]
) -> None:
    account = Account()

    def told(event: Event) -> None:
        events.append(event)
        account(event)

    environment = SpeculativeEnvironment(maze, predictors=[Script(["a"], ["b"])], listener=told)
    await environment.step("start")
    await until(events, EventKind.LOAD)
    await environment.step("look")
    await until(events, EventKind.LOAD, 2)
    await environment.step("b")
    assert account.hits_within(1) == 1
    await environment.aclose()


async def test_what_the_target_has_loaded_itself_is_not_loaded_once_more(maze: Maze, events: list[Event]) -> None:
    account, now = Account(), [0.0]

    def told(event: Event) -> None:
        events.append(event)
        account(event)

    environment = SpeculativeEnvironment(
        maze,
        predictors=[Script(["b", "c", "d"])],
        options=SpeculationOptions(max_running=1),
        listener=told,
        clock=lambda: now[0],
    )
    guessed, wanted = maze.shut("b"), maze.shut("c")
    await environment.step("start")
    await maze.until_peeking("b")
    now[0] = 3.0
    step = asyncio.create_task(environment.step("c"))
    await asyncio.sleep(0)
    guessed.set()
    await until(events, EventKind.LOAD)  # a slot is free, but the target loads itself
    now[0] = 5.0
    wanted.set()
    await step
    assert [event.action for event in events if event.reason == "no-slot"] == ["c"]
    await until(events, EventKind.LOAD, 2)
    assert maze.peeked == ["b", "d"]
    assert (account.measured_seconds, account.bound_seconds) == (5.0, 3.0)
    await environment.aclose()


async def test_the_gate_and_the_pressure_refuse_with_their_reasons(maze: Maze, events: list[Event]) -> None:
    pressure: list[str | None] = [None]
    environment = SpeculativeEnvironment(
        maze,
        predictors=[Script(["a", "trap"], ["b"])],
        gate=lambda action, seen: "effect" if action == "trap" and seen == "view of start" else None,
        pressure=lambda: pressure[0],
        listener=events.append,
    )
    await environment.step("start")
    await until(events, EventKind.LOAD)
    pressure[0] = "memory"
    await environment.step("a")
    await until(events, EventKind.REFUSE, 2)
    assert [event.reason for event in events if event.kind is EventKind.REFUSE] == ["effect", "memory"]
    assert maze.peeked == ["a"]
    await environment.aclose()


async def test_what_loads_already_is_not_judged_again(maze: Maze, events: list[Event]) -> None:
    gate = maze.shut("a")
    environment = SpeculativeEnvironment(
        maze,
        predictors=[Script(["a"], ["a", "b"])],
        gate=lambda _action, _seen: "host-busy" if maze.peeking["a"] else None,
        pressure=lambda: "memory" if maze.peeking["a"] else None,
        listener=events.append,
    )
    await environment.step("start")
    await maze.until_peeking("a")
    await environment.step("look")
    await until(events, EventKind.REFUSE)
    gate.set()
    await until(events, EventKind.LOAD)
    told = (EventKind.LAUNCH, EventKind.KNOWN, EventKind.REFUSE, EventKind.LOAD)
    assert [(event.kind, event.action) for event in events if event.kind in told] == [
        (EventKind.LAUNCH, "a"),
        (EventKind.KNOWN, "a"),
        (EventKind.REFUSE, "b"),
        (EventKind.LOAD, "a"),
    ]
    await environment.aclose()


async def test_what_is_for_single_use_serves_the_next_step_once(maze: Maze, events: list[Event]) -> None:
    environment = SpeculativeEnvironment(
        maze,
        predictors=[Script(["a", "b"])],
        lifetime_of=lambda _: Lifetime(single_use=True),
        listener=events.append,
    )
    await environment.step("start")
    await until(events, EventKind.LOAD, 2)
    await environment.step("a")
    await environment.step("b")
    await environment.step("a")
    steps = [event.kind for event in events if event.kind in (EventKind.HIT, EventKind.MISS)]
    assert steps == [EventKind.MISS, EventKind.HIT, EventKind.MISS, EventKind.MISS]
    await environment.aclose()


async def test_the_account_compares_with_perfect_overlap(maze: Maze) -> None:
    now = [0.0]
    account = Account()
    environment = SpeculativeEnvironment(
        maze, predictors=[Script(["a", "b"], ["c"])], listener=account, clock=lambda: now[0]
    )
    gates = [maze.shut("a"), maze.shut("b")]
    await environment.step("start")
    await maze.until_peeking("a", "b")
    now[0] = 2.0  # the target still thinks when the page is there after 2 s
    gates[0].set()
    gates[1].set()
    while "entries=3" not in repr(environment):
        await asyncio.sleep(0)
    now[0] = 5.0
    await environment.step("b")
    gate = maze.shut("d")
    miss = asyncio.create_task(environment.step("d"))
    await asyncio.sleep(0)
    now[0] = 6.0  # decided at once, then waited 1 s
    gate.set()
    await miss
    assert (account.hits_within(1), account.hits_within(3)) == (0, 1)
    assert account.measured_seconds == 5.0 + 1.0
    assert account.bound_seconds == 5.0 + 1.0
    assert account.wasted >= 1
    await environment.aclose()
