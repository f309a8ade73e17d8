"""Comparing an answer with the expected one without a model: equal, held, or sharing words.

Invariant: an answer that is exactly the expected one also holds it, and shares all its words. Nothing but the two texts
counts: none of this sees other words for the same thing, a denial ("it is not 12"), or a choice left open ("12 or 13").
"""

from __future__ import annotations

import re
from collections import Counter

from evals.scoring.normalised import tokens

_CLAUSE_END = re.compile(r"[\n,.;:!?\u2014\u3001\u3002\uff01\uff0c\uff0e\uff1a\uff1b\uff1f]")
_POLAR = frozenset({"yes", "no", "true", "false", "是", "不是", "否", "对", "不对", "有", "没有"})


def exact(expected: str, answer: str) -> bool:
    """Tell whether two texts are equal once normalised; a blank one equals nothing."""
    said = tokens(answer)
    return bool(said) and said == tokens(expected)


def contains(expected: str, answer: str) -> bool:
    """Tell whether an answer holds the expected one, whole tokens in one run: 12 does not stand in 2012.

    Chinese is compared by characters. A yes or a no must be all that the answer's first clause says, since such words
    stand in other sentences, too.
    """
    wanted = "".join(tokens(expected))
    if wanted in _POLAR and not exact(expected, answer):
        return _opening(answer) == wanted
    # What looks like an article may be a name: "Serie A" stands in "the Serie A title".
    return any(_held(tokens(expected, articles=kept), tokens(answer, articles=kept)) for kept in (False, True))


def f1(expected: str, answer: str) -> float:
    """Return the harmonic mean of precision and recall of an answer's tokens, 0 to 1; Chinese by characters."""
    wanted, said = Counter(tokens(expected)), Counter(tokens(answer))
    common = (wanted & said).total()
    return 2 * common / (wanted.total() + said.total()) if common else 0.0


def _held(wanted: list[str], said: list[str]) -> bool:
    places = range(len(said) - len(wanted) + 1) if wanted else ()
    return any(said[at : at + len(wanted)] == wanted for at in places)


def _opening(answer: str) -> str:
    """Return the first clause of an answer; a Chinese yes may end in a particle."""
    clause = _CLAUSE_END.split(answer.lstrip(), maxsplit=1)[0]
    said = "".join(tokens(clause))
    return said.removesuffix("的") or said
