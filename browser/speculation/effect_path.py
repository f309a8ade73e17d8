"""Tells addresses that act (`/cart/add`, `/logout`, `/posts/7/delete-post`) from pages that are only named so.

Invariant: what could be either acts. A segment that is nothing but a verb, or a verb and what needs no further address
(`delete-account`), acts wherever it stands. One that begins or ends with a verb is a title only at the end of an
address that names nothing to act on, and only where articles stand or where its words are no action's.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

_END_SESSION = r"log-?_?(out|off)|sign-?_?(out|off)|end-?session|deconnexion|abmelden|cerrar-?sesion"
_LEAVE = r"unsubscribe|opt-?out|deactivate|close-?account|abbestellen|kuendigen"
_DESTROY = r"delete|remove|destroy|erase|trash|purge|loeschen|supprimer|eliminar|borrar"
_SHOP = r"add-?to-?(cart|bag|basket)|checkout|buy|purchase|pay|donate|order-?now"
_COMMIT = (
    r"cancel|confirm|verify|activate|accept|approve|reject|reset|revoke|invite|(up|down|un)?vote|(un)?like|(un)?follow|rsvp"
    r"|subscribe"
)
_SWITCH = r"(set|switch|change)-?_?(lang(uage)?|locale|currency|region)"
_SIGN_ON = r"oauth2?|authorize|callback|saml2?|sso|log-?in|sign-?(in|up)|register"
_OF_THE_SESSION = rf"({_END_SESSION}|{_LEAVE})"
_VERB = rf"({_OF_THE_SESSION}|{_DESTROY}|{_SHOP}|{_COMMIT}|{_SWITCH}|{_SIGN_ON})"
_CART = r"(cart|basket|warenkorb|panier|carrito)"
# A shop's cart, where others (go-cart, ox_cart) are things to read about.
_SHOP_CART = (
    r"((shopping|my|your|the|to|from|view|show|empty|clear|update|mini|user|mon|votre|mein|mi|ver)[-_]?)+" + _CART
)

_ACTS = re.compile(
    rf"({_VERB}|add|({_SHOP_CART})|{_CART})(\d.*|[-_]\d+|[.;:].*)?|{_VERB}[-_](my[-_])?(account|all|me|now)([.;:].*)?"
    rf"|{_OF_THE_SESSION}[-_].*",
    re.IGNORECASE,
)
_BEGINS = re.compile(rf"({_VERB}|{_CART})([-_.;:\d]|$)", re.IGNORECASE)
# Manuals have plain files named sql-delete.html.
_ENDS = re.compile(rf"[-_]({_VERB}|{_SHOP_CART})(\.(?!html?$)\w+)?$", re.IGNORECASE)
_ENDS_SESSION = re.compile(rf"[-_]{_OF_THE_SESSION}(\.\w+)?$", re.IGNORECASE)
_JOINT = re.compile(r"(?<=[a-z])(?=[A-Z])")

_GAP = re.compile(r"[-_.+\s]+")

_ARTICLES = re.compile(
    r"(blog|news|article|story|stories|post|wiki|lesson|course|glossary|faq|help|learn|magazine|encyclopa?edia)s?",
    re.IGNORECASE,
)
# Manuals have chapters below them, which name nothing to act on either.
_MANUALS = re.compile(r"(doc|documentation|manual|guide|handbook|tutorial|reference)s?", re.IGNORECASE)
_MONTH = re.compile(r"(^|/)(19|20)\d\d/[01]?\d(/[0-3]?\d)?$")
_NAMES_AN_OBJECT = re.compile(r"[\d;]")
_OBJECT = re.compile(r"\d+|[0-9a-f]{8}[0-9a-f-]*", re.IGNORECASE)
_ASKING = frozenset(("is", "are", "how", "why", "what", "when", "where", "which", "who", "vs"))
_OWN = frozenset(("my", "your"))
_TITLE_LENGTH = 6
"""So many words are no action's name, unless they speak of what is the visitor's own."""


def has_effect(path: str, *, is_asked: bool) -> bool:
    """Say whether the path of an address, or of a client-side route, names something that is done.

    Args:
        path: Decoded, without query.
        is_asked: Whether a query follows: it may name what to act on.
    """
    *folders, name = [segment for segment in path.split("/") if segment] or [""]
    if any(map(is_effect, (*folders, name))) or any(map(_is_named_so, folders)):
        return True
    return _is_named_so(name) and (is_asked or not _is_title(name, folders))


def is_effect(name: str) -> bool:
    """Say whether a name alone, wherever it stands, is that of something that is done."""
    return _ACTS.fullmatch(_JOINT.sub("-", name)) is not None


def begins_with_effect(text: str) -> bool:
    """Say whether a key or value of a query is, or begins with, the name of something that is done."""
    return is_effect(text) or _BEGINS.match(text) is not None


def _is_named_so(segment: str) -> bool:
    words = _JOINT.sub("-", segment)
    return _BEGINS.match(words) is not None or _ENDS.search(words) is not None


def _is_title(name: str, folders: Sequence[str]) -> bool:
    words = [word for word in _GAP.split(_JOINT.sub("-", name).lower()) if word]
    if (len(words) >= _TITLE_LENGTH and _OWN.isdisjoint(words)) or not _ASKING.isdisjoint(words):
        return True
    if _ENDS_SESSION.search(name) or _NAMES_AN_OBJECT.search(name):
        return False
    if _MONTH.search("/".join(folders)):
        return True
    if not folders or _OBJECT.fullmatch(folders[-1]):
        return False
    return any(map(_MANUALS.fullmatch, folders)) or _ARTICLES.fullmatch(folders[-1]) is not None
