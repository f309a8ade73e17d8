"""Opens the chat models that settings name, with all that tames their latency put around them.

```
FallbackModel ─ BreakerModel ─ RetryingModel ─ ThrottledModel ─ HedgedModel ─ [StreamedModel] ─ MeteredModel ─ ChatModel
another model   leaves it      tries again     the provider's   a second      reads streams     one event      one
                alone                          rate limit       request                         each request   request
```

Invariant: what is learned of a model (its latency, its failures, its rate) is kept here and shared by all questions;
what is told goes to the listener of the question that the call is for.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from asyncio_throttle.throttler import Throttler

from agent.errors import ConfigurationError
from agent.models.call_log import CallListener, CallLog
from agent.models.chat import Chat
from agent.models.circuit_breaker import BreakerModel, CircuitBreaker
from agent.models.fallback_model import Candidate, FallbackModel
from agent.models.hedged_model import HedgedModel
from agent.models.hedging import DEFAULT_SHARE, Hedging
from agent.models.metered_model import MeteredModel, TokenEstimate
from agent.models.prices import Prices
from agent.models.providers import PROVIDERS, TIERS, ModelAddress, Provider, locate
from agent.models.retrying_model import RetryingModel, RetryOptions
from agent.models.streamed_model import StreamedModel
from agent.models.throttled_model import ThrottledModel
from agent.settings import Settings

if TYPE_CHECKING:
    from agent.models.model import ChatModel

TARGET = "target"
DRAFT = "draft"


@dataclass(slots=True, kw_only=True)
class _Line:
    """One model's client, and what was learned of it."""

    address: ModelAddress
    model: ChatModel
    service_tier: str
    breaker: CircuitBreaker
    estimate: TokenEstimate = field(default_factory=TokenEstimate)
    hedging: dict[str, Hedging] = field(default_factory=dict)
    """By role: drafts are much shorter than decisions, so their latency is another."""


class Models:
    """The models of any number of questions.

    Args:
        settings: Which ones, and how patient to be.
        providers: Providers by name.
        sleep: Waits for so many seconds.
        clock: Where the time comes from, in seconds.

    Resource handling: owns the clients' connections; `aclose()` lets them go and may be called twice.

    Raises:
        ConfigurationError: The prices cannot be read.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        providers: Mapping[str, Provider] = PROVIDERS,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.prices = Prices(settings.prices)
        self._settings = settings
        self._providers = providers
        self._sleep = sleep
        self._clock = clock
        self._lines: dict[str, _Line] = {}
        self._throttles: dict[str, AbstractAsyncContextManager[object]] = {}

    def target(self, listener: CallListener) -> Chat:
        """Return the model that decides, with those that stand in for it.

        Raises:
            ConfigurationError: One of them has no key, or its provider does not offer the service tier.
        """
        names = (self._settings.target_name, *self._settings.fallback)
        candidates = [self._candidate(name, TARGET, listener, is_last=name is names[-1]) for name in names]
        self._check_tier(self._line(names[0]).address)
        return FallbackModel(candidates) if len(candidates) > 1 else candidates[0].model

    def chat(self, name: str, *, role: str, listener: CallListener) -> Chat:
        """Return a model by its name, `provider:name` or bare.

        Raises:
            ConfigurationError: It has no key.
        """
        return self._candidate(name, role, listener).model

    async def aclose(self) -> None:
        """Close the connections."""
        while self._lines:
            _, line = self._lines.popitem()
            await line.model.aclose()

    def _candidate(self, name: str, role: str, listener: CallListener, *, is_last: bool = True) -> Candidate:
        line, settings = self._line(name), self._settings
        address = line.address
        log = CallLog(listener, role=role, model=address.label, server=address.server, clock=self._clock)
        model: Chat = MeteredModel(
            line.model,
            log,
            price=lambda usage, tier: self.prices.cost_usd(line.address, usage, tier),
            estimate=line.estimate,
            service_tier=line.service_tier,
        )
        if settings.first_token_seconds is not None:
            model = StreamedModel(model)
        throttle = self._throttle(line.address)
        hedging = self._hedging(line, role)
        if hedging.share:
            model = HedgedModel(model, hedging, log, throttle=throttle, sleep=self._sleep, clock=self._clock)
        model = ThrottledModel(model, throttle)
        options = RetryOptions(max_retries=settings.model_retries, again_when_late=is_last)
        model = RetryingModel(model, log, options=options, sleep=self._sleep)
        return Candidate(model=BreakerModel(model, line.breaker, log), log=log)

    def _line(self, name: str) -> _Line:
        if name not in self._lines:
            self._lines[name] = self._connect(name)
        return self._lines[name]

    def _connect(self, name: str) -> _Line:
        from agent.models.model import CallLimits, ChatModel  # noqa: PLC0415 - takes as long to import as all the rest

        settings = self._settings
        address = locate(
            name,
            base_url=settings.base_url,
            api_key=settings.api_key.get_secret_value() if settings.api_key else "",
            providers=self._providers,
        )
        # A provider in the table is not asked for what it does not offer; any other endpoint may say so itself.
        offered = TIERS if address.provider is None else address.provider.service_tiers
        sent = settings.service_tier or ""
        if sent not in offered and not (sent == "default" and offered):
            sent = ""
        model = ChatModel(
            address.model,
            base_url=address.base_url,
            api_key=address.api_key,
            key_variable=address.key_variable,
            limits=CallLimits(
                connect_seconds=settings.connect_seconds,
                first_token_seconds=settings.first_token_seconds,
                total_seconds=settings.model_seconds,
            ),
            parameters={"service_tier": sent} if sent else None,
        )
        breaker = CircuitBreaker(clock=self._clock)
        return _Line(address=address, model=model, service_tier=sent, breaker=breaker)

    def _check_tier(self, address: ModelAddress) -> None:
        tier, provider = self._settings.service_tier, address.provider
        if tier in (None, "default") or provider is None or tier in provider.service_tiers:
            return
        offering = ", ".join(name for name, one in self._providers.items() if one.service_tiers)
        raise ConfigurationError(
            f"{provider.name} has no service tier {tier} that a request could ask for.",
            hint=f"Leave --service-tier out, or use a model of {offering}.",
        )

    def _throttle(self, address: ModelAddress) -> AbstractAsyncContextManager[object]:
        limits = self._settings.model_calls
        limit = limits.get(address.host) if isinstance(limits, dict) else limits
        if address.host not in self._throttles:
            self._throttles[address.host] = Throttler(rate_limit=limit, period=60.0) if limit else nullcontext()
        return self._throttles[address.host]

    def _hedging(self, line: _Line, role: str) -> Hedging:
        if role not in line.hedging:
            share = self._settings.hedge
            if share is None:
                # A server of one's own answers one request after the other: a second one would only make it later.
                # And what is slow on purpose is not late.
                share = DEFAULT_SHARE if line.address.provider and line.service_tier != "flex" else 0.0
            line.hedging[role] = Hedging(share=share, start_seconds=self._settings.hedge_start_seconds)
        return line.hedging[role]
