"""Captchas and browser checks are told from pages of the site."""

from __future__ import annotations

import pytest

from browser.observation import Document
from browser.speculation.interstitial import is_interstitial


def page(title: str, markdown: str = "Some text.") -> Document:
    return Document(requested_url="http://a/", url="http://a/", status=200, title=title, markdown=markdown)


@pytest.mark.parametrize(
    "title",
    [
        "Just a moment...",
        "请稍候…",
        "Attention Required! | Cloudflare",
        "DDoS-Guard",
        "Making sure you’re not a bot!",
        "Vercel Security Checkpoint",
        "Pardon Our Interruption...",
        "Robot or human?",
        "百度安全验证",
        "Security Check",
        "CAPTCHA",
    ],
)
def test_a_title_tells(title: str) -> None:
    assert is_interstitial(page(title))


@pytest.mark.parametrize(
    "text",
    [
        "example.org\n\nVerify you are human by completing the action below.",
        "Enter the characters you see below\n\nSorry, we just need to make sure you're not a robot.",
        "Our systems have detected unusual traffic from your computer network.",
        "Request unsuccessful. Incapsula incident ID: 1234",
        "请完成安全验证",
    ],
)
def test_a_sentence_tells(text: str) -> None:
    assert is_interstitial(page("", text))


@pytest.mark.parametrize(
    ("title", "text"),
    [
        ("Just a moment: stories of waiting", "Some text."),
        ("Security check-list for homes", "Lock the door."),
        ("Moment", "The moment of a force."),
        ("CAPTCHA", "A CAPTCHA asks whether you are human. " * 100),
        ("Sign in", "Name, password."),
        ("", ""),
    ],
)
def test_a_page_of_the_site_is_one(title: str, text: str) -> None:
    assert not is_interstitial(page(title, text))
