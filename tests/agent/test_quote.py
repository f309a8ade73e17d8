from __future__ import annotations

import pytest

from agent.predictors.embedding import Embedder
from agent.targets.quote import Quote, best_quotes
from browser.observation import Document

EMBEDDER = Embedder()

LIMITS = """
# Limits

Practical limits, such as the disk space that is left, may apply before.

| Item | Upper limit |
| --- | --- |
| columns per table | 1,600 |
| identifier length | 63 bytes |
"""
SETTINGS = """
[Prev][1] | [Next][2]

## 20.6. Replication

`wal_sender_timeout` (integer)
:   Ends connections that are idle longer. The default value is 60 seconds.

`wal_receiver_timeout` (integer)
:   Ends connections to a sender that is idle longer. The default value is 90 seconds.

### Author

[KaiGai Kohei][7], `<kaigai@example.org>`
"""
LIBRARY = """
# 图书馆

图书馆藏有两万册图书。周一至周五上午9:00开门。

# 餐厅

餐厅供应午餐，每份8欧元。
"""
PAGES = tuple(
    Document(requested_url=f"http://site.test/{name}", url=f"http://site.test/{name}", markdown=markdown)
    for name, markdown in {"limits": LIMITS, "settings": SETTINGS, "library": LIBRARY}.items()
)


async def best(question: str, *pages: Document) -> Quote:
    (quote,) = await best_quotes(question, pages or PAGES, EMBEDDER)
    return quote


@pytest.mark.parametrize(
    ("question", "quote", "page"),
    [
        ("How many columns can a table have?", "Item: columns per table; Upper limit: 1,600", "limits"),
        ("What is the default of wal_sender_timeout?", "60 seconds", "settings"),
        ("What is the default of wal_receiver_timeout?", "90 seconds", "settings"),
        ("Who is the author?", "Author: KaiGai Kohei, <kaigai@example.org>", "settings"),
        ("图书馆几点开门？", "上午9:00", "library"),
        ("餐厅的午餐多少钱？", "8欧元", "library"),
    ],
)
async def test_quotes_the_passage_that_answers(question: str, quote: str, page: str) -> None:
    found = await best(question)

    assert quote in found.text
    assert found.url == f"http://site.test/{page}"


async def test_a_passage_names_the_term_it_stands_under() -> None:
    assert (await best("What is the default of wal_sender_timeout?")).text.startswith("wal_sender_timeout (integer): ")


async def test_the_order_of_the_pages_does_not_matter() -> None:
    question = "What is the default of wal_sender_timeout?"

    assert await best(question, *PAGES) == await best(question, *reversed(PAGES))


async def test_several_come_best_first() -> None:
    quotes = await best_quotes("What is the default of wal_sender_timeout?", PAGES, EMBEDDER, limit=2)

    assert [quote.score for quote in quotes] == sorted((quote.score for quote in quotes), reverse=True)
    assert len(quotes) == 2


async def test_nothing_to_read_and_nothing_that_fits() -> None:
    nothing = Document(requested_url="http://site.test/", url="http://site.test/", markdown="[Home][1]")
    other = Document(requested_url="http://site.test/", url="http://site.test/", markdown="Bananas are yellow.")

    assert await best_quotes("Anything?", (), EMBEDDER) == ()
    assert await best_quotes("Anything?", (nothing,), EMBEDDER) == ()
    assert await best_quotes("Which port does the database server listen on?", (other,), EMBEDDER) == ()
