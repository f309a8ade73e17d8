"""How a run's events become steps: told with events in the order in which a run gives them."""

from __future__ import annotations

from agent.events import Decided, Observed
from agent.target import Usage
from evals.runs import PageStep
from evals.runs.step_log import StepLog
from speccache.events import Event, EventKind


def cache(kind: EventKind, page: str, **facts: object) -> Event:
    return Event(kind=kind, at_seconds=0.0, turn=1, action=f"visit {page}", key=page, **facts)  # type: ignore[arg-type]


def seen(page: str, seconds: float, *, action: str = "") -> Observed:
    return Observed(
        at_seconds=0.0,
        turn=1,
        action=action or f"visit {page}",
        url=page,
        title="",
        status=200,
        readiness="quiet",
        problem=None,
        text="",
        seconds=seconds,
    )


def decided(seconds: float) -> Decided:
    return Decided(at_seconds=0.0, turn=1, action="", thought="", seconds=seconds, usage=Usage())


def steps(*events: Event | Observed | Decided) -> list[PageStep]:
    log = StepLog()
    for event in events:
        log(event)
    return log.steps


def test_with_speculation_off_every_page_is_a_miss() -> None:
    first, second, more = steps(seen("/", 1.0), decided(2.0), seen("/a", 0.5), seen("/a", 0.0, action="more"))
    assert (first.kind, first.why_missed) == ("miss", "first page")
    assert (second.kind, second.load_seconds, second.waited_seconds, second.thought_seconds) == ("miss", 0.5, 0.5, 2.0)
    assert second.why_missed == "not guessed"
    assert more.kind == "direct"


def test_a_hit_knows_whose_guess_it_was_and_at_which_place() -> None:
    _, hit = steps(
        cache(EventKind.MISS, "/", waited_seconds=1.0),
        seen("/", 1.0),
        cache(EventKind.LAUNCH, "/b", predictor="quick", rank=1),
        cache(EventKind.LAUNCH, "/a", predictor="rank", rank=1),
        decided(2.0),
        cache(EventKind.HIT, "/a", seconds=0.8),
        seen("/a", 0.001),
    )
    assert (hit.kind, hit.predictor, hit.rank, hit.named, hit.why_missed) == ("hit", "rank", 2, True, "")
    assert (hit.load_seconds, hit.waited_seconds, hit.thought_seconds) == (0.8, 0.001, 2.0)


def test_a_page_guessed_in_an_earlier_turn_is_named_but_has_no_place_in_this_one() -> None:
    *_, last = steps(
        seen("/", 1.0),
        cache(EventKind.LAUNCH, "/a", predictor="rank", rank=1),
        cache(EventKind.LAUNCH, "/b", predictor="rank", rank=2),
        cache(EventKind.HIT, "/a", seconds=0.8),
        seen("/a", 0.001),
        cache(EventKind.JOIN, "/b", seconds=0.9, waited_seconds=0.2),
        seen("/b", 0.2),
    )
    assert (last.kind, last.rank, last.named, last.predictor) == ("join", 0, True, "rank")


def test_a_miss_says_why() -> None:
    _, refused, cancelled, failed, started_again = steps(
        seen("/", 1.0),
        cache(EventKind.REFUSE, "/a", reason="over-cap"),
        cache(EventKind.MISS, "/a", waited_seconds=0.4),
        seen("/a", 0.4),
        cache(EventKind.LAUNCH, "/b", predictor="rank"),
        cache(EventKind.CANCEL, "/b", reason="implausible"),
        cache(EventKind.MISS, "/b", waited_seconds=0.4),
        seen("/b", 0.4),
        cache(EventKind.LAUNCH, "/c", predictor="rank"),
        cache(EventKind.FAIL, "/c", reason="TimeoutError: 30 s at /c"),
        cache(EventKind.MISS, "/c", waited_seconds=0.4),
        seen("/c", 0.4),
        cache(EventKind.REFUSE, "/d", reason="no-slot"),
        cache(EventKind.LAUNCH, "/d", predictor="rank"),
        cache(EventKind.MISS, "/d", waited_seconds=0.4),
        seen("/d", 0.4),
    )
    assert refused.why_missed == "refused: over-cap"
    assert cancelled.why_missed == "cancelled: implausible"
    assert failed.why_missed == "failed: TimeoutError"
    assert started_again.why_missed == "not guessed"
    assert (refused.named, cancelled.named, refused.rank, cancelled.rank) == (False, True, 0, 1)
