"""What is happening at this moment, for a person who watches: the thought, the pages being opened ahead, the score.

Invariant: it only shows; it learns of everything from the run's events, and keeps nothing of what is over.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from rich.console import Group, RenderableType
from rich.spinner import Spinner
from rich.text import Text

from agent.events import Concluding, Decided, Observed, RunEvent, Started, Thinking
from speccache.events import Event, EventKind

MAX_AHEAD = 6
"""Pages opened ahead that are shown one by one; of the others the number."""

_STEPS = {EventKind.HIT: "hits", EventKind.JOIN: "joins", EventKind.MISS: "misses"}
_OVER = (EventKind.CANCEL, EventKind.FAIL, EventKind.REFUSE)


@dataclass(slots=True)
class _Ahead:
    """A page opened ahead: since when, or in how many seconds it was there."""

    action: str
    since_seconds: float
    ready_seconds: float | None = None


class LiveView:
    """A picture of a run's present, drawn anew whenever it is asked for.

    Args:
        clock: Tells the time that passes while nothing happens, in seconds; the events' own clock, or one as fast.
    """

    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._doing = ""
        self._since_seconds = clock()
        self._thought = ""
        self._ahead: dict[str, _Ahead] = {}
        self._score: Counter[str] = Counter()

    def __call__(self, event: RunEvent) -> None:
        """Take one event in."""
        match event:
            case Started():
                self._begin("opening the first page")
            case Thinking():
                self._begin(f"turn {event.turn}: thinking")
            case Concluding():
                self._begin("summing up")
            case Decided():
                self._thought = event.thought or event.action
                self._begin(f"turn {event.turn}: {event.action}")
            case Observed():
                self._begin("reading")
            case Event():
                self._ahead_of_time(event)

    def _begin(self, doing: str) -> None:
        self._doing, self._since_seconds = doing, self._clock()

    def _ahead_of_time(self, event: Event) -> None:
        name = event.key or event.action
        if event.kind is EventKind.LAUNCH:
            self._ahead[name] = _Ahead(action=event.action, since_seconds=self._clock())
        elif event.kind is EventKind.LOAD and name in self._ahead:
            self._ahead[name].ready_seconds = event.seconds
        elif event.kind in _OVER:
            self._ahead.pop(name, None)
        elif event.kind in _STEPS:
            self._ahead.pop(name, None)
            self._score[_STEPS[event.kind]] += 1

    def __rich__(self) -> RenderableType:
        """Draw the present."""
        seconds = self._clock() - self._since_seconds
        rows: list[RenderableType] = [Spinner("dots", text=_line(f" {self._doing}  {seconds:.1f} s"))]
        if self._thought:
            rows.append(_line(f"  last thought: {self._thought}", style="dim"))
        rows += [self._row(page) for page in list(self._ahead.values())[-MAX_AHEAD:]]
        hidden = len(self._ahead) - MAX_AHEAD
        score = ", ".join(f"{name} {count}" for name, count in self._score.items())
        more = f"and {hidden} more opened ahead" if hidden > 0 else ""
        if score or more:
            rows.append(_line("  " + "; ".join(filter(None, (score, more))), style="dim"))
        return Group(*rows)

    def _row(self, page: _Ahead) -> Text:
        if page.ready_seconds is not None:
            return _line(f"  ahead  ready in {page.ready_seconds:.2f} s  {page.action}", style="green")
        return _line(f"  ahead  loading {self._clock() - page.since_seconds:6.1f} s  {page.action}", style="yellow")


def _line(text: str, *, style: str = "") -> Text:
    """One line, cut at the terminal's edge; what a page or a model wrote is no markup."""
    return Text(" ".join(text.split("\n")), style=style, no_wrap=True, overflow="ellipsis")
