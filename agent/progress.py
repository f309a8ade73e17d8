"""A run as it happens, for a person who watches: a line for every page read and every thought.

Invariant: it writes to standard error only, and what it says is readable without colour.
"""

from __future__ import annotations

from rich.console import Console
from rich.markup import escape
from rich.status import Status

from agent.events import Decided, Finished, Observed, RunEvent, Started, Thinking
from speccache.events import Event, EventKind

_HOW = {EventKind.HIT: "hit", EventKind.JOIN: "join", EventKind.MISS: "miss", EventKind.DIRECT: "direct"}


class Progress:
    """A listener that prints.

    Args:
        console: Where to; standard error.
        verbose: Whether guesses and loads are shown one by one, too.

    Resource handling: on a terminal it owns a spinner; `close()` it, or use it as a context manager.
    """

    def __init__(self, console: Console, *, verbose: bool = False) -> None:
        self._console = console
        self._verbose = verbose
        self._how = ""
        self._ahead = 0
        self._status: Status | None = console.status("") if console.is_terminal else None

    def __call__(self, event: RunEvent) -> None:
        """Show one event."""
        match event:
            case Started():
                self._print(f"[bold]{escape(event.question)}[/bold]  (target: {escape(event.target)})")
                self._spin("opening the first page")
            case Thinking():
                self._spin(f"turn {event.turn}: thinking")
            case Decided():
                self._print(f"  think {event.seconds:6.2f} s  {escape(_short(event.thought or event.action))}")
                self._spin("loading")
            case Observed():
                self._observed(event)
            case Event():
                self._ahead_of_time(event)
            case Finished():
                self.close()

    def _observed(self, event: Observed) -> None:
        what = event.problem or event.title or event.url
        how = f"{self._how:6}" if self._how else "      "
        self._print(f"  [cyan]read[/cyan]  {event.seconds:6.2f} s  {how} {escape(_short(what))}  {escape(event.url)}")
        self._how = ""

    def _ahead_of_time(self, event: Event) -> None:
        self._how = _HOW.get(event.kind, self._how)
        if event.kind is EventKind.LAUNCH:
            self._ahead += 1
        elif event.kind in (EventKind.LOAD, EventKind.CANCEL) or (event.kind is EventKind.REFUSE and event.seconds):
            self._ahead = max(0, self._ahead - 1)
        if self._verbose and event.predictor:
            detail = f" ({event.reason})" if event.reason else f" {event.seconds:.2f} s" if event.seconds else ""
            self._print(f"    [dim]{event.kind:7} {escape(event.action)}{escape(detail)}  by {event.predictor}[/dim]")

    def _print(self, line: str) -> None:
        self._console.print(line, highlight=False, soft_wrap=True)

    def _spin(self, doing: str) -> None:
        if self._status is not None:
            ahead = f", {self._ahead} opened ahead" if self._ahead else ""
            self._status.update(f"{doing}{ahead} …")
            self._status.start()

    def close(self) -> None:
        """Take the spinner away; may be called twice."""
        if self._status is not None:
            self._status.stop()

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _short(text: str, *, length: int = 100) -> str:
    line = " ".join(text.split())
    return line if len(line) <= length else line[: length - 1] + "…"
