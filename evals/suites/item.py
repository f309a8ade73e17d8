"""One question of a suite, with what is known of its answer and of the way to it.

Invariant: all but `question` and where to start is for measuring; no model and no ranker ever sees it. Only the two
simulated ones, the target `gold` and the predictor `oracle`, are told the way.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

SEARCH = "search:"
"""What a golden step begins with that searches; the query follows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One question.

    Attributes:
        id: Unique within its suite.
        question: What is asked.
        answer: The expected answer.
        url: Where to start: an address, or a path below the site's own; empty: with a search for the question.
        site: Which of the suite's sites it is about; empty: the live web.
        answer_tokens: Texts that the answer's page holds, beyond the answer.
        golden: The ways to the pages with the answer, one for each source. A step is an address, a path below the
            site's own, `search:` with a query, or else the text of a link on the page before.
        sources: Addresses, or paths, of the pages that the answer stands on.
        lang: `en` or `zh`, or another language's code.
        kind: What kind of question it is, `single_source` or `multi_source`, or as its dataset says.
        difficulty: `easy`, `medium` or `hard`, or as its dataset says; empty: not told.
        domain: What the site is about, such as `conference`; empty: not told.
    """

    id: str
    question: str
    answer: str
    url: str = ""
    site: str = ""
    answer_tokens: tuple[str, ...] = ()
    golden: tuple[tuple[str, ...], ...] = ()
    sources: tuple[str, ...] = ()
    lang: str = "en"
    kind: str = "single_source"
    difficulty: str = ""
    domain: str = ""

    @property
    def hops(self) -> int:
        """How many steps the known ways are, together."""
        return sum(map(len, self.golden))

    def as_json(self) -> dict[str, Any]:
        """Return the question as it stands in a file of questions."""
        return {
            "id": self.id,
            "question": self.question,
            "answer": self.answer,
            "url": self.url,
            "site": self.site,
            "answer_tokens": list(self.answer_tokens),
            "golden": [list(way) for way in self.golden],
            "sources": list(self.sources),
            "lang": self.lang,
            "kind": self.kind,
            "difficulty": self.difficulty,
            "domain": self.domain,
        }
