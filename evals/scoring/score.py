"""What the answer of a run is worth.

Invariant: the outcome is only looked at. An answer that is exactly the expected one is right, an empty one is wrong;
with a judge, all others are its to judge: an answer may hold the expected one and yet deny it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from agent.outcome import Outcome
from browser.action import Action
from browser.address import page_key
from browser.observation import Observation
from evals.runs.record import Scores
from evals.scoring.match import contains, exact, f1
from evals.suites.item import Item
from speccache.environment import Step

if TYPE_CHECKING:
    from evals.scoring.judge import Judge


async def score(item: Item, outcome: Outcome, *, base: str, judge: Judge | None) -> Scores:
    """Compare the outcome of a run with what is known of its question.

    Args:
        item: The question.
        outcome: What a run made of it.
        base: The address of the question's site, without a slash at its end; empty on the live web.
        judge: Judges answers that are not exactly the expected one; None: nobody does.
    """
    is_exact = exact(item.answer, outcome.answer)
    judged = None
    if judge is not None and not is_exact:
        judged = (await judge.verdict(item.question, item.answer, outcome.answer)).correct
    return Scores(
        exact=is_exact,
        contains=contains(item.answer, outcome.answer),
        f1=f1(item.answer, outcome.answer),
        judged=judged,
        supported=bool(outcome.support),
        right_page=_right_page(item, outcome.trajectory, base=base),
    )


def _right_page(item: Item, trajectory: Sequence[Step[Action, Observation]], *, base: str) -> bool | None:
    """Tell whether every page the answer stands on was read; None where one of their addresses is not known."""
    named = item.sources or tuple(way[-1] for way in item.golden if way)
    wanted = [_absolute(address, base) for address in named]
    if not wanted or not all(wanted):
        return None
    return {_page(address) for address in wanted} <= _read_pages(trajectory)


def _absolute(address: str, base: str) -> str:
    """Return the address of a source or of a golden step; empty where it is a search, a link's text, or has no base."""
    if address.startswith(("http://", "https://")):
        return address
    return base + address if base and address.startswith("/") else ""


def _read_pages(trajectory: Sequence[Step[Action, Observation]]) -> set[str]:
    """Name the pages that could be read, by the addresses asked for and arrived at."""
    documents = [step.observation.document for step in trajectory]
    readable = [each for each in documents if each.problem is None and (each.status or 200) < 400]
    return {_page(url) for each in readable for url in (each.requested_url, each.url)}


def _page(url: str) -> str:
    """Name a page without its scheme: data sets are older than the redirects from http to https."""
    return page_key(url).partition("://")[2]
