"""What of the user's own may go to a site, and what is masked of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from browser import Control, Document, Link
from browser.acting.allowance import HIDDEN, Allowance, Secret
from browser.errors import ActionFailed

PASSWORD = Secret(name="PASSWORD", value="hunter2 & co", host="example.org")
PIN = Secret(name="PIN", value="73910", host="bank.example", secure=True)
ALLOWANCE = Allowance(secrets=[PASSWORD, PIN], hidden=["Bearer abcdefgh"])


@pytest.mark.parametrize("url", ["https://example.org/login", "http://www.example.org:8080/"])
def test_a_secret_is_revealed_on_its_host_and_below(url: str) -> None:
    assert ALLOWANCE.revealed("{{PASSWORD}}!", url=url) == "hunter2 & co!"


@pytest.mark.parametrize(
    "url",
    ["https://evil.test/", "https://notexample.org/", "https://example.org.evil.test/", "about:srcdoc", "data:,x", ""],
)
def test_a_secret_is_revealed_nowhere_else(url: str) -> None:
    with pytest.raises(ActionFailed, match=r"is for example\.org only"):
        ALLOWANCE.revealed("{{PASSWORD}}", url=url)
    assert ALLOWANCE.revealed("{{OTHER}} text", url=url) == "{{OTHER}} text"


def test_a_secret_of_a_secure_site_is_not_typed_in_the_clear() -> None:
    assert ALLOWANCE.revealed("{{PIN}}", url="https://bank.example/") == "73910"
    with pytest.raises(ActionFailed, match="over https only"):
        ALLOWANCE.revealed("{{PIN}}", url="http://bank.example/")


def test_a_page_is_masked_everywhere() -> None:
    document = Document(
        requested_url="https://example.org/?p=hunter2+%26+co",
        url="https://example.org/?p=hunter2%20%26%20co",
        title="hunter2 & co",
        markdown="hunter2 &amp; co, Bearer abcdefgh",
        links=(Link(number=1, text="73910", url="https://example.org/73910", context="hunter2 & co"),),
        controls=(Control(number=1, kind="textbox", name="73910", state="value: hunter2 & co"),),
        notes=("73910",),
        incidents=("The page showed a dialog: hunter2 & …",),
        problem="no hunter2 & co",
    )
    shown = repr(ALLOWANCE.masked_document(document))
    assert not any(value in shown for value in ("hunter2", "73910", "abcdefgh"))
    assert HIDDEN in shown
    assert ALLOWANCE.holds_secret("https://example.org/%7B%7BPASSWORD%7D%7D")
    assert not ALLOWANCE.holds_secret("https://example.org/PASSWORD")
    assert Allowance().masked_document(document) is document


@pytest.mark.parametrize(
    ("name", "value", "says"), [("PASS WORD", "long enough", "letters, digits"), ("PASSWORD", "abc", "too short")]
)
def test_a_secret_that_cannot_be_kept_is_refused(name: str, value: str, says: str) -> None:
    with pytest.raises(ValueError, match=says) as error:
        Secret(name=name, value=value, host="example.org")
    assert value not in str(error.value)
    assert "hunter2" not in repr(ALLOWANCE)


def test_only_files_that_were_allowed_leave(tmp_path: Path) -> None:
    file = tmp_path / "report.txt"
    file.write_text("x")
    allowance = Allowance(files=[file, tmp_path / "gone.txt"])
    assert allowance.file("report.txt") == allowance.file(str(file)) == file
    for other in ("/etc/hostname", "../report.txt", "", "*"):
        with pytest.raises(ActionFailed, match="is not one of the files"):
            allowance.file(other)
    with pytest.raises(ActionFailed, match="does not exist"):
        allowance.file("gone.txt")
