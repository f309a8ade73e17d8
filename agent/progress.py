"""A run as it happens, for a person who watches: a line for each page and each thought, and below them the present.

Invariant: it writes to standard error only, what it says is readable without colour, and where nobody watches (no
terminal) it says nothing unless asked to.
"""

from __future__ import annotations

from typing import Self

from rich.console import Console
from rich.live import Live
from rich.markup import escape

from agent.events import Call, CallKind, Concluded, Decided, Finished, Observed, RunEvent, Started
from agent.live_view import LiveView
from speccache.events import Event, EventKind

_HOW = {EventKind.HIT: "hit", EventKind.JOIN: "join", EventKind.MISS: "miss", EventKind.DIRECT: "direct"}
_QUIET_CALLS = (CallKind.REPLY, CallKind.DROP)
_REFRESHES_PER_SECOND = 8


class Progress:
    """A listener that prints.

    Args:
        console: Where to; standard error.
        verbose: Whether guesses, loads and requests are shown one by one, too; and all of it also without a terminal.

    Resource handling: on a terminal it owns a live view; `close()` it, or use it as a context manager.
    """

    def __init__(self, console: Console, *, verbose: bool = False) -> None:
        self._console = console
        self._verbose = verbose
        self._how = ""
        self._view = LiveView()
        self._live: Live | None = None
        if console.is_terminal:
            self._live = Live(self._view, console=console, transient=True, refresh_per_second=_REFRESHES_PER_SECOND)

    def __call__(self, event: RunEvent) -> None:
        """Show one event."""
        self._view(event)
        match event:
            case Started():
                self._print(f"[bold]{escape(event.question)}[/bold]  (target: {escape(event.target)})")
                if self._live is not None:
                    self._live.start()
            case Decided() | Concluded():
                self._print(f"  think {event.seconds:6.2f} s  {escape(_short(event.thought or event.action))}")
                if isinstance(event, Decided) and event.information:
                    self._print(f"  [dim]noted            {escape(_short(event.information))}[/dim]")
            case Observed():
                self._observed(event)
            case Call():
                self._called(event)
            case Event():
                self._ahead_of_time(event)
            case Finished():
                self.close()

    def _observed(self, event: Observed) -> None:
        what = event.problem or event.title or event.url
        how = f"{self._how:6}" if self._how else "      "
        self._print(f"  [cyan]read[/cyan]  {event.seconds:6.2f} s  {how} {escape(_short(what))}  {escape(event.url)}")
        self._how = ""

    def _called(self, event: Call) -> None:
        if event.kind not in _QUIET_CALLS or self._verbose:
            reason = f": {escape(_short(event.reason))}" if event.reason else ""
            self._print(f"    [dim]{event.kind:8} {escape(event.model)} {event.seconds:.2f} s{reason}[/dim]")

    def _ahead_of_time(self, event: Event) -> None:
        self._how = _HOW.get(event.kind, self._how)
        if self._verbose and event.predictor:
            detail = f" ({event.reason})" if event.reason else f" {event.seconds:.2f} s" if event.seconds else ""
            self._print(f"    [dim]{event.kind:7} {escape(event.action)}{escape(detail)}  by {event.predictor}[/dim]")

    def _print(self, line: str) -> None:
        if self._verbose or self._live is not None:
            self._console.print(line, highlight=False, soft_wrap=True)

    def close(self) -> None:
        """Take the live view away; may be called twice."""
        if self._live is not None:
            self._live.stop()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _short(text: str, *, length: int = 100) -> str:
    line = " ".join(text.split())
    return line if len(line) <= length else line[: length - 1] + "…"
