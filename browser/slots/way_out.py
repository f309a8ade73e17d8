"""The way out that a pool's options ask for.

Invariant: there is none beside it; so browsers that could not reach it are refused before they load anything.
"""

from __future__ import annotations

from browser.egress.door import address_towards
from browser.egress.proxy import LOOPBACK, EgressProxy
from browser.egress.rule import EgressRule
from browser.egress.upstream import route_by
from browser.errors import LaunchFailed
from browser.slots.pool_options import PoolOptions


def way_out(options: PoolOptions) -> EgressProxy:
    """Make the proxy that all of a pool's browsers go through.

    Raises:
        LaunchFailed: Browsers on other machines could not reach it, or the environment names no proxy that can be used.
    """
    away = [endpoint for endpoint in options.endpoints if not endpoint.is_here]
    if away and options.egress_host is None:
        own = address_towards(away[0].host)
        example = f"; towards {away[0].host} this machine is {own}: --egress-host {own}" if own else ""
        raise LaunchFailed(
            f"the browser at {away[0]} does not reach this machine's proxy, which is on loopback",
            hint=f"Say at which address of this machine it is to be reached{example}.",
        )
    return EgressProxy(
        EgressRule(allowed_domains=options.allowed_domains, denied_domains=options.denied_domains),
        route=route_by(options.proxy),
        host=options.egress_host or LOOPBACK,
        guests=[endpoint.host for endpoint in options.endpoints],
    )
