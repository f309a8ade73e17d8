"""What `navigate` measures: sites, delays, concurrencies.

Invariant: these are plain values; the same plan reads the same pages in the same order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

from evals.site import build_site


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A site to read.

    Attributes:
        name: What it is called.
        folder: Where its files are; None: the bundled site.
        starts: Paths from which its pages are found.
    """

    name: str
    folder: Path | None
    starts: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What is measured.

    Attributes:
        places: The sites.
        delays_milliseconds: Added to each request.
        concurrencies: Pages read at once.
        loads: Of each program in each cell, about.
        pages: Different pages of each site.
        sessions: Pages open at once when their memory is measured.
        quiet_seconds: For how long a page must not have changed for its contents to be taken as known.
        crawl4ai: An interpreter that has it; None: it is left out.
    """

    places: tuple[Place, ...]
    delays_milliseconds: tuple[int, ...] = (0, 200)
    concurrencies: tuple[int, ...] = (1, 2, 4, 8)
    loads: int = 48
    pages: int = 16
    sessions: int = 8
    quiet_seconds: float = 1.5
    crawl4ai: Path | None = None

    def rounds(self, concurrency: int) -> int:
        """Return how many rounds a cell has."""
        return max(2, round(self.loads / pages_a_round(concurrency)))


def pages_a_round(concurrency: int) -> int:
    """Return how many pages a program reads before it is the next one's turn: two for each that is read at once."""
    return 2 * concurrency


def bundled() -> Place:
    """Return the demo site, whose pages are drawn by script."""
    paths = sorted(path for path in build_site().pages if path.startswith("/en/") and "#" not in path)
    random = Random(0)  # noqa: S311 - a sample, no secret
    return Place(name="bundled", folder=None, starts=tuple(random.sample(paths, len(paths))))


def places_in(folder: Path, names: Sequence[str] = ()) -> tuple[Place, ...]:
    """Return the sites of a folder with one folder a site: all of them, or those named as `NAME` or `NAME/START`."""
    wanted = names or sorted(path.parent.name for path in folder.glob("*/index.html"))
    parts = [name.partition("/") for name in wanted]
    return tuple(Place(name=name, folder=folder / name, starts=(f"/{start}",)) for name, _, start in parts)
