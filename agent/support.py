"""Whether an answer stands on a page that was read.

Invariant: the check is made in code, by the words of the pages, never by asking a model. It can be wrong about an
answer in other words than the page's; it is never wrong about a number or a name that no page holds.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from agent.predictors.words import words
from agent.targets.passages import passages, plain
from browser.observation import Document

ENOUGH = 0.7
"""The share of an answer's content words that a page must hold beside its facts; answers add words of their own."""

_WIDE = r"\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
# A number is one token with its sign, points and unit (`-1,600.5`, `640px`, `2022-06-08`): no part of it passes for it.
_TOKEN = re.compile(rf"[{_WIDE}]|(?:[-+\u2212](?=\d))?[^\W{_WIDE}]+(?:[.,:/-][^\W{_WIDE}]+)*")
_SENTENCE_START = re.compile(r"(?:^|[.!?:]\s+|\n)\W*$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Support:
    """Where an answer stands.

    Attributes:
        url: The page; empty where it stands on none of those read.
        passage: The passage of it that comes closest.
    """

    url: str = ""
    passage: str = ""

    def __bool__(self) -> bool:
        return bool(self.url)


NO_SUPPORT = Support()


def support(answer: str, documents: Sequence[Document], *, question: str) -> Support:
    """Find the page that says what an answer says.

    A passage that holds the answer word for word decides; else a page that holds all its facts (numbers, and names as
    far as capital letters show them) and most of its other words.
    """
    readable = [document for document in documents if document.problem is None]
    for document in readable:
        for passage in passages(document.markdown):
            if supports(passage.text, answer, question=question):
                return Support(url=document.url, passage=passage.text)
    facts = _facts(answer) - set(tokens(question))
    content = words(answer) - words(question)
    if not content:
        return NO_SUPPORT
    for document in readable:
        text = plain(document.markdown)
        held = content & words(text)
        if facts <= set(tokens(text)) and len(held) >= ENOUGH * len(content):
            return Support(url=document.url, passage=_closest(document, content))
    return NO_SUPPORT


def supports(passage: str, answer: str, *, question: str) -> bool:
    """Tell whether a passage says what an answer says, token for token and in one run; case and punctuation aside.

    Words of the question may stand around that ("The limit is 8 kB"); alone they are no answer.
    """
    asked = set(tokens(question))
    said = tokens(answer)
    while said and said[0] in asked:
        said = said[1:]
    while said and said[-1] in asked:
        said = said[:-1]
    there = tokens(passage)
    return bool(said) and any(there[at : at + len(said)] == said for at in range(len(there)))


def tokens(text: str) -> list[str]:
    """Cut a text into comparable tokens, in its order; a wide character is one by itself."""
    return _TOKEN.findall(unicodedata.normalize("NFKC", text).casefold())


def _facts(answer: str) -> set[str]:
    """The numbers of an answer, and its names: capitalised where no sentence begins."""
    text = unicodedata.normalize("NFKC", answer)
    found: set[str] = set()
    for match in _TOKEN.finditer(text):
        named = match[0][0].isupper() and not _SENTENCE_START.search(text[: match.start()])
        if named or any(character.isdigit() for character in match[0]):
            found.add(match[0].casefold())
    return found


def _closest(document: Document, content: Iterable[str]) -> str:
    wanted = frozenset(content)
    found = [passage.text for passage in passages(document.markdown)]
    return max(found, key=lambda text: len(wanted & words(text)), default="")
