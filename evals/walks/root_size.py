"""How many sub-pages the root page of each site links to, spread as on the live web.

The percentiles are those of 138 root pages in arXiv 2510.16276, read off a figure: P25 36, P50 78, P75 103, P90 145,
P95 198, at most about 1,070. The figure's ends cannot be read: 14 links is assumed for the least, and 250 for P99, so
that the largest root stands alone.

Invariant: the percentiles of any set of sites are the published ones as nearly as their number allows, whatever the
seed.
"""

from __future__ import annotations

from itertools import pairwise

ROOT_PERCENTILES = ((0.0, 14), (0.25, 36), (0.50, 78), (0.75, 103), (0.90, 145), (0.95, 198), (0.99, 250), (1.0, 1070))
"""Share of root pages, and how many sub-pages they link to at most."""


def root_size(place: int, *, sites: int) -> int:
    """Return how many sub-pages the root links to of the site at a place, from 0, in the order of size."""
    share = place / max(sites - 1, 1)
    for (low_share, low), (high_share, high) in pairwise(ROOT_PERCENTILES):
        if share <= high_share:
            return round(low + (high - low) * (share - low_share) / (high_share - low_share))
    raise ValueError(f"there is no place {place} among {sites} sites")
