"""How large a pool is, how considerate it is, and how its browsers start.

Invariant: with every option left alone, one question is held up by none of them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from browser.egress.upstream import Upstream
from browser.engine.launch import LaunchOptions
from browser.engine.recycling import RecyclingLimits
from browser.remote.endpoint import Endpoint
from browser.session.identity import Identity


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolOptions:
    """What a pool may do.

    Attributes:
        speculation_slots: Pages that may load ahead at once; 0: no second browser is ever started.
        foreground_slots: Questions that may hold live pages at once; others wait for their turn.
        max_memory_mib: What all browsers may take together, as PSS; None: what is free on this machine. Pages loaded
            ahead make way for live ones, and one question always has its page.
        host_loads: Real loads that may run at one host at once, over all questions.
        host_loads_per_second: Real loads that may begin at one host; None: any number.
        max_retry_after_seconds: For how long a real load waits and tries once more where its host answers 429 or 503
            and says when to come back; 0: only where that is at once.
        ageing_seconds: After how long a load ahead that waits for a slot rises by one rank.
        identity: Who its browsers are, unless a session is somebody else; what stands ready is opened for this one.
        proxy: A proxy that everything goes through; None: the environment's, if any.
        allowed_domains: The only domains that are reached, with all below them; empty: any.
        denied_domains: Domains that are never reached, nor any below them.
        downloads: A folder of the user's own for files that pages give; None: a temporary one, gone with the pool.
        endpoints: Browsers elsewhere that are used instead of this machine's; empty: none.
        egress_host: The address of this machine at which these reach its egress proxy; None: loopback.
        launch: How the browsers are started.
        recycling: How long slots and browsers serve.
    """

    speculation_slots: int = 4
    foreground_slots: int = 8
    max_memory_mib: int | None = None
    host_loads: int = 6
    host_loads_per_second: float | None = None
    max_retry_after_seconds: float = 10.0
    ageing_seconds: float = 5.0
    identity: Identity = Identity()
    proxy: Upstream | None = None
    allowed_domains: tuple[str, ...] = ()
    denied_domains: tuple[str, ...] = ()
    downloads: Path | None = None
    endpoints: tuple[Endpoint, ...] = ()
    egress_host: str | None = None
    launch: LaunchOptions = field(default_factory=LaunchOptions)
    recycling: RecyclingLimits = field(default_factory=RecyclingLimits)
