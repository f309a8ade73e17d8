"""Cuts a page's markdown into passages that can be quoted: sentences, list items, table rows, definitions.

Invariant: the text of a passage is what the page says, word for word, with only the markup taken away; a table row
names its columns. What it stands under (headings, term, item above) is kept beside it, since alone it says little.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

MAX_CHARS = 320
"""About how long a quote may be; a longer sentence is kept whole up to twice as much, then cut."""
MAX_SENTENCES = 2
_LABEL_CHARS = 100

_MARKER = re.compile(r"\[([^\[\]]*(?:\[[^\[\]]*\][^\[\]]*)*)\]\[(c?)\d+\]")
_EMPHASIS = re.compile(r"\*\*|`+|(?<![^\W_])_(?=\S)|(?<=\S)_(?![^\W_])|(?<!\w)\*(?=\S)|(?<=\S)\*(?!\w)")
_HEADING = re.compile(r"(#{1,6})\s+(.*)")
_ITEM = re.compile(r"([-*+]|\d+[.)])\s+(.*)")
_DEFINITION = re.compile(r":\s{1,3}(.*)")
_FENCE = re.compile(r"(`{3,}|~{3,})")
_RULE = re.compile(r"([-*_=]\s*){3,}")
_CELL_END = re.compile(r"(?<!\\)\|")
_SENTENCE_END = re.compile(r"(?<=[.!?])[\"')\]]*\s+(?=[^\sa-z])|(?<=[\u3002\uff01\uff1f])")
_ABBREVIATION = re.compile(r"\b(e\.g|i\.e|etc|cf|vs|approx|no|fig|mr|mrs|ms|dr|st)\.$", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """A piece of a page that may be quoted.

    Attributes:
        text: Its words, without markup.
        label: What it stands directly under: a defined term, the list item above, or the heading; may be empty.
        context: All it stands under, outermost first.
    """

    text: str
    label: str = ""
    context: str = ""


def passages(markdown: str) -> tuple[Passage, ...]:
    """Cut a page into passages, in page order; equal ones come once, text that is only links not at all."""
    return tuple(dict.fromkeys(_Cutter().cut(markdown)))


def plain(markdown: str) -> str:
    """Take the markup away: links and emphasis to their text, controls to nothing."""
    text = _MARKER.sub(lambda match: "" if match[2] else match[1], markdown)
    return " ".join(_EMPHASIS.sub("", text).replace("\\|", "|").split())


@dataclass(slots=True)
class _Cutter:
    """Reads line by line; `_above` holds the items and terms that the current line's indent places it under."""

    _headings: dict[int, str] = field(default_factory=dict)
    _above: list[tuple[int, str]] = field(default_factory=list)
    _block: list[str] = field(default_factory=list)
    _columns: list[str] | None = None
    _group: str = ""
    _fence: str = ""

    def cut(self, markdown: str) -> Iterator[Passage]:
        for line in [*markdown.splitlines(), ""]:
            indent = len(line) - len(line.lstrip())
            yield from self._read(re.sub(r"^(>\s?)+", "", line.strip()), indent)

    def _read(self, line: str, indent: int) -> Iterator[Passage]:
        if self._fence or _FENCE.match(line):
            yield from self._read_code(line)
        elif line.startswith("|"):
            yield from self._end_block()
            yield from self._read_row([plain(cell) for cell in _CELL_END.split(line.strip("|"))])
        else:
            self._columns = None
            yield from self._read_text(line, indent)

    def _read_text(self, line: str, indent: int) -> Iterator[Passage]:
        if not line or _RULE.fullmatch(line):
            yield from self._end_block()
        elif heading := _HEADING.match(line):
            yield from self._end_block()
            level = len(heading[1])
            self._headings = {other: text for other, text in self._headings.items() if other < level}
            self._headings[level] = plain(heading[2])
            self._above.clear()
        elif definition := _DEFINITION.match(line):
            term = plain(" ".join(self._block))
            self._block.clear()
            self._leave(indent)
            self._above.append((indent + 1, term[:_LABEL_CHARS]))
            self._block = [definition[1]]
        elif item := _ITEM.match(line):
            yield from self._end_block()
            self._leave(indent)
            text = item[2].lstrip("# ")  # an item may begin with a heading
            self._block = [text]
            self._above.append((indent + 1, plain(text)[:_LABEL_CHARS]))
        else:
            if not self._block:
                self._leave(indent)
            self._block.append(line)

    def _leave(self, indent: int) -> None:
        while self._above and self._above[-1][0] > indent:
            self._above.pop()

    def _read_code(self, line: str) -> Iterator[Passage]:
        if not self._fence:
            yield from self._end_block()
            self._fence = line[:3]
        elif line.startswith(self._fence):
            self._fence = ""
            yield from self._made(" ".join(self._block))
            self._block.clear()
        else:
            self._block.append(line)

    def _read_row(self, cells: list[str]) -> Iterator[Passage]:
        if self._columns is None:
            self._columns, self._group = cells, ""
        elif len([cell for cell in cells if cell]) == 1 and len(cells) > 1:
            self._group = next(filter(None, cells))
        elif not all(re.fullmatch(r"[-: ]*", cell) for cell in cells):
            columns = [*self._columns, *[""] * len(cells)]
            named = [
                f"{column}: {cell}" if column else cell for column, cell in zip(columns, cells, strict=False) if cell
            ]
            yield from self._made("; ".join(named), above=self._group)

    def _end_block(self) -> Iterator[Passage]:
        block, self._block = " ".join(self._block), []
        if _MARKER.sub("", block).strip(" -|·•,/>*"):
            for window in _windows(sentences(plain(block))):
                yield from self._made(window)

    def _made(self, text: str, *, above: str = "") -> Iterator[Passage]:
        over = [*self._headings.values(), *(label for _, label in self._above), above]
        over = [label for label in over if label and not text.startswith(label)]
        if text:
            label = over[-1] if over else ""
            yield Passage(text=text[: 2 * MAX_CHARS], label=label[:_LABEL_CHARS], context=": ".join(over[-3:]))


def sentences(text: str) -> list[str]:
    """Cut plain text into sentences; abbreviations end none."""
    found: list[str] = []
    for piece in _SENTENCE_END.split(text):
        if found and _ABBREVIATION.search(found[-1]):
            found[-1] += f" {piece}"
        elif piece.strip():
            found.append(piece.strip())
    return found


def _windows(parts: list[str]) -> Iterator[str]:
    """Yield, from each sentence on, as many as fit a quote: what is asked for often stands after what it is about."""
    reached = 0
    for start in range(len(parts)):
        end = start + 1
        while end < min(len(parts), start + MAX_SENTENCES) and len(" ".join(parts[start : end + 1])) <= MAX_CHARS:
            end += 1
        if end > reached:  # else it is the tail of the window before
            reached = end
            yield " ".join(parts[start:end])
