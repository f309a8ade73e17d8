"""An answer is supported where a page says it; never where a number or a name is another one."""

from __future__ import annotations

import pytest

from agent.support import support
from browser.observation import Document
from tests.agent.pages import SITE, page

HARBOUR = page(
    "/harbour", text="# Harbour\n\nThe harbour of Sund has 1,240 boats. Its lighthouse was built by Ada Quist."
)
TOWN = page("/town", text="# Town\n\nSund is a small town.\n\n| Year | Boats |\n| --- | --- |\n| 1990 | 310 |")
CHINESE = page("/zh", text="\u9c81\u65af\u6e2f\u6709\u4e00\u5343\u4e8c\u767e\u6761\u8239\u3002")
PAGES = [each.document for each in (TOWN, HARBOUR, CHINESE)]


@pytest.mark.parametrize(
    ("question", "answer", "path"),
    [
        ("How many boats are there?", "1,240", "/harbour"),
        ("How many boats are there?", "There are 1,240 boats in the harbour of Sund.", "/harbour"),
        ("Who built the lighthouse?", "The lighthouse was built by Ada Quist.", "/harbour"),
        ("How many boats were there in 1990?", "310 boats", "/town"),
        ("\u6709\u591a\u5c11\u6761\u8239\uff1f", "\u4e00\u5343\u4e8c\u767e\u6761\u8239", "/zh"),
    ],
)
def test_what_a_page_says_is_supported_by_it(question: str, answer: str, path: str) -> None:
    found = support(answer, PAGES, question=question)
    assert found.url == SITE + path
    assert found.passage


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("How many boats are there?", "1,241"),
        ("How many boats are there?", "240"),
        ("How many boats are there?", "There are 1,241 boats in the harbour of Sund."),
        ("Who built the lighthouse?", "The lighthouse was built by Eva Quist."),
        ("Who built the lighthouse?", "The lighthouse"),
        ("Who built the lighthouse?", "\u2026"),
    ],
)
def test_what_no_page_says_is_not(question: str, answer: str) -> None:
    assert not support(answer, PAGES, question=question)


def test_a_page_that_could_not_be_read_supports_nothing() -> None:
    broken = Document(requested_url=SITE, url=SITE, markdown="It is 42.", problem="It is cut.")
    assert not support("42", [broken], question="What is it?")
