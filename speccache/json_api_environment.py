"""An HTTP API that speaks JSON, its GETs run ahead of time.

Invariant: no request but a GET is ever sent ahead, none at all goes to another origin, and after a call with effects by
this environment no reply from before it is used.
"""

from __future__ import annotations

import asyncio
import json
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from http.client import HTTPException
from typing import Any, Literal, get_args
from urllib.parse import quote, urldefrag, urljoin, urlsplit

from speccache.http_exchange import HttpResponse, exchange
from speccache.read_environment import ReadEnvironment

Method = Literal["GET", "POST", "PUT", "PATCH", "DELETE"]

# What may stand in an address besides letters and digits (RFC 3986); a percent sign is taken as the start of an escape.
_ADDRESS_CHARACTERS = "%:/?[]@!$&'()*+,;=-._~"


@dataclass(frozen=True, slots=True)
class Call:
    """A call of the API.

    Attributes:
        path: Its address, relative to the API's own, or absolute; a fragment is left out.
        method: Its method.
        body: A JSON text to send along; None sends no body.
    """

    path: str
    method: Method = "GET"
    body: str | None = None

    def __str__(self) -> str:
        return f"{self.method} {self.path}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What the API answered.

    Attributes:
        url: The address asked, absolute.
        status: The HTTP status; None where no answer came.
        text: The body; JSON where the status is 2xx.
        location: Where a redirect points; it is not followed.
        problem: Why there is no answer that can be read, in a sentence; None if there is.
        refusal: Why this must not be kept; None if it may be.
        max_age_seconds: How long this may be used again by its `Cache-Control`; None where that does not say.
    """

    url: str
    status: int | None = None
    text: str = ""
    location: str = ""
    problem: str | None = None
    refusal: str | None = None
    max_age_seconds: float | None = None

    def json(self) -> Any:
        """Parse the text, anew each time: the reply may be shared, and what is parsed can be changed."""
        return json.loads(self.text)


def json_api_environment(
    base_url: str,
    *,
    headers: Mapping[str, str] | None = None,
    timeout_seconds: float = 10.0,
    max_bytes: int = 1024 * 1024,
) -> ReadEnvironment[Call, Reply]:
    """Make an environment of an API.

    A reply's `max_age_seconds` says how long it may be used: have `SpeculativeEnvironment` heed it.

    Args:
        base_url: The API's address, http or https; calls are relative to it and stay on its origin.
        headers: Header fields of every request, such as `Authorization`.
        timeout_seconds: How long a call may take.
        max_bytes: What a response may occupy, its header fields included.

    Cancellation: closes the connection at once.

    Raises:
        ValueError: The address is not http or https, or a header field has a line break.
    """
    api = _Api(base_url, headers=headers or {}, timeout_seconds=timeout_seconds, max_bytes=max_bytes)
    return ReadEnvironment(api.send, key=api.key, write=api.write, refuse=lambda reply: reply.refusal)


class _Api:
    def __init__(self, base_url: str, *, headers: Mapping[str, str], timeout_seconds: float, max_bytes: int) -> None:
        base = urlsplit(base_url)
        if base.scheme not in {"http", "https"} or not base.hostname or "@" in base.netloc:
            raise ValueError(f"{base.hostname!r} needs an http or https address without user name")
        if any(mark in text for field in headers.items() for text in field for mark in "\r\n"):
            raise ValueError("a header field has a line break")
        self._base = base
        self._headers = {"Accept": "application/json", **headers}
        self._timeout_seconds = timeout_seconds
        self._max_bytes = max_bytes
        self._ssl_context = ssl.create_default_context() if base.scheme == "https" else None
        self._version = 0

    def key(self, call: Call) -> str | None:
        url = self._address(call.path)
        if call.method != "GET" or call.body is not None or url is None:
            return None
        return f"GET {url} at {self._version}"

    def _address(self, path: str) -> str | None:
        """Return the absolute address, in ASCII; None where it lies on another origin."""
        try:
            parts = urlsplit(urldefrag(urljoin(self._base.geturl(), path)).url)
        except ValueError:
            return None
        if (parts.scheme, parts.netloc) != (self._base.scheme, self._base.netloc):
            return None
        return parts._replace(
            path=quote(parts.path, safe=_ADDRESS_CHARACTERS), query=quote(parts.query, safe=_ADDRESS_CHARACTERS)
        ).geturl()

    async def write(self, call: Call) -> Reply:
        # Twice: what is read while this call runs belongs neither to the state before it nor to that after it.
        self._version += 1
        try:
            return await self.send(call)
        finally:
            self._version += 1

    async def send(self, call: Call) -> Reply:
        url = self._address(call.path)
        if url is None or call.method not in get_args(Method):
            return _failed(call.path, f"{call} is no call of this API")
        headers = self._headers if call.body is None else {**self._headers, "Content-Type": "application/json"}
        body = None if call.method == "GET" and call.body is None else (call.body or "").encode()
        try:
            async with asyncio.timeout(self._timeout_seconds):
                response = await exchange(
                    call.method,
                    url,
                    headers=headers,
                    body=body,
                    max_bytes=self._max_bytes,
                    ssl_context=self._ssl_context,
                )
            return _reply(url, response)
        except TimeoutError:
            return _failed(url, f"no answer within {self._timeout_seconds:g} s")
        except (OSError, HTTPException) as error:
            return _failed(url, str(error) or type(error).__name__)


def _failed(url: str, problem: str) -> Reply:
    return Reply(url=url, problem=problem, refusal="failed")


def _reply(url: str, response: HttpResponse) -> Reply:
    text = response.body.decode(errors="replace")
    succeeded = 200 <= response.status < 300
    problem = None if not succeeded or not text or _is_json(text) else "the answer is not JSON"
    max_age_seconds = _max_age_seconds(response.headers.get("cache-control", ""))
    refusal: str | None
    if not succeeded:
        refusal = f"status-{response.status}"
    elif problem is not None:
        refusal = "not-json"
    elif "set-cookie" in response.headers:
        refusal = "sets-cookie"
    else:
        refusal = "no-store" if max_age_seconds == 0 else None
    return Reply(
        url=url,
        status=response.status,
        text=text,
        location=response.headers.get("location", ""),
        problem=problem,
        refusal=refusal,
        max_age_seconds=max_age_seconds if refusal is None else 0.0,
    )


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _max_age_seconds(cache_control: str) -> float | None:
    """Read the age limit from a `Cache-Control` field; None where there is none."""
    directives = dict(part.strip().lower().partition("=")[::2] for part in cache_control.split(","))
    if "no-store" in directives or "no-cache" in directives:
        return 0.0
    age = directives.get("max-age", "").strip('"')
    return float(age) if age.isascii() and age.isdigit() else None
