"""Timers of a site that ran and brought nothing that is read, such as those which hide a progress bar.

Invariant: a timer is passed over only while its doing nothing is well seen and was seen lately; once text followed it,
it has to do nothing far more often before it is passed over again.
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from dataclasses import dataclass

_ENOUGH = 2  # loads on which it brought nothing
_SETBACK = 6  # such loads that are asked for more, once text followed it
_LOADS = 8  # of the site, after which a timer is waited for and seen again
_MAX_TIMERS = 20


@dataclass(slots=True, kw_only=True)
class _Record:
    idle: int = 0
    unseen: int = 0  # loads since it last ran before the page was read


class VainTimers:
    """Remembers timers by their marks; one for each place whose pages share their scripts."""

    def __init__(self) -> None:
        self._records: dict[str, _Record] = {}

    def trusted(self) -> frozenset[str]:
        """Return the timers that need not be waited for on the next load."""
        return frozenset(
            mark for mark, record in self._records.items() if record.idle >= _ENOUGH and record.unseen < _LOADS
        )

    def learn(self, *, vain: AbstractSet[str], fruitful: AbstractSet[str]) -> None:
        """Remember what the timers of one load did; those that are in neither set were not seen to run."""
        for record in self._records.values():
            record.unseen += 1
        for mark in sorted(vain | fruitful):
            if mark not in self._records and len(self._records) >= _MAX_TIMERS:
                continue
            record = self._records.setdefault(mark, _Record())
            record.unseen = 0
            record.idle = -_SETBACK if mark in fruitful else min(record.idle + 1, _ENOUGH)
