"""A run of a suite as it goes on, for a person who watches: a bar on a terminal, a line for each run elsewhere.

Invariant: it writes to standard error only.
"""

from __future__ import annotations

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from evals.runs.record import Record
from evals.runs.runner import Standing


class ProgressBar:
    """A listener that shows how far a run is and what it found last.

    Args:
        console: Where.
        is_quiet: Whether nothing is shown.

    Resource handling: owns a line of the terminal; use it as a context manager.
    """

    def __init__(self, console: Console, *, is_quiet: bool = False) -> None:
        self._console = console
        self._is_quiet = is_quiet
        self._progress = Progress(
            BarColumn(bar_width=30),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
            TextColumn("{task.description}", markup=False),
            console=console,
            transient=True,
            disable=is_quiet or not console.is_terminal,
        )
        self._task = self._progress.add_task("starting", total=None)

    def __call__(self, standing: Standing) -> None:
        """Show how far the run is."""
        self._progress.update(self._task, completed=standing.done, total=standing.total, description="")
        if standing.latest is not None and not self._is_quiet:
            line = f"{standing.done:>4} of {standing.total}  {_spoken(standing.latest)}"
            self._console.print(escape(line), highlight=False, soft_wrap=True)

    def __enter__(self) -> ProgressBar:
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()


def _spoken(record: Record) -> str:
    mark = "broken" if record.broken else "right" if record.scores.correct else "wrong"
    said = record.broken or record.answer or record.reason
    line = " ".join("".join(letter if letter.isprintable() else " " for letter in said[:400]).split())
    return (
        f"{mark:6} {record.mode:6} {record.total_seconds:6.1f} s, web {record.exposed_seconds:5.1f} s  {record.item}:"
        f" {line[:80]}"
    )
