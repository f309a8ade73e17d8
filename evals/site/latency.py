"""How long a simulated site takes to answer, drawn from what the live web was measured to take.

The percentiles are those of whole-page loads (fetch and parse) in figure 5 of arXiv 2510.16276, read off the figure:
root pages P50 5.9, P75 7.4, P90 9.4, P95 10.9, at most about 14.5 s; sub-pages P10 4.6, P50 6.5, P75 8.0, P90 10.1,
P95 12.4, P99 24, at most about 63 s. The figure does not show the lower ends; 3 s is assumed for both.

Invariant: a page's time depends on the seed and its address alone, and its requests along the critical path (the
document, then its data) sum up to it.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from itertools import pairwise

ROOT_PERCENTILES = ((0.0, 3.0), (0.50, 5.9), (0.75, 7.4), (0.90, 9.4), (0.95, 10.9), (1.0, 14.5))
"""Share of root pages, and seconds within which they are loaded."""
SUBPAGE_PERCENTILES = (
    (0.0, 3.0),
    (0.10, 4.6),
    (0.50, 6.5),
    (0.75, 8.0),
    (0.90, 10.1),
    (0.95, 12.4),
    (0.99, 24.0),
    (1.0, 63.0),
)
"""Share of sub-pages, and seconds within which they are loaded."""

_DOCUMENT_SHARE = 0.4


@dataclass(frozen=True, slots=True, kw_only=True)
class LatencyModel:
    """Says how long each page takes, by inverse-CDF interpolation of the published percentiles.

    Attributes:
        time_scale: What the published seconds are multiplied by; 0 answers at once, 0.1 gives a median of 0.65 s.
        seed: Other seeds spread the same distribution differently over the pages.
        roots: Paths that are loaded as fast as root pages.
    """

    time_scale: float = 0.1
    seed: int = 7
    roots: frozenset[str] = frozenset({"/en", "/zh"})

    def __post_init__(self) -> None:
        if not 0 <= self.time_scale < float("inf"):
            raise ValueError(f"time_scale is {self.time_scale}; it must be a finite number, 0 or more")

    def page_seconds(self, path: str) -> float:
        """Return the time of a whole page load, in seconds, at this model's scale."""
        percentiles = ROOT_PERCENTILES if path in self.roots else SUBPAGE_PERCENTILES
        return self.time_scale * _quantile(percentiles, self._share(path))

    def document_seconds(self, path: str) -> float:
        """Return the part of a page's time that its document takes.

        A fragment never reaches the server, so all routes of a hash-routed page wait for the same document.
        """
        return _DOCUMENT_SHARE * self.page_seconds(path.partition("#")[0])

    def data_seconds(self, path: str, *, document: str | None = None) -> float:
        """Return the part of a page's time that its data takes after the document.

        Args:
            path: What tells the page from others: its own path with its hash route, or that of its data.
            document: The path of its document; None: that of the page, without the hash route.
        """
        return max(0.0, self.page_seconds(path) - self.document_seconds(path if document is None else document))

    def _share(self, path: str) -> float:
        digest = hashlib.sha256(f"{self.seed}:{path}".encode()).digest()
        return int.from_bytes(digest[:8], "big") / 2**64


def _quantile(percentiles: tuple[tuple[float, float], ...], share: float) -> float:
    for (low_share, low), (high_share, high) in pairwise(percentiles):
        if share <= high_share:
            return low + (high - low) * (share - low_share) / (high_share - low_share)
    return percentiles[-1][1]
