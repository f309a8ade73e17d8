"""Addresses: which page a URL names, which site it belongs to, and whether it may be opened at all.

Invariant: `page_key` is idempotent and never gives two different pages one key. It takes only the steps that the URL
standard and well-known practice hold safe: it never sorts queries, lower-cases paths or drops slashes.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Collection
from functools import lru_cache

import tldextract
from yarl import URL

from browser.errors import AddressRefused

# Parameters that only tell the site's analytics where a visitor came from; common words such as `ref` stay in the key.
_TRACKING = re.compile(
    r"(utm_\w+|gclid|gbraid|wbraid|dclid|fbclid|msclkid|yclid|twclid|ttclid|igshid|mc_[ce]id|_g[al]|_hsenc|_hsmi"
    r"|vero_(id|conv)|mkt_tok)(=.*)?",
    re.IGNORECASE,
)
_ESCAPE = re.compile(r"%([0-9A-Fa-f]{2})")
_PROTECTED = re.compile(r"%25([0-9A-F]{2})")
_UNRESERVED = re.compile(r"[A-Za-z0-9\-._~]")
_NO_HOST = re.compile(r"[\s<>\"{}|\\^`]")
_LOOPBACK_NAMES = ("localhost", "ip6-localhost")

# The bundled snapshot of the public suffix list: no download, no cache folder.
_suffixes = tldextract.TLDExtract(suffix_list_urls=(), cache_dir=None, include_psl_private_domains=True)


def is_route(fragment: str) -> bool:
    """Tell whether a fragment (without `#`) names a page of a client-side router, not a place on the page."""
    return fragment.startswith(("/", "!"))


@lru_cache(maxsize=65_536)
def page_key(url: str) -> str:
    """Name the page behind a URL: equal keys mean the same page.

    Normalises scheme, host, port and percent-encoding; drops tracking parameters and a fragment that is a place on the
    page, keeps a hash route. A URL that cannot be parsed is its own key.
    """
    try:
        parsed = URL(_ESCAPE.sub(_protected, url))
    except ValueError:
        return url
    if parsed.scheme not in ("http", "https") or not parsed.host:
        return url
    fragment = parsed.raw_fragment if is_route(parsed.fragment) else ""
    key = f"{parsed.scheme}://{_authority(parsed)}{parsed.raw_path or '/'}{_query(url, parsed)}"
    return _PROTECTED.sub(r"%\1", key + (f"#{fragment}" if fragment else ""))


def _protected(escape: re.Match[str]) -> str:
    """Keep yarl from taking an escape off a reserved character: `%3B` is another address than `;` (RFC 3986, 2.2)."""
    code = escape[1].upper()
    return f"%{code}" if _UNRESERVED.fullmatch(chr(int(code, 16))) else f"%25{code}"


def _authority(parsed: URL) -> str:
    user = f"{parsed.raw_authority.rpartition('@')[0]}@" if "@" in parsed.raw_authority else ""
    host = parsed.raw_host or ""
    port = "" if parsed.is_default_port() or parsed.explicit_port is None else f":{parsed.explicit_port}"
    return f"{user}[{host}]{port}" if ":" in host else f"{user}{host}{port}"


def _query(url: str, parsed: URL) -> str:
    parts = parsed.raw_query_string.split("&")
    kept = [part for part in parts if not _TRACKING.fullmatch(part)]
    # "/page?" is another address than "/page", unless all that stood behind the mark was tracking.
    asked = "?" in url.partition("#")[0] and kept == parts
    return f"?{'&'.join(kept)}" if asked or any(kept) else ""


def same_site(url: str, other: str) -> bool:
    """Tell whether two URLs belong to one site: the same registrable domain or, for a bare host, that host and port."""
    return _site(url) == _site(other) != ""


@lru_cache(maxsize=65_536)
def _site(url: str) -> str:
    try:
        parsed = URL(url)
    except ValueError:
        return ""
    host = parsed.host or ""
    domain = "" if _address(host) else _suffixes(host).top_domain_under_public_suffix
    return domain or (f"{host}:{parsed.port}" if host else "")


def check_address(url: str, *, named_hosts: Collection[str] = ()) -> None:
    """Let an address pass that may be opened.

    Args:
        url: An absolute URL, as the browser would write it.
        named_hosts: Hosts the user named; these may be private.

    Raises:
        AddressRefused: Its scheme is not http(s), or its host is private and was not named.
    """
    try:
        parsed = URL(url)
        host = parsed.host or ""
    except ValueError as error:
        raise AddressRefused(f"{url} is not a URL: {error}", url=url) from error
    if parsed.scheme not in ("http", "https"):
        what = f"{parsed.scheme}:" if parsed.scheme else "a relative address"
        raise AddressRefused(
            f"{url} was not opened: only http and https pages are read, not {what}",
            url=url,
            hint="Give an address that starts with https:// or http://.",
        )
    if not host or _NO_HOST.search(host):
        raise AddressRefused(f"{url} names no host", url=url, hint="Give an address such as https://example.org/.")
    if host not in named_hosts and is_private(host):
        raise AddressRefused(
            f"{url} was not opened: {host} is a private address that you did not name",
            url=url,
            hint=f"To allow it, name it: --allow-host {host}",
        )


def is_private(host: str) -> bool:
    """Tell whether a host is, by its literal form, no public internet host."""
    name = host.rstrip(".").lower()
    if name in _LOOPBACK_NAMES or name.endswith((".localhost", ".internal", ".local")):
        return True
    address = _address(host)
    return address is not None and not address.is_global


def _address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return None
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped:
        return address.ipv4_mapped
    return address
