"""Full-text search over articles, as encyclopaedias have it: SQLite's FTS5, best match first.

Invariant: there is no query that fails. Its words are looked for one by one, whatever else stands in it, so a whole
question is a query too; articles that hold more of the rarer words come first, those in the title above all.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from weakref import finalize

PAGE_SIZE = 10
MAX_PAGE_SIZE = 500
OPENING, CLOSING = "\ue000", "\ue001"
"""What stands around a word that was looked for, in a snippet: characters that no text holds."""

_MAX_WORDS = 48
_WORD = re.compile(r"\w+")
_RANKING = "bm25(6.0, 1.0)"  # a word in the title counts as six
_MAX_OFFSET = 1_000_000
_SNIPPET = (OPENING, CLOSING, 28)
_SCHEMA = "CREATE VIRTUAL TABLE articles USING fts5(title, body, path UNINDEXED, tokenize='porter unicode61')"
_FIND = """
SELECT rowid, title, path, body, snippet(articles, 1, ?, ?, '…', ?), rank
FROM articles WHERE articles MATCH ? AND rank MATCH ? ORDER BY rank LIMIT ? OFFSET ?
"""
_COUNT = "SELECT count(*) FROM articles WHERE articles MATCH ?"


@dataclass(frozen=True, slots=True, kw_only=True)
class Findable:
    """What is searched."""

    title: str
    path: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """One article that was found.

    Attributes:
        number: Its number, from 1, which stays.
        title: Its title.
        path: Its address.
        text: All its text.
        marked: A part of it, with `OPENING` and `CLOSING` around the words that were looked for.
        score: How well it matches; more is better.
    """

    number: int
    title: str
    path: str
    text: str
    marked: str
    score: float

    @property
    def snippet(self) -> str:
        """The part of its text, in one line."""
        return " ".join(self.marked.replace(OPENING, "").replace(CLOSING, "").split())


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """One page of what was found.

    Attributes:
        total: How many articles were found in all.
        hits: Those of this page, best first.
    """

    total: int
    hits: tuple[Hit, ...]


class SearchIndex:
    """Finds articles by words.

    Args:
        articles: What is searched.
        stop_words: Words that nearly all articles hold; looked for only where a query has no others.

    Resource handling: the index is in memory; `close` frees it, and so does dropping it.
    """

    def __init__(self, articles: Iterable[Findable], *, stop_words: Collection[str] = ()) -> None:
        self._stop_words = frozenset(stop_words)
        self._database = sqlite3.connect(":memory:", check_same_thread=False)
        self._close = finalize(self, self._database.close)
        self._database.execute(_SCHEMA)
        rows = [(article.title, article.text, article.path) for article in articles]
        self._database.executemany("INSERT INTO articles (title, body, path) VALUES (?, ?, ?)", rows)
        self._database.execute("INSERT INTO articles (articles) VALUES ('optimize')")
        self._database.commit()

    def search(self, query: str, *, limit: int = PAGE_SIZE, offset: int = 0) -> Found:
        """Find articles; `limit` and `offset` are brought into bounds."""
        match = self._match(query)
        if not match:
            return Found(total=0, hits=())
        bounds = (max(1, min(limit, MAX_PAGE_SIZE)), max(0, min(offset, _MAX_OFFSET)))
        (total,) = self._database.execute(_COUNT, (match,)).fetchone()
        hits = tuple(
            Hit(number=number, title=title, path=path, text=text, marked=marked, score=-rank)
            for number, title, path, text, marked, rank in self._database.execute(
                _FIND, (*_SNIPPET, match, _RANKING, *bounds)
            )
        )
        return Found(total=total, hits=hits)

    def close(self) -> None:
        """Free the memory. May be repeated."""
        self._close()

    def _match(self, query: str) -> str:
        """Return the query in SQLite's syntax: any of its words, each quoted, which leaves no syntax."""
        words = dict.fromkeys(word.lower() for word in _WORD.findall(query))
        telling = [word for word in words if word not in self._stop_words] or list(words)
        return " OR ".join(f'"{word}"' for word in telling[:_MAX_WORDS])
