"""What happens beside a run, told between its events and never before its first."""

from __future__ import annotations

from agent.events import Finished, Notice, RunEvent, Started
from agent.notices import Notices

BEGUN = Started(at_seconds=1.0, question="", url="", target="")
ENDED = Finished(at_seconds=3.0, status="", answer="", sources=(), reason="")


def test_what_is_known_before_a_run_begins_is_told_once_it_has() -> None:
    told: list[RunEvent] = []
    notices = Notices(told.append, clock=lambda: 2.0)
    notices.notice("the cache is lost")
    assert told == []
    notices(BEGUN)
    notices.notice("the cache is back")
    notices(ENDED)
    lost, back = (Notice(at_seconds=2.0, text=text) for text in ("the cache is lost", "the cache is back"))
    assert told == [BEGUN, lost, back, ENDED]
    assert notices.texts == ["the cache is lost", "the cache is back"]
