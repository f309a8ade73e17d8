"""A sweep as it runs, for a person who watches a terminal.

Invariant: it writes to standard error, and nothing at all where that is no terminal.
"""

from __future__ import annotations

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from evals.tune.sweep import Standing


class ProgressBar:
    """A listener that shows what is being measured and how long the rest takes.

    Resource handling: owns a line of the terminal; use it as a context manager.
    """

    def __init__(self, console: Console) -> None:
        self._progress = Progress(
            BarColumn(bar_width=30),
            MofNCompleteColumn(),
            TextColumn("{task.description}", markup=False),
            console=console,
            transient=True,
            disable=not console.is_terminal,
        )
        self._task = self._progress.add_task("looking at the pages", total=None)

    def __call__(self, standing: Standing) -> None:
        """Show how far the sweep is."""
        left = "" if standing.left_seconds is None else f", about {_spoken(standing.left_seconds)} left"
        doing = f"measuring {standing.next}{left}" if standing.next else "done"
        self._progress.update(self._task, completed=standing.done, total=standing.total, description=doing)

    def __enter__(self) -> ProgressBar:
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()


def _spoken(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"
