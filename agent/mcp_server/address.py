"""Where the server listens for HTTP.

Invariant: where other machines can reach it, it asks for a token.
"""

from __future__ import annotations

import socket
from dataclasses import dataclass, field
from ipaddress import ip_address

from agent.errors import ConfigurationError


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """Where to listen.

    Attributes:
        host: The interface's address or name.
        port: 0: any that is free.
        token: What clients must send as a bearer token; empty: nothing.

    Raises:
        ConfigurationError: Others than this machine could reach it, and there is no token; or no client can send it.
    """

    host: str = "127.0.0.1"
    port: int = 8931
    token: str = field(default="", repr=False)

    def __post_init__(self) -> None:
        if any(sign.isspace() or not sign.isprintable() for sign in self.token):
            raise ConfigurationError(
                "the token holds white space, or signs that cannot be printed: no client can send it in a header",
                hint="Check SPECCACHE_MCP_TOKEN for a line break at its end.",
            )
        if not self.token and not self.is_local:
            raise ConfigurationError(
                f"{self.host} can be reached from other machines, and nobody is asked who they are",
                hint="Set SPECCACHE_MCP_TOKEN to a secret that clients send as 'Authorization: Bearer …'.",
            )

    @property
    def is_local(self) -> bool:
        """Whether only this machine reaches it."""
        try:
            return self.host == "localhost" or ip_address(self.host).is_loopback
        except ValueError:
            return False

    def bound(self) -> socket.socket:
        """Return a socket that listens there.

        Raises:
            ConfigurationError: It cannot be had.
        """
        try:
            family = socket.AF_INET6 if ":" in self.host else socket.AF_INET
            return socket.create_server((self.host, self.port), family=family)
        except OSError as error:
            raise ConfigurationError(
                f"cannot listen on {self.host}:{self.port}: {error.strerror or error}",
                hint="Choose another --port, or end what listens there.",
            ) from error
