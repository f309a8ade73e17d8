"""The reader's clean HTML as markdown, without a browser."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from browser.renderer import render, render_text


def test_a_link_and_a_control_are_written_as_markers() -> None:
    html = (
        '<p>go <a n="12">to <code>x</code> </a>or<control n="3" kind="button" state="disabled">Say "hi"</control></p>'
    )
    assert render(html) == "go [to `x`][12] or[button \"Say 'hi'\" disabled][c3]"


def test_a_long_numbered_list_takes_linear_time() -> None:
    items = "".join(f'<li value="{number}">item</li>' for number in range(1, 20_001))
    markdown = render(f"<ol>{items}</ol>")
    assert markdown.startswith("1. item\n2. item\n")
    assert markdown.endswith("\n20000. item")


def test_nesting_beyond_the_stack_falls_back_to_text() -> None:
    assert "inside" in render("<blockquote>" * 5000 + "inside" + "</blockquote>" * 5000)


_MARKUP = st.text(st.sampled_from("[]c12 \\`*"), max_size=12)


@given(before=_MARKUP, text=_MARKUP.filter(str.strip), after=_MARKUP)
def test_no_text_can_be_mistaken_for_a_marker(before: str, text: str, after: str) -> None:
    markdown = render(f'<p>{before}<a n="7">{text}</a>{after}</p>')
    assert re.findall(r"\]\[(c?\d+)\]", markdown) == ["7"]


@pytest.mark.parametrize(
    ("content_type", "expected"),
    [
        ("text/plain", "a[0] [1]"),
        ("application/json", "```json\na[0] [1]\n```"),
        ("application/atom+xml", "```xml\na[0] [1]\n```"),
        ("text/css", "```\na[0] [1]\n```"),
    ],
)
def test_a_text_that_is_no_html_is_kept_as_it_is(content_type: str, expected: str) -> None:
    assert render_text(["a[0]", "[1]\n"], content_type=content_type) == expected


def test_a_fence_is_longer_than_any_in_the_text() -> None:
    assert render_text(["````"], content_type="application/json") == "`````json\n````\n`````"
