"""A page like those of software documentation, made up the same way every time.

Invariant: it has what makes such pages costly to read: a long menu, highlighted code, tables, nested lists, and text
full of links.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

FIRST_LINE = "Reference of the made-up client"
LAST_LINE = "The last line of the page."

_VOCABULARY = (
    "the a of to in is and for with that when which cache request response header client server timeout retry stream"
    " buffer worker queue schedule default option value returns raises accepts ignores replaces configuration module"
    " function argument before after until connection pool limit entry key token session origin policy field index"
)
_WORDS = tuple(_VOCABULARY.split())
_KEYWORDS = ("def", "return", "async", "await", "with", "for", "import")
_STYLE = "nav{float:left;width:240px}main{margin-left:260px}.k{color:#a0f}.s{color:#080}td,th{border:1px solid #ccc}"


def documentation_page(*, characters: int) -> str:
    """Write a page of about so many characters of HTML."""
    random = Random(0)  # noqa: S311 - the same page every time
    parts = [
        f"<!doctype html><meta charset=utf-8><title>Reference</title><style>{_STYLE}</style><nav><ul>",
        *(f"<li><a href='/docs/{number}'>{_words(random, 3)}</a></li>" for number in range(120)),
        f"</ul></nav><main><h1>{FIRST_LINE}</h1>",
    ]
    length = sum(map(len, parts))
    for section in _sections(random):
        parts.append(section)
        length += len(section)
        if length > characters:
            break
    return "".join([*parts, "</main><footer><p>", LAST_LINE, "</p></footer>"])


def _sections(random: Random) -> Iterator[str]:
    number = 0
    while True:
        number += 1
        yield (
            f"<section id=s{number}><h2>{number}. {_words(random, 4)} <a href='#s{number}'>¶</a></h2>"
            f"{_paragraph(random)}{_paragraph(random)}{_code(random)}{_list(random)}{_paragraph(random)}"
            f"{_table(random) if number % 2 else ''}</section>"
        )


def _words(random: Random, count: int) -> str:
    return " ".join(random.choices(_WORDS, k=count))


def _paragraph(random: Random) -> str:
    link = f"<a href='/docs/{random.randrange(200)}' class='reference internal'>{_words(random, 2)}</a>"
    code = f"<code class='docutils literal'><span class=pre>{random.choice(_WORDS)}</span></code>"
    return f"<p>{_words(random, 30)} {link}, {_words(random, 12)} {code} {_words(random, 20)}.</p>"


def _code(random: Random) -> str:
    lines = "\n".join(
        f"<span class=k>{random.choice(_KEYWORDS)}</span> <span class=n>{random.choice(_WORDS)}</span>"
        f"<span class=p>(</span><span class=s>'{random.choice(_WORDS)}'</span><span class=p>)</span>"
        for _ in range(8)
    )
    return f"<div class='highlight-python'><pre><code class='language-python'>{lines}</code></pre></div>"


def _list(random: Random) -> str:
    inner = "".join(f"<li>{_words(random, 8)}</li>" for _ in range(3))
    return f"<ul><li>{_words(random, 10)}</li><li>{_words(random, 6)}<ul>{inner}</ul></li></ul>"


def _table(random: Random) -> str:
    row = "<tr><td><code>{}</code></td><td>{}</td><td>{}</td></tr>"
    rows = "".join(row.format(random.choice(_WORDS), _words(random, 2), _words(random, 9)) for _ in range(6))
    return f"<table><thead><tr><th>Name</th><th>Type</th><th>Meaning</th></tr></thead><tbody>{rows}</tbody></table>"
