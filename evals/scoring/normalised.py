"""A text without what tells no two answers apart: case, accents, punctuation, articles, markup, commas in numbers.

Invariant: normalising is idempotent, and only a blank text normalises to nothing. What tells answers apart stays:
signs, decimals, versions and dates as they were written, `C` and `C++`, `Group A` and `Group B`. Number words, other
formats of a date, and traditional for simplified characters are other texts: to see through them takes a judge.
"""

from __future__ import annotations

import re
import unicodedata

from agent.targets.passages import plain

_WIDE = r"\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\U00020000-\U0003ffff"
_TOKEN = re.compile(
    rf"(?P<wide>(?=\w)[{_WIDE}])"
    r"|(?P<number>(?:(?<!\w)-)?\d+(?:[.:/-]\d+)*)(?:(?:st|nd|rd|th)(?![^\W_]))?"
    rf"|(?P<word>[^\W\d_{_WIDE}][^\W_{_WIDE}]*(?:[+#]{{1,2}}(?![\w+#]))?)"
    r"|(?P<share>[%\u2030])"
)
# A comma of full width parts the items of a Chinese list, unless the digits beside it are as wide.
_THOUSANDS = re.compile(
    r"(?<!\d)(?<!\d[.,])[0-9]{1,3}(?:[,\u00a0\u2009\u202f][0-9]{3})+(?!,?\d)"
    r"|(?<!\d)[\uff10-\uff19]{1,3}(?:[\uff0c,][\uff10-\uff19]{3})+(?![\uff0c,]?\d)"
)
_SEPARATOR = re.compile(r"\D")
_LINK = re.compile(r"\[([^\[\]]*)\]\([^()\s]*\)")
_INITIALS = re.compile(r"(?<!\w)[^\W\d_](?:\.[^\W\d_])+(?!\w)")
_DASH = str.maketrans(dict.fromkeys("\u2010\u2011\u2012\u2013\u2212", "-"))
_ACCENTS = re.compile(r"[\u0300-\u036f]")
_ARTICLES = frozenset({"a", "an", "the"})


def normalise(text: str) -> str:
    """Return the text's comparable tokens, with a space between each two."""
    return " ".join(tokens(text))


def tokens(text: str, *, articles: bool = False) -> list[str]:
    """Cut a text into comparable tokens, in its order; a wide character is one by itself.

    A text of nothing but punctuation is one token; a blank one has none.

    Args:
        text: Any text.
        articles: Whether to keep the articles.
    """
    joined = _LINK.sub(r"\1", plain(_THOUSANDS.sub(lambda match: _SEPARATOR.sub("", match[0]), text)))
    folded = _folded(joined).translate(_DASH).replace("&", " and ")
    folded = _INITIALS.sub(lambda match: match[0].replace(".", ""), folded)
    found = [match[match.lastgroup or 0] for match in _TOKEN.finditer(folded)]
    return _shares(found if articles else _without_articles(found)) or list(filter(None, ["".join(text.split())]))


def _folded(text: str) -> str:
    """Take away case, width and accents: many write a foreign name without."""
    apart = unicodedata.normalize("NFKD", unicodedata.normalize("NFKC", text).casefold())
    return unicodedata.normalize("NFKC", _ACCENTS.sub("", apart)).casefold()


def _without_articles(found: list[str]) -> list[str]:
    """Drop the articles; at the end it is no article but a name, as in `Group A`."""
    return [word for word in found[:-1] if word not in _ARTICLES] + found[-1:]


def _shares(found: list[str]) -> list[str]:
    """Write `percent` and `per cent` as `%`."""
    told: list[str] = []
    for word in found:
        if word == "cent" and told and told[-1] == "per":
            told[-1] = "%"
        else:
            told.append("%" if word == "percent" else word)
    return told
