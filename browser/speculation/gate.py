"""The gate that every speculation passes: default deny.

Invariant: a speculation may only do what reading a public page does. "GET is safe" is false on the web: prefetchers
that believed it logged people out and deleted their data (Google Web Accelerator, 2005). So a link passes only if
nothing about it (address, text, attributes) hints at an effect. A refusal costs only time: the target may still go.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from yarl import URL

from browser.address import is_private, is_route, page_key, same_site
from browser.observation import Link, Observation
from browser.speculation.effect_path import begins_with_effect, has_effect, is_effect

_PRIVILEGED = re.compile(r"(wp-(admin|login|cron|json)\b.*|admin|administrator|api|graphql|cgi-bin)", re.IGNORECASE)
_SECRET_KEYS = re.compile(
    r"(.*[-_])?(token|nonce|csrf|xsrf|sig|signature|hmac|otp|ticket|secret|auth|apikey|api[-_]key|password|passwd|sid"
    r"|session(id)?|phpsessid|jsessionid|magic|invite)|code|state|hash",
    re.IGNORECASE,
)
_ACTION_KEYS = re.compile(r"action|do|op|cmd|command|method|mode|task|event", re.IGNORECASE)
_HARMLESS_VALUES = ("", "view", "show", "list", "read", "index", "display", "search")
_SWITCH_KEYS = re.compile(r"(set)?(lang(uage)?|locale|hl|currency)", re.IGNORECASE)
_DOWNLOAD = re.compile(
    r"\.(7z|apk|avi|bin|bz2|csv|deb|dmg|docx?|epub|exe|gz|img|iso|jar|mov|mp[34]|msi|odt|pdf|pkg|pptx?|rar|rpm|tar|tgz"
    r"|torrent|wav|webm|whl|xlsx?|xz|zip|zst|gif|jpe?g|png|svg|webp|ico|mobi|ps)$|^(download|export)s?([-_.]|$)",
    re.IGNORECASE,
)

# Link texts, from their beginning; languages: en, de, fr, es, it, pt, nl, ru, zh, ja, ko.
_TEXT = re.compile(
    r"(log ?(out|off)|sign ?(out|off)|delete|remove|erase|discard|cancel|unsubscribe|opt[ -]out|deactivate"
    r"|close (my )?account|add to (cart|bag|basket)|(shopping )?cart|checkout|buy|purchase|pay( now)?|donate"
    r"|order now|book now|confirm|verify"
    r"|approve|accept|reset password|download|export"
    r"|abmelden|ausloggen|löschen|entfernen|kündigen|abbestellen|(in den )?warenkorb|kaufen|bestellen|herunterladen"
    r"|(se )?déconn\w+|supprimer|effacer|annuler|(se )?désabonn\w+|(ajouter au )?panier|acheter|télécharger"
    r"|cerrar sesión|salir|eliminar|borrar|cancelar|darse de baja|(añadir al )?carrito|comprar|descargar"
    r"|esci|disconnetti|elimina|cancella|carrello|acquista|sair|excluir|apagar|carrinho|uitloggen|verwijderen|winkelwagen"
    r"|выйти|выход|удалить|отменить|отписаться|корзина|купить|скачать)\b"
    r"|(退出|登出|注销|删除|移除|清空|取消|退订|加入购物车|购物车|结账|结算|购买|付款|支付|下单|确认|下载|导出"
    r"|ログアウト|サインアウト|削除|退会|解約|購読解除|カート|購入|注文する|ダウンロード"
    r"|로그아웃|삭제|탈퇴|구독 취소|장바구니|구매|다운로드)",
    re.IGNORECASE,
)
_WHOLE_TEXT = re.compile(
    r"(like|share|report|vote|follow|subscribe|book|order|reserve|reset|activate|rsvp|join)", re.IGNORECASE
)
_LANGUAGE_NAME = re.compile(
    r"(english|deutsch|français|español|italiano|português|nederlands|polski|русский|українська|türkçe|svenska|dansk|norsk"
    r"|suomi|čeština|magyar|română|ελληνικά|العربية|עברית|हिन्दी|ไทย|tiếng việt|bahasa indonesia"
    r"|(简体|繁體|繁体)?中文(版)?|日本語|한국어|en|de|fr|es|zh|ja|ko|ru)",
    re.IGNORECASE,
)


def refusal(link: Link, *, page_url: str) -> str | None:
    """Say why a link must not be opened ahead of time.

    Args:
        link: A visible link, as read from the page.
        page_url: The page it stands on; speculation stays on its site, unless a search found the link.

    Returns:
        A short, stable reason by which refusals are counted, or None if the link may be opened.
    """
    by_text = next(filter(None, (_text_refusal(name.strip()) for name in link.names)), None)
    # The user asked for what the web holds, so a result counts as standing on its own site.
    by_address = _address_refusal(link.url, link.url if link.found else page_url)
    return by_address or _attribute_refusal(link) or by_text


def address_refusal(url: str, *, page_url: str) -> str | None:
    """Say why an address without a link to look at (a redirect, a guess by URL) must not be opened ahead of time."""
    return _address_refusal(url, page_url)


def departure_refusal(url: str, *, asked_url: str) -> str | None:
    """Say why a load of one address must not go on to, or end at, another; what was asked for was let through."""
    return None if page_key(url) == page_key(asked_url) else _address_refusal(url, asked_url)


def visit_refusal(
    url: str, *, here: Observation, pages: Iterable[Observation], must_be_linked: bool, found: bool
) -> str | None:
    """Say why a page must not be opened ahead of time, by all links to it that were seen.

    Args:
        url: The page.
        here: Where it was guessed.
        pages: Pages whose links count; one that speaks against it is enough.
        must_be_linked: Whether one of them must link to it; else the address is judged by itself where none does.
        found: Whether a search found it.
    """
    key = page_key(url)
    reasons = [
        refusal(link, page_url=url if found else page.url)
        for page in pages
        for link in page.links
        if page_key(link.url) == key
    ]
    if not reasons:
        reasons = [_address_refusal(url, url if found else here.url), "not-a-link" if must_be_linked else None]
    return next(filter(None, reasons), None)


def _address_refusal(url: str, page_url: str) -> str | None:
    try:
        parsed = URL(url)
    except ValueError:
        return "not-a-url"
    if parsed.scheme not in ("http", "https") or not parsed.host:
        return "scheme"
    if not same_site(url, page_url):
        return "private-address" if is_private(parsed.host) else "off-site"
    if parsed.user or parsed.password:
        return "credentials"
    return (
        _path_refusal(parsed.path, is_asked=bool(parsed.query))
        or _query_refusal(parsed)
        or _fragment_refusal(parsed.fragment)
    )


def _fragment_refusal(fragment: str) -> str | None:
    if not is_route(fragment) and {"/", "?"}.isdisjoint(fragment):
        # A heading's name, or a route of a router that needs no slash.
        return "effect-path" if is_effect(fragment) else None
    route, _, asked = fragment.lstrip("!").partition("?")
    return _path_refusal(route, is_asked=bool(asked))


def _path_refusal(path: str, *, is_asked: bool) -> str | None:
    segments = [segment for segment in path.split("/") if segment]
    if any(_PRIVILEGED.fullmatch(segment) for segment in segments):
        return "privileged-path"
    if has_effect(path, is_asked=is_asked):
        return "effect-path"
    if segments and _DOWNLOAD.search(segments[-1]):
        return "download"
    return None


def _query_refusal(parsed: URL) -> str | None:
    for key, value in parsed.query.items():
        if _SECRET_KEYS.fullmatch(key):
            return "token"
        if _SWITCH_KEYS.fullmatch(key):
            return "language-switch"
        if _ACTION_KEYS.fullmatch(key) and value.lower() not in _HARMLESS_VALUES:
            return "effect-query"
        if begins_with_effect(key) or begins_with_effect(value):
            return "effect-query"
    return None


def _attribute_refusal(link: Link) -> str | None:
    if link.download:
        return "download"
    if "nofollow" in link.rel.split():
        return "nofollow"
    return "language-switch" if link.language else None


def _text_refusal(text: str) -> str | None:
    if _LANGUAGE_NAME.fullmatch(text):
        return "language-switch"
    return "effect-text" if _TEXT.match(text) or _WHOLE_TEXT.fullmatch(text) else None
