"""Figures for Prometheus: the metrics of `agent.telemetry.instruments`, and what the browsers do at this moment.

Invariant: a registry of its own, so that nothing of this process is told but what is named here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from agent.telemetry.instruments import INSTRUMENTS, Instrument, Measurement
from agent.telemetry.measuring import Measuring
from agent.telemetry.run_name import RunName
from agent.telemetry.watch import Follower
from browser.slots.pool_statistics import PoolStatistics

CONTENT_TYPE = CONTENT_TYPE_LATEST
_UNITS = {"s": "_seconds"}


class Metrics:
    """Counts over all runs of a process.

    Resource handling: holds nothing to close.
    """

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self._pool = _PoolCollector()
        self._registry.register(self._pool)
        self._metrics = {each.name: self._created(each) for each in INSTRUMENTS}

    def followers(self, name: RunName, mask: Callable[[str], str]) -> Sequence[Follower]:
        """Return what follows one run; nothing that could hold a secret is counted."""
        del mask
        return (Measuring(self._measure, mode=name.mode),)

    def watch_pool(self, read: Callable[[], PoolStatistics]) -> None:
        """Read the figures of the pool from now on whenever somebody asks."""
        self._pool.read = read

    def text(self) -> bytes:
        """Return all figures in Prometheus' text format."""
        return generate_latest(self._registry)

    def _created(self, told: Instrument) -> Counter | Histogram:
        name, labels = metric_name(told), [label_name(each) for each in told.attributes]
        if told.kind == "counter":
            return Counter(name, told.description, labels, registry=self._registry)
        return Histogram(name, told.description, labels, buckets=told.buckets, registry=self._registry)

    def _measure(self, measured: Measurement) -> None:
        told = measured.instrument
        metric = self._metrics[told.name].labels(*(str(measured.attributes.get(each, "")) for each in told.attributes))
        if isinstance(metric, Counter):
            metric.inc(measured.value)
        else:
            metric.observe(measured.value)


def metric_name(told: Instrument) -> str:
    """Return a metric's name as Prometheus writes it; of a counter, it adds `_total`."""
    return label_name(told.name) + _UNITS.get(told.unit, "")


def label_name(name: str) -> str:
    """Return an attribute's name as Prometheus writes it."""
    return re.sub(r"\W", "_", name)


class _PoolCollector(Collector):
    """Reads a pool's statistics when they are asked for."""

    def __init__(self) -> None:
        self.read: Callable[[], PoolStatistics] | None = None

    def collect(self) -> Iterable[Metric]:
        if self.read is None:
            return
        figures = self.read()
        slots = GaugeMetricFamily("speccache_pool_slots", "Slots for pages, by what they do.", labels=["state"])
        for state in ("foreground", "spare", "leased", "idle", "warming"):
            slots.add_metric([state], getattr(figures, state))
        yield slots
        waiting = GaugeMetricFamily("speccache_pool_waiting", "How many wait for a slot, by rank.", labels=["rank"])
        for rank, count in figures.waiting.items():
            waiting.add_metric([rank.name.lower()], count)
        yield waiting
        yield GaugeMetricFamily("speccache_pool_browsers", "Browsers that run.", value=figures.browsers)
        yield GaugeMetricFamily("speccache_pool_memory_bytes", "PSS of all browsers.", value=figures.memory_bytes)
        yield CounterMetricFamily("speccache_pool_loads", "Loads begun, of both kinds.", value=figures.loads)
        yield CounterMetricFamily("speccache_pool_launches", "Browsers started.", value=figures.launches)
        yield CounterMetricFamily(
            "speccache_pool_queue_seconds", "How long all that got a slot had waited.", value=figures.queue_seconds
        )
