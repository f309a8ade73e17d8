"""Windows on a long markdown text: parts to read one after the other, and passages around a text.

Invariant: the parts joined are the text, white space between them apart, and neither a part nor a passage ends inside a
link or a control.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_MARKER_END = re.compile(r"\]\[c?\d+\]")
_TEXT = re.compile(r"[^\n]")
_BLOCK_END = re.compile(r"\n{2,}")
_FENCE = re.compile(r"^ *`{3,}", re.MULTILINE)
_MARKUP = r"(?:\s|[*`\[]|\]\[c?\d+\])+"  # what may stand between two words of one text
_MAX_MARKER = 600
_AROUND = 200
_MAX_PASSAGES = 20


@dataclass(frozen=True, slots=True)
class _Span:
    start: int
    end: int


def split_parts(markdown: str, max_chars: int) -> tuple[str, ...]:
    """Split a text into parts of at most `max_chars` characters (more only where one link is longer).

    A part ends at the end of a block where there is one, else at the end of a line, else between words.
    """
    return tuple(markdown[span.start : span.end].strip("\n") for span in _parts(markdown, max_chars))


def find(markdown: str, text: str, *, max_chars: int) -> str:
    """Show the passages around each place where a text occurs, `max_chars` characters at most; empty where it does not.

    Case, runs of white space, links and emphasis do not matter. A passage names the part it stands in, as `split_parts`
    counts them with the same `max_chars`.
    """
    words = text.split()
    if not words:
        return ""
    pattern = re.compile(_MARKUP.join(map(re.escape, words)), re.IGNORECASE)
    passages = _merged(_around(markdown, match.start(), match.end()) for match in pattern.finditer(markdown))
    parts = list(_parts(markdown, max_chars))
    shown: list[str] = []
    room = max_chars
    for passage in passages[:_MAX_PASSAGES]:
        room -= passage.end - passage.start
        if shown and room < 0:
            break
        part = next(number for number, span in enumerate(parts, 1) if passage.start < span.end)
        title = f"(part {part} of {len(parts)})\n" if len(parts) > 1 else ""
        shown.append(title + markdown[passage.start : passage.end].strip("\n"))
    if len(shown) < len(passages):
        shown.append(f"({len(passages) - len(shown)} more passages are not shown.)")
    return "\n\n".join(shown)


def _parts(markdown: str, max_chars: int) -> Iterator[_Span]:
    end = 0
    while (match := _TEXT.search(markdown, end)) is not None:
        start = match.start()
        end = _end_of_part(markdown, start, max_chars)
        if not markdown[start:end].isspace():
            yield _Span(start, end)


def _end_of_part(markdown: str, start: int, max_chars: int) -> int:
    limit = start + max_chars
    if limit >= len(markdown):
        return len(markdown)
    window = markdown[start:limit]
    # A part that is not at least half full is not worth a cleaner cut.
    ends = (_last_block_end(window), window.rfind("\n"), window.rfind(" "))
    end = next((end for end in ends if end >= max(1, max_chars // 2)), max_chars)
    return _outside_marker(markdown, start, start + end)


def _last_block_end(window: str) -> int:
    fences = [match.start() for match in _FENCE.finditer(window)]
    for end in reversed([match.start() for match in _BLOCK_END.finditer(window)]):
        if sum(fence < end for fence in fences) % 2 == 0:  # not within a block of code
            return end
    return -1


def _outside_marker(markdown: str, start: int, cut: int) -> int:
    """Move a cut that is inside a link or a control in front of it, or behind it where the part begins with it."""
    marker = _marker_around(markdown, cut)
    if marker is None:
        return cut
    return marker.start if marker.start > start else marker.end


def _marker_around(markdown: str, position: int) -> _Span | None:
    """The link or control whose inside this position is, if it is in one."""
    for end in _MARKER_END.finditer(markdown, max(0, position - 12), position + _MAX_MARKER):
        begin = _marker_start(markdown, end.start())
        if begin < position < end.end():
            return _Span(begin, end.end())
    return None


def _marker_start(markdown: str, close: int) -> int:
    """Find the bracket that opens the marker whose text ends at `close`; brackets within the text come in pairs."""
    depth = 1
    for position in range(close - 1, max(0, close - _MAX_MARKER) - 1, -1):
        depth += {"]": 1, "[": -1}.get(markdown[position], 0)
        if depth == 0:
            return position
    return close


def _around(markdown: str, start: int, end: int) -> _Span:
    """The block a match stands in, or as much of it as is worth showing."""
    block_start = markdown.rfind("\n\n", 0, start) + 2 if "\n\n" in markdown[:start] else 0
    block_end = markdown.find("\n\n", end)
    block_end = len(markdown) if block_end < 0 else block_end
    if start - block_start > _AROUND:
        block_start = _outside_marker(markdown, 0, markdown.rfind(" ", 0, start - _AROUND) + 1)
    if block_end - end > _AROUND:
        space = markdown.find(" ", end + _AROUND)
        block_end = _outside_marker(markdown, end, block_end if space < 0 else min(block_end, space))
    return _Span(min(block_start, start), max(block_end, end))


def _merged(spans: Iterator[_Span]) -> list[_Span]:
    merged: list[_Span] = []
    for span in spans:
        if merged and span.start <= merged[-1].end:
            merged[-1] = _Span(merged[-1].start, max(merged[-1].end, span.end))
        else:
            merged.append(span)
    return merged
