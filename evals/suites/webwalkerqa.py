"""WebWalkerQA: questions that begin on a site's root page, in English and Chinese (arXiv 2501.07572).

Invariant: one question a row, in the file's order, whichever of its public layouts the file has: that of the hub, whose
`info` holds what is known of a question; that with capital letters, which its card shows; and the flat one of copies.
"""

from __future__ import annotations

import re
from pathlib import Path

from evals.suites.item import Item
from evals.suites.row import Row, read_rows

_STEP = "->"
_BETWEEN_ADDRESSES = re.compile(r"[\s;,\uff1b\uff0c\u3001]+(?=https?://)")
_CHINESE = re.compile("[\u3400-\u4dbf\u4e00-\u9fff]")
_LANGUAGES = {"english": "en", "chinese": "zh"}
# The dataset's paper numbers kinds by depth, and its card hyphenates them.
_KIND = re.compile(r"(single|multi)[-_ ]?source", re.IGNORECASE)


def load_webwalkerqa(path: Path) -> tuple[Item, ...]:
    """Read the dataset from a file of JSON lines or a JSON array.

    Raises:
        ItemsInvalid: The file cannot be read, or a row is no question of this dataset.
    """
    return tuple(_item(row.unfolded("info", "Info")) for row in read_rows(path))


def _item(row: Row) -> Item:
    question = row.text("question", "Question")
    told = row.texts("source_website", "Source_Website")
    # Some rows write two addresses into one text, with a Chinese semicolon or blanks between them.
    sources = tuple(source for text in told for source in _BETWEEN_ADDRESSES.split(text.strip()) if source)
    for source in sources:
        _check_address(row, "source_website", source)
    root = row.text("root_url", "Root_Url")
    _check_address(row, "root_url", root)
    return Item(
        id=f"webwalkerqa-{row.number}",
        question=question,
        answer=row.text("answer", "Answer"),
        url=root,
        golden=tuple(_way(path) for path in row.texts("golden_path", "Golden_Path")),
        sources=sources,
        lang=_language(row.text("lang", "Language", required=False), question),
        kind=_kind(row.text("type", "hop", "Hop", required=False), len(sources)),
        difficulty=row.text("difficulty_level", "Difficulty_Level", required=False).lower(),
        domain=row.text("domain", "Domain", required=False).lower(),
    )


def _check_address(row: Row, field: str, address: str) -> None:
    if not address.startswith(("http://", "https://")):
        raise row.invalid(field, "an address that begins with http:// or https://", address)


def _way(path: str) -> tuple[str, ...]:
    """Return the link texts of `root->Text->Text`, as a page shows them: without blanks that a browser would drop."""
    steps = [" ".join(step.split()) for step in path.split(_STEP)]
    labels = steps[1:] if steps[0].lower() == "root" else steps
    return tuple(label for label in labels if label)


def _language(told: str, question: str) -> str:
    """Return the language's code; where the row does not tell it, as it does not for 58 of 680, by the question."""
    if told:
        return _LANGUAGES.get(told.lower(), told.lower())
    return "zh" if _CHINESE.search(question) else "en"


def _kind(told: str, sources: int) -> str:
    if known := _KIND.match(told):
        return f"{known[1].lower()}_source"
    return told or ("multi_source" if sources > 1 else "single_source")
