"""Takes secret values out of texts, however they are written there.

Invariant: no text that has passed holds such a value: not as it is, in upper or lower case, not with some of its
characters escaped as in an address, in HTML, in JSON or in markdown, nor the beginning of one that was cut off.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

_MIN_CUT = 4  # a shorter beginning stands in many texts by chance
_PERCENT = "%(?:25)*"  # an address within an address escapes the sign, too
_NAMED = {"&": "amp", "<": "lt", ">": "gt", '"': "quot", "'": "apos"}  # in HTML
_QUOTES = "\"'"  # a reader may write one for the other
_CUT = "…"
_MAX_WRITTEN = 12  # characters that one is written with, where texts are cut
_PIECE = re.compile(r"[%&\\][\w#%]{0,8}")  # of one that was cut in two itself


class Disguise:
    """Puts other words in the place of some.

    Args:
        stand_ins: What stands for each value.
    """

    def __init__(self, stand_ins: Mapping[str, str]) -> None:
        # A longer value may hold a shorter one.
        by_length = sorted(stand_ins.items(), key=lambda pair: -len(pair[0]))
        self._rules = [_Rule(value, stand_in) for value, stand_in in by_length]

    def put_on(self, text: str) -> str:
        """Return the text without any of the values."""
        for rule in self._rules:
            text = rule.put_on(text)
        return text

    def __bool__(self) -> bool:
        return bool(self._rules)


class _Rule:
    def __init__(self, value: str, stand_in: str) -> None:
        ways = [_written(character) for character in value]
        self._whole = re.compile("".join(ways), re.IGNORECASE)
        self._beginning = re.compile(f"(?={''.join(ways[:_MIN_CUT])})", re.IGNORECASE)
        self._ways = [re.compile(way, re.IGNORECASE) for way in ways]
        self._stand_in = stand_in

    def put_on(self, text: str) -> str:
        text = self._whole.sub(lambda _: self._stand_in, text)
        # Events and notes of a page are cut at a length, and end in a mark.
        for mark in reversed([found.start() for found in re.finditer(_CUT, text)]):
            start = self._start_of_cut(text, mark)
            if start is not None:
                text = text[:start] + self._stand_in + text[mark:]
        return text

    def _start_of_cut(self, text: str, mark: int) -> int | None:
        """Return where a beginning of the value begins that is cut off at the mark; None where there is none."""
        for found in self._beginning.finditer(text, max(0, mark - _MAX_WRITTEN * len(self._ways)), mark):
            place = found.start()
            for way in self._ways:
                step = way.match(text, place, mark)
                if step is None:
                    break
                place = step.end()
            if place == mark or _PIECE.fullmatch(text, place, mark):
                return found.start()
        return None


def _written(character: str) -> str:
    """Match a character in every way it may be written."""
    escaped = "".join(f"{_PERCENT}{byte:02x}" for byte in character.encode("utf-8", "surrogatepass"))
    ways = [escaped, rf"\\{{1,4}}u{ord(character):04x}"]
    if character.isspace():
        ways += [r"\s{1,100}", r"\+", "&nbsp;"]
    else:
        names = [f"#0*{ord(character)}", f"#x0*{ord(character):x}", _NAMED.get(character)]
        plain = f"[{_QUOTES}]" if character in _QUOTES else re.escape(character)
        ways += [f"&(?:amp;)*(?:{'|'.join(filter(None, names))});", rf"\\{{0,4}}{plain}"]
    return f"(?:{'|'.join(ways)})"
