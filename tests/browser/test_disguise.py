"""Secret values in texts: found however they are written, and nothing else is touched."""

from __future__ import annotations

import json
from html import escape
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from browser.session.disguise import Disguise

VALUE = "p&ss wörd'<1>\"\\/+%"
VALUES = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=4, max_size=12).filter(str.strip)


@pytest.mark.parametrize(
    "written",
    [
        VALUE,
        quote(VALUE),
        quote(VALUE, safe="").lower(),
        quote_plus(VALUE),
        quote(quote(quote(VALUE, safe=""), safe=""), safe=""),
        escape(VALUE),
        escape(escape(VALUE)),
        json.dumps(VALUE)[1:-1],
        json.dumps(json.dumps(VALUE))[3:-3],
        VALUE.replace(" ", "\n   "),
        VALUE.replace("<", "\\<"),
        VALUE.upper(),
        VALUE.replace('"', "'"),
        VALUE[:7] + "…",
        quote(VALUE)[:11] + "…",
    ],
)
def test_a_value_is_found_however_it_is_written(written: str) -> None:
    shown = Disguise({VALUE: "{{PASSWORD}}"}).put_on(f"before {written} after")
    assert shown in ("before {{PASSWORD}} after", "before {{PASSWORD}}… after")


@given(VALUES, st.text(max_size=20), st.text(max_size=20))
def test_no_value_survives(value: str, before: str, after: str) -> None:
    for written in (value, quote(value, safe=""), quote_plus(value), escape(value)):
        assert written not in Disguise({value: "□"}).put_on(before + written + after).replace("□", "")


@given(st.text(max_size=60))
def test_a_text_without_a_value_stays_as_it_is(text: str) -> None:
    assert Disguise({"correct horse battery": "□"}).put_on(text) == text


def test_a_longer_value_goes_first_and_long_ones_are_no_trouble() -> None:
    disguise = Disguise({"token": "A", "token-and-more": "B", "x" * 300: "C"})
    assert disguise.put_on(f"token token-and-more {'x' * 300} {'x' * 299}…") == "A B C C…"
    assert disguise.put_on("tok… toke… toky… toke%…") == "tok… B… toky… B…"
    assert not Disguise({})
    for hostile in ("\\" * 5_000, "%25" * 2_000, "&amp;" * 2_000, "toke" * 2_000):
        assert disguise.put_on(hostile + "…")
