"""Live progress: complete on a terminal, silent where nobody watches, and never fooled by what a page wrote."""

from __future__ import annotations

import io

from rich.console import Console

from agent.events import Call, CallKind, Decided, Finished, Observed, RunEvent, Started, Thinking
from agent.live_view import MAX_AHEAD, LiveView
from agent.progress import Progress
from agent.target import Usage
from speccache.events import Event, EventKind


def ahead(kind: EventKind, path: str, *, seconds: float = 0.0, predictor: str = "rank") -> Event:
    return Event(
        kind=kind, at_seconds=0, turn=1, action=f"visit {path}", key=path, seconds=seconds, predictor=predictor
    )


def decided(thought: str) -> Decided:
    return Decided(at_seconds=4, turn=1, action="visit 3", thought=thought, seconds=2.5, usage=Usage(), calls=1)


RUN: list[RunEvent] = [
    Started(at_seconds=0, question="Who [bold]founded[/bold] it?", url="http://site.test/", target="model"),
    Thinking(at_seconds=1, turn=1),
    ahead(EventKind.LAUNCH, "/founders"),
    ahead(EventKind.LOAD, "/founders", seconds=0.7),
    Call(at_seconds=2, kind=CallKind.RETRY, role="target", model="model", reason="it was busy", seconds=1.0),
    Call(at_seconds=3, kind=CallKind.REPLY, role="target", model="model", seconds=1.0),
    decided("The founders' page [red]looks[/red] right."),
    ahead(EventKind.HIT, "/founders", predictor=""),
    Observed(
        at_seconds=5,
        turn=1,
        action="visit 3",
        url="http://site.test/founders",
        title="Founders",
        status=200,
        readiness="quiet",
        problem=None,
        text="",
        seconds=0.0,
    ),
    Finished(at_seconds=6, status="answered", answer="Ada", sources=(), reason=""),
]


def shown(*, terminal: bool, verbose: bool = False) -> str:
    screen = io.StringIO()
    console = Console(file=screen, force_terminal=terminal, width=160, color_system=None)
    with Progress(console, verbose=verbose) as progress:
        for event in RUN:
            progress(event)
    return screen.getvalue()


def test_a_terminal_shows_thoughts_pages_hits_and_troubles() -> None:
    text = shown(terminal=True)
    assert "Who [bold]founded[/bold] it?" in text
    assert "The founders' page [red]looks[/red] right." in text
    assert "hit    Founders" in text
    assert "it was busy" in text
    assert "reply" not in text


def test_nobody_watching_hears_nothing_unless_asked() -> None:
    assert shown(terminal=False) == ""
    text = shown(terminal=False, verbose=True)
    assert "launch  visit /founders" in text
    assert "reply    model" in text


def test_the_present_is_shown_and_what_is_over_is_not() -> None:
    now = [0.0]
    view = LiveView(clock=lambda: now[0])
    for event in RUN[:3]:
        view(event)
    view(ahead(EventKind.LAUNCH, "/team"))
    now[0] = 3.0
    assert "turn 1: thinking  3.0 s" in drawn(view)
    assert "loading    3.0 s  visit /founders" in drawn(view)
    view(ahead(EventKind.LOAD, "/founders", seconds=0.7))
    view(ahead(EventKind.CANCEL, "/team"))
    assert "ready in 0.70 s  visit /founders" in drawn(view)
    assert "/team" not in drawn(view)
    view(decided("It is there."))
    view(ahead(EventKind.HIT, "/founders", predictor=""))
    assert "last thought: It is there." in drawn(view)
    assert "hits 1" in drawn(view)
    assert "/founders" not in drawn(view)


def test_many_pages_opened_ahead_are_counted() -> None:
    view = LiveView()
    for number in range(MAX_AHEAD + 3):
        view(ahead(EventKind.LAUNCH, f"/{number}"))
    assert "and 3 more opened ahead" in drawn(view)


def drawn(view: LiveView) -> str:
    console = Console(file=io.StringIO(), force_terminal=True, width=120, color_system=None)
    with console.capture() as capture:
        console.print(view)
    return capture.get()
