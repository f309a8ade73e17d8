"""Parts of a long text and passages in it."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from browser.reading.parts import find, split_parts

_PIECES = st.sampled_from(
    ["word", "[a link][12]", '[button "Go on"][c3]', "[a [b] c][4]", " ", "\n", "\n\n", "```\n", "x" * 30]
)

_MARKER = re.compile(r'\[(?:a link|button "Go on"|a \[b\] c)\]\[c?\d+\]')


def _bare(text: str) -> str:
    return "".join(text.split())


@given(pieces=st.lists(_PIECES, max_size=60), max_chars=st.integers(25, 200))
def test_the_parts_are_the_text_and_cut_no_marker(pieces: list[str], max_chars: int) -> None:
    markdown = "".join(pieces)
    parts = split_parts(markdown, max_chars)
    assert _bare("".join(parts)) == _bare(markdown)
    assert all(len(part) <= max_chars for part in parts)
    assert [marker for part in parts for marker in _MARKER.findall(part)] == _MARKER.findall(markdown)
    assert all(part.strip() for part in parts)


def test_a_short_text_is_one_part_and_an_empty_one_none() -> None:
    assert split_parts("a\n\nb", 100) == ("a\n\nb",)
    assert split_parts("", 100) == ()
    assert split_parts("\n\n", 100) == ()


def test_a_part_ends_at_the_end_of_a_block_outside_code() -> None:
    code = "```\n" + "line\n\n" * 4 + "```"
    assert split_parts(f"the first block of it\n\n{code}\n\nlast", 33) == ("the first block of it", code, "last")


def test_a_link_longer_than_a_part_stays_whole() -> None:
    link = f"[{'long ' * 20}][1]"
    assert split_parts(f"a {link} b", 50) == ("a ", link, " b")


def test_find_shows_passages_with_their_part() -> None:
    text = (
        "# One\n\nThe default is **10  seconds** here.\n\n" + "filler " * 40 + "\n\nSee [the\nlimits][7]: 60 Seconds."
    )
    assert find(text, "10 SECONDS", max_chars=150) == "(part 1 of 3)\nThe default is **10  seconds** here."
    assert find(text, "see the limits", max_chars=150) == "(part 3 of 3)\nSee [the\nlimits][7]: 60 Seconds."
    assert find(text, "nowhere", max_chars=150) == ""
    assert find(text, " ", max_chars=150) == ""


def test_find_is_bounded_and_says_what_it_leaves_out() -> None:
    text = "\n\n".join(f"needle {number} " + "hay " * 200 for number in range(50))
    found = find(text, "needle", max_chars=1000)
    assert len(found) < 1500
    assert found.endswith("more passages are not shown.)")


def test_passages_that_overlap_are_one() -> None:
    assert find("needle and needle", "needle", max_chars=100) == "needle and needle"
