"""The words of a text, and how much of a question they cover: the half of relevance that needs no model.

It sees what the embedding does not: identifiers (`wal_sender_timeout`) and Chinese, Japanese and Korean text, which the
embedding model was not trained on. Invariant: pure, and the same for the same texts in any order of calls.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from urllib.parse import unquote, urlsplit

_WIDE = r"\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
_TOKEN = re.compile(rf"[{_WIDE}]+|[^\W{_WIDE}]+")
_WIDE_TOKEN = re.compile(rf"[{_WIDE}]")
_CAMEL_CASE = re.compile(r"(?<=[a-z])(?=[A-Z])")
_FILE_ENDING = re.compile(r"\.(html?|php|md|aspx?|jsp)\b", re.IGNORECASE)
_SUFFIX = re.compile(r"(?<=\w{3})(ing|ies|ed|es|e|s|y)$")
_ROOT_LENGTH = 5
_STOP_WORDS = frozenset(
    re.findall(
        r"\w+",
        """
        a about according all an and any are as at be by can could did do does for from had has have how i if in into is
        it its kind many may me most much must my no not of on one or our should so some such than that the their there
        these they this to under up us use used using was we were what when where which who whose why will with within
        would you your 的 了 是 在 和 与 有 吗 呢 什么 哪个 哪些 多少 怎么 如何
        """,
    )
)


@lru_cache(maxsize=16_384)
def words(text: str) -> frozenset[str]:
    """Return the stemmed content words of a text; an identifier counts whole and in its parts, wide text in pairs."""
    found: set[str] = set()
    for token in _TOKEN.findall(text.lower()):
        if _WIDE_TOKEN.match(token):
            found.update(token[at : at + 2] for at in range(max(1, len(token) - 1)))
        else:
            found.update(_SUFFIX.sub("", part) for part in (token, *token.split("_")) if part not in _STOP_WORDS)
    return frozenset(found - _STOP_WORDS - {""})


def url_words(url: str) -> str:
    """Return the words of a URL's path and fragment, as text."""
    parts = urlsplit(url)
    path = _FILE_ENDING.sub(" ", unquote(f"{parts.path} {parts.fragment.partition('?')[0]}"))
    return " ".join(_TOKEN.findall(_CAMEL_CASE.sub(" ", path)))


def weights(question: str, texts: Sequence[str]) -> dict[str, float]:
    """Weigh the question's words by how rare they are in the texts; the weights add up to one."""
    known = [words(text) for text in texts]
    rarity = {
        word: math.log(1 + len(known) / (0.5 + sum(word in text for text in known))) for word in sorted(words(question))
    }
    total = sum(rarity.values())
    return {word: weight / total for word, weight in rarity.items()} if total else {}


def precision(text: str, question: str) -> float:
    """Return which share of a text's words the question has, 0 to 1: high for a name that it mentions."""
    found = words(text)
    return len(found & words(question)) / len(found) if found else 0.0


def kinship(label: str, question: str) -> float:
    """Return which share of a label's words the question has or builds on, 0 to 1: "Director" is kin to "directed"."""
    found = words(label)
    asked = words(question)
    related = [word for word in found if any(_are_kin(word, other) for other in asked)]
    return len(related) / len(found) if found else 0.0


def _are_kin(word: str, other: str) -> bool:
    shorter, longer = sorted((word, other), key=len)
    return word == other or (len(shorter) >= _ROOT_LENGTH and longer.startswith(shorter))


def is_wide(text: str) -> bool:
    """Tell whether more of a text's words are Chinese, Japanese or Korean than are not."""
    found = words(text)
    return 2 * sum(_WIDE_TOKEN.match(word) is not None for word in found) > len(found)


def coverage(text: str, weighed: Mapping[str, float]) -> float:
    """Return which share of the question a text covers, 0 to 1."""
    # `fsum` is exact, so the order of a set does not show in the last digit.
    return math.fsum(weighed[word] for word in words(text) if word in weighed)
