"""What may be opened ahead of time, and what never."""

from __future__ import annotations

import pytest

from browser.observation import Link
from browser.speculation.gate import address_refusal, refusal

HERE = "https://example.org/start"


def refused(
    text: str = "More",
    url: str = "/page",
    *,
    rel: str = "",
    download: bool = False,
    language: str = "",
) -> str | None:
    absolute = url if ":" in url else f"https://example.org{url}"
    link = Link(number=1, text=text, url=absolute, rel=rel, download=download, language=language)
    return refusal(link, page_url=HERE)


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("Research", "/research"),
        ("Design system", "/design"),
        ("Cartography", "/maps/cartography"),
        ("Payroll", "/payroll"),
        ("Order By", "/queries-order.html"),
        ("Removed features", "/features-removed.html"),
        ("SQL statement for rows", "/sql-delete.html"),
        ("Read more", "/news/2024/05"),
        ("Chapter 2", "/index.html?prod=1#/styles/web"),
        ("Results", "/search?q=cats&page=2"),
        ("新闻", "/zh/news"),
        ("Blog", "https://blog.example.org/"),
    ],
)
def test_reading_is_allowed(text: str, url: str) -> None:
    assert refused(text, url) is None


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("/logout", "effect-path"),
        ("/account/sign-out", "effect-path"),
        ("/logout.php", "effect-path"),
        ("/items/delete/7", "effect-path"),
        ("/item_delete?id=7", "effect-path"),
        ("/delete-account", "effect-path"),
        ("/unsubscribe/abc", "effect-path"),
        ("/cart/add/3", "effect-path"),
        ("/?add-to-cart=3", "effect-query"),
        ("/post.php?action=delete", "effect-query"),
        ("/?do=logout", "effect-query"),
        ("/?lang=de", "language-switch"),
        ("/verify?token=abc", "effect-path"),
        ("/x?token=abc", "token"),
        ("/x?X-Amz-Signature=abc", "token"),
        ("/x?code=9", "token"),
        ("/app#/logout", "effect-path"),
        ("/wp-admin/post.php", "privileged-path"),
        ("/api/users", "privileged-path"),
        ("/files/report.pdf", "download"),
        ("/export", "download"),
        ("mailto:a@example.org", "scheme"),
        ("javascript:void(0)", "scheme"),
        ("https://elsewhere.org/", "off-site"),
        ("http://127.0.0.1/", "private-address"),
        ("https://me:secret@example.org/", "credentials"),
    ],
)
def test_addresses_with_effects_are_refused(url: str, reason: str) -> None:
    assert refused("More", url) == reason


EFFECTS = """Log out|Sign off|Delete|Unsubscribe|Add to cart|Checkout|Abmelden|Se déconnecter|Supprimer|Cerrar sesión
Eliminar|Выйти|退出登录|删除|加入购物车|ログアウト|로그아웃|Like|RSVP"""


@pytest.mark.parametrize("text", EFFECTS.replace("\n", "|").split("|"))
def test_texts_with_effects_are_refused(text: str) -> None:
    assert refused(text) == "effect-text"


@pytest.mark.parametrize("text", ["English", "中文", "Deutsch", "FR", "日本語"])
def test_language_switches_are_refused(text: str) -> None:
    assert refused(text) == "language-switch"


def test_attributes_are_heeded() -> None:
    assert refused(download=True) == "download"
    assert refused(rel="external nofollow") == "nofollow"
    assert refused(language="de") == "language-switch"


def test_an_address_without_a_link_is_judged_by_itself() -> None:
    assert address_refusal("https://example.org/a", page_url=HERE) is None
    assert address_refusal("https://example.org/logout", page_url=HERE) == "effect-path"
    assert address_refusal("http://[", page_url=HERE) == "not-a-url"
