"""Where a browser may connect to: the one rule, applied to addresses, not to names.

Invariant: an answer of the name service is judged and dialled, never asked for a second time in between; so a name that
changes its mind (DNS rebinding) gains nothing. Private is whatever is no public unicast address of the internet, also
where an IPv4 address stands inside an IPv6 one.
"""

from __future__ import annotations

import asyncio
import socket
import time
from collections import Counter
from collections.abc import Callable, Collection, Coroutine, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from typing import Any

from yarl import URL

from browser.address import is_private
from browser.errors import AddressRefused
from speccache.flight import Flights
from speccache.store import Store

Resolver = Callable[[str], Coroutine[Any, Any, Sequence[str]]]
"""Gives the IP addresses of a name; raises `OSError` where it has none."""

_RESOLVER_THREADS = 16
_KEPT_SECONDS = 60.0  # as Chromium keeps an answer whose lifetime it does not know
_MAX_NAMES = 1024

_HOLDS_IPV4 = (IPv6Network("64:ff9b::/96"), IPv6Network("::/96"))  # NAT64 (RFC 6052), IPv4-compatible (RFC 4291)
# Global as far as `ipaddress` knows: special purposes that Python before 3.12.4 does not (RFC 6890; Oracle's metadata
# service), Azure's host agent, site-local addresses (RFC 3879).
_LOCAL = (IPv4Network("192.0.0.0/24"), IPv4Network("168.63.129.16"), IPv6Network("fec0::/10"))


class SystemResolver:
    """Asks the operating system, in threads of its own: slow names must not hold up those that render pages."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(_RESOLVER_THREADS, thread_name_prefix="resolve")

    async def __call__(self, host: str) -> Sequence[str]:
        """Give the addresses of a name.

        Raises:
            OSError: It has none.
        """
        # As bytes: Python would refuse to encode some names that exist, and some that do not with another error.
        ask = partial(socket.getaddrinfo, host.encode("ascii"), None, type=socket.SOCK_STREAM)
        answers = await asyncio.get_running_loop().run_in_executor(self._threads, ask)
        return list(dict.fromkeys(str(answer[4][0]) for answer in answers))


class EgressRule:
    """Decides which addresses a URL's host may be dialled at.

    In this order: a denied domain is refused; a host that was named with `allow()` passes, be it private; with a list
    of allowed domains any other is refused; and so is any whose answers are not all public.

    A named host that has been seen in public stays there: its owner could else point it at this machine. Names hold for
    all sessions of a pool, for as long as one of them holds them.

    Args:
        allowed_domains: These and the domains below them; empty: all.
        denied_domains: Likewise.
        resolve: The name service.
        clock: Where the time comes from, in seconds.
    """

    def __init__(
        self,
        *,
        allowed_domains: Iterable[str] = (),
        denied_domains: Iterable[str] = (),
        resolve: Resolver | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._allowed_domains = frozenset(map(_plain, allowed_domains))
        self._denied_domains = frozenset(map(_plain, denied_domains))
        self._resolve = resolve or SystemResolver()
        self._named: Counter[str] = Counter()
        self._seen_in_public: set[str] = set()
        self._answers: Store[Sequence[str]] = Store(max_entries=_MAX_NAMES, max_age_seconds=_KEPT_SECONDS, clock=clock)
        self._asking: Flights[Sequence[str]] = Flights(clock=clock)

    def allow(self, hosts: Iterable[str]) -> None:
        """Let these hosts, at any port, be private; each call is to be matched by one of `withdraw()`."""
        self._named.update(map(_plain, hosts))

    def withdraw(self, hosts: Iterable[str]) -> None:
        """Take back one `allow()` of these hosts."""
        self._named.subtract(map(_plain, hosts))
        self._named = +self._named
        self._seen_in_public.intersection_update(self._named)

    async def addresses(self, url: URL) -> Sequence[str]:
        """Resolve a URL's host and give the addresses it may be dialled at.

        Raises:
            AddressRefused: There are none.
            OSError: The name is unknown.
        """
        host = _plain(url.raw_host or "")
        self._check_lists(host, url)
        answers = await self._ask(host)
        public = [answer for answer in answers if is_public(answer)]
        named = host in self._named
        if public and (named or len(public) == len(answers)):
            if named:
                self._seen_in_public.add(host)
            return public
        if named and host not in self._seen_in_public:
            return answers
        raise _private(host, url, "is" if host in answers else "leads to")

    def check(self, url: URL) -> None:
        """Judge a URL whose name is looked up elsewhere, at a proxy: what it leads to there is not known here.

        Raises:
            AddressRefused: Its domain is on a list, or its host is private by its name or as a literal address.
        """
        host = _plain(url.raw_host or "")
        self._check_lists(host, url)
        if host not in self._named and (is_private(host) or (_ip(host) is not None and not is_public(host))):
            raise _private(host, url, "is")

    async def lets(self, url: URL, *, is_forwarded: bool) -> bool:
        """Tell whether a URL's host may be dialled, or asked for at a proxy where it is forwarded to one."""
        try:
            if is_forwarded:
                self.check(url)
            else:
                await self.addresses(url)
        except (AddressRefused, OSError):
            return False
        return True

    def forget(self, url: URL) -> None:
        """Ask anew for a host that could not be reached."""
        self._answers.discard(_plain(url.raw_host or ""))

    def _check_lists(self, host: str, url: URL) -> None:
        if _is_within(host, self._denied_domains):
            raise AddressRefused(f"{url} was not opened: {host} is among the domains you denied", url=str(url))
        if self._allowed_domains and host not in self._named and not _is_within(host, self._allowed_domains):
            raise AddressRefused(f"{url} was not opened: {host} is not among the domains you allowed", url=str(url))

    async def _ask(self, host: str) -> Sequence[str]:
        if _ip(host) is not None:
            return (host,)
        known = self._answers.get(host)
        if known is not None:
            return known.value
        answers = await self._asking.run(host, lambda: self._resolve(host))
        self._answers.put(host, answers)
        return answers

    def __repr__(self) -> str:
        return f"<EgressRule named={sorted(self._named)} names={len(self._answers)}>"


def is_public(address: str) -> bool:
    """Tell whether an IP address is a public unicast address, and so is an IPv4 address inside it."""
    ip = _ip(address)
    if isinstance(ip, IPv6Address):
        ip = _ipv4_within(ip) or ip
    if ip is None or not ip.is_global or ip.is_multicast or ip.is_reserved:
        return False
    return not any(ip in network for network in _LOCAL)


def _private(host: str, url: URL, what: str) -> AddressRefused:
    return AddressRefused(
        f"{url} was not opened: {host} {what} a private address that you did not name",
        url=str(url),
        hint=f"To allow it, name it: --allow-host {host}",
    )


def _ipv4_within(ip: IPv6Address) -> IPv4Address | None:
    if any(ip in network for network in _HOLDS_IPV4):
        return IPv4Address(int(ip) & 0xFFFF_FFFF)
    return ip.ipv4_mapped or ip.sixtofour


def _ip(host: str) -> IPv4Address | IPv6Address | None:
    try:
        return ip_address(host)
    except ValueError:
        return None


def _is_within(host: str, domains: Collection[str]) -> bool:
    labels = host.split(".")
    return any(".".join(labels[start:]) in domains for start in range(len(labels)))


def _plain(host: str) -> str:
    """Write a host as browsers do: lower case, punycode, no brackets, no dot at its end."""
    bare = host.strip("[]").rstrip(".")
    try:
        return URL.build(scheme="http", host=bare).raw_host or ""
    except ValueError:
        return bare.lower()
