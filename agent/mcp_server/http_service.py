"""The protocol over streamable HTTP, for several clients.

Invariant: who is not on this machine needs the token, and so does everybody once there is one; a web page that a
browser shows on this machine gets no answer.
"""

from __future__ import annotations

import asyncio
import hmac
import socket
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from typing import TYPE_CHECKING, Any

import uvicorn
from mcp.server import Server
from mcp.server.streamable_http import MCP_SESSION_ID_HEADER
from mcp.server.transport_security import TransportSecuritySettings
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from agent.console import tell
from agent.mcp_server.address import Address
from agent.mcp_server.sessions import Sessions

if TYPE_CHECKING:
    from agent.telemetry.prometheus import Metrics

PATH = "/mcp"
METRICS_PATH = "/metrics"
_LOCAL = ("127.0.0.1", "localhost", "[::1]")
_GRACE_SECONDS = 1


async def serve_http(
    server: Server[Any], sessions: Sessions, address: Address, *, metrics: Metrics | None = None
) -> None:
    """Serve clients until a signal comes; prints the address on standard error.

    Args:
        server: Speaks the protocol.
        sessions: What clients have open.
        address: Where to listen.
        metrics: Figures for Prometheus, served at `/metrics` to whoever may use the server; None: none are.

    Raises:
        ConfigurationError: The address cannot be listened on.
    """
    with address.bound() as listener:
        host, port = listener.getsockname()[:2]
        shown = f"[{host}]" if ":" in host else host
        application = server.streamable_http_app(
            streamable_http_path=PATH, transport_security=_security(address, shown)
        )
        if metrics is not None:
            application.router.routes.append(_metrics_route(metrics, hosts=_security(address, shown)))
        configuration = uvicorn.Config(
            _Entrance(application, sessions, token=address.token),
            log_config=None,  # the log is the command's
            log_level="warning",
            timeout_graceful_shutdown=_GRACE_SECONDS,
        )
        tell(f"serving MCP at http://{shown}:{port}{PATH}")
        await _until_cancelled(_Server(configuration), listener, sessions)


def _metrics_route(metrics: Metrics, *, hosts: TransportSecuritySettings) -> Route:
    from agent.telemetry.prometheus import CONTENT_TYPE  # noqa: PLC0415 - needs the extra `metrics`

    names = {name.rpartition(":")[0] for name in hosts.allowed_hosts}

    async def answer(request: Request) -> Response:
        # As for the protocol: a web page may have its name point here, and would read the answer.
        asked = request.headers.get("host", "").lower()
        if hosts.enable_dns_rebinding_protection and not {asked, asked.rpartition(":")[0]} & names:
            return PlainTextResponse("This name is not served here.", 421)
        return Response(metrics.text(), media_type=CONTENT_TYPE)

    return Route(METRICS_PATH, answer, methods=["GET"])


class _Server(uvicorn.Server):
    """Leaves signals to the command, which cancels what it runs."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


async def _until_cancelled(server: _Server, listener: socket.socket, sessions: Sessions) -> None:
    serving = asyncio.create_task(server.serve(sockets=[listener]), name="serve HTTP")
    try:
        await asyncio.shield(serving)
    finally:
        sessions.give_up_calls()  # so that they are answered, and not cut off
        server.should_exit = True
        await asyncio.wait([serving])  # no longer than the grace that open requests have


def _security(address: Address, shown: str) -> TransportSecuritySettings:
    """Say which `Host` and `Origin` are answered: against web pages that have their name point here.

    With other machines the names that lead here are not known; the token, which no web page has, stands in.
    """
    names = dict.fromkeys((*_LOCAL, shown, address.host))
    return TransportSecuritySettings(
        enable_dns_rebinding_protection=address.is_local,
        allowed_hosts=[f"{name}:*" for name in names],
        allowed_origins=[f"http://{name}:*" for name in names],
    )


def _spellings(token: str) -> Iterator[bytes]:
    """Give the bytes that clients send of a token: HTTP names no encoding for it."""
    yield token.encode()
    with suppress(UnicodeEncodeError):
        yield token.encode("latin-1")  # as those written in JavaScript do


class _Entrance:
    """Asks for the token, sees who listens, and frees a session's place as soon as its client ends it."""

    def __init__(self, application: ASGIApp, sessions: Sessions, *, token: str) -> None:
        self._application = application
        self._sessions = sessions
        self._tokens = tuple(_spellings(token)) if token else ()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._application(scope, receive, send)
            return
        headers = Headers(scope=scope)
        if self._tokens and not self._is_admitted(headers):
            refusal = PlainTextResponse("A bearer token is needed.", 401, headers={"WWW-Authenticate": "Bearer"})
            await refusal(scope, receive, send)
            return
        name = headers.get(MCP_SESSION_ID_HEADER, "") if scope["path"] == PATH else ""
        with self._sessions.listening(name) if name and scope["method"] == "GET" else nullcontext():
            await self._application(scope, receive, send)
        if name and scope["method"] == "DELETE":
            self._sessions.end(name)  # not waited for here: a server that ends gives its requests a second

    def _is_admitted(self, headers: Headers) -> bool:
        scheme, _, given = headers.get("authorization", "").partition(" ")
        sent = given.strip(" \t").encode("latin-1")  # the very bytes: that is how they were decoded
        return scheme.lower() == "bearer" and any(hmac.compare_digest(sent, token) for token in self._tokens)
