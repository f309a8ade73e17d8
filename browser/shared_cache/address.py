"""Where a shared cache is, as a user names it.

Invariant: its text never shows the name and password that are part of it.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from yarl import URL

from browser.address_mask import masked

_SCHEMES = ("redis", "rediss")
_PORT = 6379
_TLS_OPTIONS = {"ssl_ca_certs", "ssl_certfile", "ssl_cert_reqs", "ssl_check_hostname", "ssl_keyfile"}


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheAddress:
    """The address of a server.

    Attributes:
        url: All of it, credentials included.
        label: What may be shown of it.
    """

    url: str = field(repr=False)
    label: str

    def __str__(self) -> str:
        return self.label

    def masked(self, text: str) -> str:
        """Return a text without the name and password, should it quote them."""
        # The options behind the question mark name files, which help to see what is wrong.
        return masked(text, self.url.partition("?")[0])


def parse_cache_address(url: str) -> CacheAddress:
    """Read `redis://[[name]:password@]host[:port][/number]`, or the same with `rediss` for TLS.

    What TLS is to be like may follow as `?ssl_ca_certs=FILE` and the like, by redis-py's names.

    Raises:
        ValueError: It is none; the message does not quote it.
    """
    try:
        parsed = URL(url)
        host, port = parsed.host, parsed.explicit_port or _PORT
    except ValueError:
        raise ValueError("it is no address like redis://host:6379/0") from None
    number = parsed.path.strip("/") or "0"
    if not set(parsed.query) <= (_TLS_OPTIONS if parsed.scheme == "rediss" else set()):
        options = ", ".join(sorted(_TLS_OPTIONS))
        raise ValueError(f"after the question mark it may have {options} only, and these with rediss:// only")
    if parsed.scheme not in _SCHEMES or not host or not (number.isascii() and number.isdigit()):
        raise ValueError("it is no address like redis://host:6379/0, or rediss://… for TLS")
    shown = f"[{host}]" if ":" in host else host
    return CacheAddress(url=url, label=f"{parsed.scheme}://{shown}:{port}/{number}")
