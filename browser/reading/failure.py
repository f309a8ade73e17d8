"""What a failed load means, in a sentence for a person and a model.

Invariant: the sentence says what happened to which address; none holds a call log or a stack.
"""

from __future__ import annotations

import re
from urllib.parse import urlsplit

_DEAD = re.compile(r"has been closed|crashed|frame was detached|[Cc]onnection closed|Browser closed")
_ADDRESS = re.compile(r'"[^"]*"|\bhttps?://\S+')
_CODE = re.compile(r"net::(ERR_\w+)")

# From the most particular to the least; the first whose beginning fits is taken.
_SENTENCES = {
    "ERR_NAME_": "The host {host} is unknown: its name could not be resolved",
    "ERR_CONNECTION_REFUSED": "{host} refused the connection: nothing answers there",
    "ERR_CONNECTION_TIMED_OUT": "{host} did not answer in time",
    "ERR_TIMED_OUT": "{host} did not answer in time",
    "ERR_ADDRESS_": "{host} cannot be reached from this network",
    "ERR_INTERNET_DISCONNECTED": "There is no network connection, so {host} cannot be reached",
    "ERR_PROXY_": "The proxy refused the connection to {host}",
    "ERR_TUNNEL_": "The proxy refused the connection to {host}",
    "ERR_CERT_": "The TLS certificate of {host} is not valid, so its pages are not read",
    "ERR_SSL_": "No secure (TLS) connection to {host} could be made",
    "ERR_TOO_MANY_REDIRECTS": "{url} redirects in a circle",
    "ERR_EMPTY_RESPONSE": "{host} closed the connection without an answer",
    "ERR_HTTP_RESPONSE_CODE_FAILURE": "{host} answered with an error and no page",
    "ERR_INVALID_": "{host} sent an answer that is not valid HTTP",
    "ERR_UNSAFE_PORT": "{url} uses a port that browsers do not open",
    "ERR_BLOCKED_BY_": "{url} was blocked",
    "ERR_ABORTED": "{host} answered without a page (such as 204 No Content), so there is nothing to read",
    "ERR_": "The connection to {host} failed",
}


def is_dead(message: str) -> bool:
    """Whether a browser's error message means that the page, its context or its browser is gone."""
    return _DEAD.search(_without_addresses(message)) is not None


def describe(message: str, *, url: str, timeout_seconds: float) -> str:
    """Say why a load failed, from the browser's error message."""
    host = urlsplit(url).netloc.rpartition("@")[2] or url
    plain = _without_addresses(message)
    code = _CODE.search(plain)
    if code is not None:
        sentence = next(text for start, text in _SENTENCES.items() if code[1].startswith(start))
        return f"{sentence.format(host=host, url=url)} ({code[1]})."
    if "invalid URL" in plain:
        return f"{url!r} is not a valid address."
    if "Timeout" in plain:
        return f"{host} did not answer within {timeout_seconds:g} seconds."
    return f"{url} could not be loaded: {plain}"


def _without_addresses(message: str) -> str:
    """The first line, behind which a call log may follow, less the addresses, which may hold any word."""
    return _ADDRESS.sub("…", message.partition("\n")[0]).strip()
