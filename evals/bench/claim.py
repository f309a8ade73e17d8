"""One thing that a benchmark checks, and what it found.

Invariant: a claim that nothing was measured for neither holds nor fails.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from rich.console import Console

_MARKS = {True: "PASS", False: "FAIL", None: "not measured"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A claim, judged.

    Attributes:
        claim: What is to hold.
        holds: Whether it does; None where nothing was measured that could tell.
        found: The figure that is furthest from it.
        where: What that figure belongs to; empty where there is only one.
    """

    claim: str
    holds: bool | None
    found: float | None
    where: str = ""

    def as_json(self) -> dict[str, Any]:
        """Return it as a plain object."""
        return asdict(self)


def at_most(claim: str, figures: Mapping[str, float], limit: float) -> Claim:
    """Judge whether no figure is above a limit; figures by what they belong to."""
    if not figures:
        return Claim(claim=claim, holds=None, found=None)
    where = max(figures, key=lambda name: figures[name])
    return Claim(claim=claim, holds=figures[where] <= limit, found=round(figures[where], 4), where=where)


def at_least(claim: str, figures: Mapping[str, float], limit: float) -> Claim:
    """Judge whether no figure is below a limit; figures by what they belong to."""
    if not figures:
        return Claim(claim=claim, holds=None, found=None)
    where = min(figures, key=lambda name: figures[name])
    return Claim(claim=claim, holds=figures[where] >= limit, found=round(figures[where], 4), where=where)


def print_claims(console: Console, claims: Iterable[Mapping[str, Any]]) -> None:
    """Print claims, as a result holds them, a line each."""
    for claim in claims:
        found = "" if claim["found"] is None else f": {claim['found']:g}"
        where = f" ({claim['where']})" if claim["where"] else ""
        console.print(f"{_MARKS[claim['holds']]}  {claim['claim']}{found}{where}", soft_wrap=True)
