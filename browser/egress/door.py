"""Who may use an egress proxy that machines other than this one can reach: the machines of remote browsers.

It asks for no password, since Chromium would have every request paused to give one; so it asks where one comes from.

Invariant: nobody is let in but this machine and those that the endpoints' names stand for, or stood for when the name
service last answered.
"""

from __future__ import annotations

import asyncio
import socket
import time
from collections.abc import Callable, Collection
from contextlib import suppress
from ipaddress import IPv6Address, ip_address

from browser.egress.rule import Resolver, SystemResolver
from browser.errors import LaunchFailed

_ASK_AGAIN_SECONDS = 5.0
_LOOK_UP_SECONDS = 5.0
_DISCARD_PORT = 9


class Door:
    """Knows the machines that may come in.

    Args:
        hosts: Their names or IP addresses; names are looked up again where somebody else comes: machines move.
        resolve: The name service.
        clock: Where the time comes from, in seconds.
    """

    def __init__(
        self,
        hosts: Collection[str],
        *,
        resolve: Resolver | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._hosts = frozenset(hosts)
        self._resolve = resolve or SystemResolver()
        self._clock = clock
        self._known: dict[str, frozenset[str]] = {}
        self._asking = asyncio.Lock()
        self._asked_seconds: float | None = None

    async def admits(self, address: str) -> bool:
        """Tell whether a connection from this IP address may be used."""
        plain = _plain(address)
        if self._knows(plain):
            return True
        async with self._asking:
            if self._asked_seconds is None or self._clock() - self._asked_seconds >= _ASK_AGAIN_SECONDS:
                self._known |= await _addresses(self._hosts, self._resolve)
                self._asked_seconds = self._clock()
        return self._knows(plain)

    def _knows(self, plain: str) -> bool:
        return any(plain in addresses for addresses in self._known.values())


async def own_address(host: str) -> str:
    """Return the IP address that a name of this machine stands for.

    Raises:
        LaunchFailed: It stands for none.
    """
    addresses = (await _addresses([host], SystemResolver())).get(host, ())
    found = sorted(addresses, key=lambda address: ip_address(address).version)
    if not found:
        raise LaunchFailed(
            f"the proxy for remote browsers cannot listen at {host}: nothing is known by that name",
            hint="Give --egress-host an address of this machine.",
        )
    return found[0]


def address_towards(host: str) -> str | None:
    """Return the address of this machine that a packet to a host would come from; None where there is no way to it.

    Nothing is sent. The call may ask the name service.
    """
    with suppress(OSError):
        for family, kind, protocol, _, place in socket.getaddrinfo(host, _DISCARD_PORT, type=socket.SOCK_DGRAM):
            with suppress(OSError), socket.socket(family, kind, protocol) as probe:
                probe.connect(place)
                return str(probe.getsockname()[0])
    return None


async def _addresses(hosts: Collection[str], resolve: Resolver) -> dict[str, frozenset[str]]:
    """Look hosts up; those of which nothing was learnt are left out."""
    # Side by side, each within a limit: a name that the name service is slow about keeps no other machine out.
    async with asyncio.TaskGroup() as group:
        asking = {host: group.create_task(_addresses_of(host, resolve), name=f"look up {host}") for host in hosts}
    return {host: found for host, task in asking.items() if (found := task.result())}


async def _addresses_of(host: str, resolve: Resolver) -> frozenset[str]:
    with suppress(OSError, UnicodeError):  # the latter: no name can be written so
        async with asyncio.timeout(_LOOK_UP_SECONDS):
            return frozenset(map(_plain, await resolve(host.encode("idna").decode("ascii"))))
    return frozenset()


def _plain(address: str) -> str:
    """Write an address in the one way; an IPv4 address that came through an IPv6 socket as what it is."""
    parsed = ip_address(address.partition("%")[0])
    mapped = parsed.ipv4_mapped if isinstance(parsed, IPv6Address) else None
    return str(mapped or parsed)
