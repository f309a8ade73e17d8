"""Which guesses are worth a load, and which goes first."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from speccache.acceptance import Acceptance
from speccache.options import SpeculationOptions
from speccache.predictor import Guess
from speccache.schedule import Load, Schedule, Verdict


def guess(action: str, *, rank: int = 1, predictor: str = "p") -> Guess[str]:
    return Guess(action=action, predictor=predictor, rank=rank)


def offer(schedule: Schedule[str], action: str, plausibility: float = 0.5, *, depth: int = 0) -> Verdict[str]:
    return schedule.offer(guess(action), action, plausibility=plausibility, depth=depth)


def started(schedule: Schedule[str]) -> list[str]:
    """Start all that may start; the actions in order."""
    actions = []
    while (load := schedule.start_next()) is not None:
        actions.append(load.guess.action)
    return actions


def test_the_most_plausible_starts_first() -> None:
    schedule: Schedule[str] = Schedule(SpeculationOptions(max_running=2))
    for action, plausibility in (("a", 0.1), ("b", 0.4), ("c", 0.3)):
        offer(schedule, action, plausibility)
    assert started(schedule) == ["b", "c"]
    assert repr(schedule) == "<Schedule turn=0 running=2 queued=1>"


def test_a_turn_takes_no_more_than_the_cap() -> None:
    schedule: Schedule[str] = Schedule(SpeculationOptions(max_guesses=2))
    offer(schedule, "a")
    assert schedule.take_known("b", depth=0)
    assert offer(schedule, "c").reason == "over-cap"
    assert not schedule.take_known("d", depth=0)
    schedule.begin_turn()
    assert offer(schedule, "c").reason == ""


def test_a_much_better_guess_takes_the_place_of_the_least_plausible() -> None:
    schedule: Schedule[str] = Schedule(SpeculationOptions(max_guesses=2))
    offer(schedule, "a", 0.2)
    offer(schedule, "b", 0.3)
    assert offer(schedule, "c", 0.22).reason == "over-cap"
    verdict = offer(schedule, "d", 0.5)
    assert verdict.evicted is not None
    assert (verdict.evicted.key, verdict.reason) == ("a", "")
    assert schedule.is_new("a")


def test_a_finished_load_is_not_evicted() -> None:
    schedule: Schedule[str] = Schedule(SpeculationOptions(max_guesses=1))
    load = offer(schedule, "a", 0.1).load
    assert load is not None
    schedule.start_next()
    schedule.remove(load)
    assert offer(schedule, "b", 0.9).reason == "over-cap"


def test_an_implausible_guess_is_not_worth_a_load() -> None:
    assert offer(Schedule(SpeculationOptions(min_plausibility=0.1)), "a", 0.09).reason == "implausible"


def test_a_load_that_nobody_guesses_any_more_gives_up_its_slot() -> None:
    schedule: Schedule[str] = Schedule(SpeculationOptions(max_running=2))
    offer(schedule, "a", 0.9)
    offer(schedule, "b", 0.1)
    started(schedule)
    schedule.begin_turn()
    schedule.take_known("b", depth=0)
    verdict = offer(schedule, "c", 0.2)
    assert verdict.evicted is not None
    assert verdict.evicted.key == "a", "still running, but of the turn before"


def test_what_never_started_is_dropped_with_its_turn() -> None:
    schedule: Schedule[str] = Schedule(SpeculationOptions(max_running=1))
    offer(schedule, "a", 0.9)
    offer(schedule, "b", 0.1)
    started(schedule)
    assert [load.key for load in schedule.begin_turn()] == ["b"]


def test_deeper_guesses_have_a_cap_of_their_own() -> None:
    schedule: Schedule[str] = Schedule(SpeculationOptions(max_guesses=1, max_deeper=1))
    offer(schedule, "a")
    assert offer(schedule, "b", depth=1).reason == ""
    assert offer(schedule, "c", depth=1).reason == "over-cap"


@given(
    st.lists(
        st.tuples(st.sampled_from(["offer", "turn", "start", "end"]), st.sampled_from("abcdefgh"), st.floats(0, 1)),
        max_size=60,
    )
)
def test_no_bound_is_ever_exceeded(deeds: list[tuple[str, str, float]]) -> None:
    options = SpeculationOptions(max_guesses=3, max_running=2)
    schedule: Schedule[str] = Schedule(options)
    running: list[Load[str]] = []
    taken: set[str] = set()
    for deed, key, plausibility in deeds:
        if deed == "offer" and schedule.is_new(key) and key not in schedule:
            verdict = offer(schedule, key, plausibility)
            if verdict.evicted is not None:
                taken.discard(str(verdict.evicted.key))
                running = [load for load in running if load is not verdict.evicted]
            if verdict.load is not None:
                taken.add(key)
        elif deed == "turn":
            schedule.begin_turn()
            taken = set()
        elif deed == "start" and (load := schedule.start_next()) is not None:
            running.append(load)
        elif deed == "end" and running:
            schedule.remove(running.pop())
        assert schedule.running == len(running) <= options.max_running
        assert len(taken) <= options.max_guesses


def test_acceptance_moves_from_its_prior_to_what_was_measured() -> None:
    acceptance = Acceptance({"p": (0.5, 0.1)}, prior_weight=4)
    assert acceptance.plausibility(guess("a")) == 0.5
    assert acceptance.plausibility(guess("a", rank=9)) < 0.1
    for _ in range(100):
        acceptance.learn([(guess("a"), "a"), (guess("b", rank=2), "b")], "b")
    assert acceptance.plausibility(guess("x")) < 0.05
    assert acceptance.plausibility(guess("x", rank=2)) > 0.95
    assert "p@1 0/100" in repr(acceptance)
