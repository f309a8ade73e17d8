"""Who watches runs from outside: traces and metrics for OpenTelemetry, figures for Prometheus, lines in the log.

Invariant: nobody watches unless the user asked for it, and a watcher only listens: a run is the same with and without.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Protocol

from agent.errors import ConfigurationError
from agent.events import RunEvent, RunListener
from agent.logs import RunLog, named
from agent.settings import Settings
from agent.telemetry.run_name import RunName

if TYPE_CHECKING:
    from agent.telemetry.prometheus import Metrics
    from browser.pool import BrowserPool


class Follower(Protocol):
    """Listens to one run."""

    def __call__(self, event: RunEvent, /) -> None:
        """Take one event."""

    def close(self) -> None:
        """All events were told; may be called twice."""


FollowerMaker = Callable[[RunName, Callable[[str], str]], Sequence[Follower]]
"""Makes what follows a run, given its name and what takes secrets out of a text."""


class Following:
    """A listener that passes the events of one run, or of one MCP client's session, to those who watch.

    Resource handling: `close()` it once all events were told; may be done twice.
    """

    def __init__(self, followers: Sequence[Follower]) -> None:
        self._followers = followers

    def __call__(self, event: RunEvent) -> None:
        """Pass one event on."""
        for follower in self._followers:
            follower(event)

    def close(self) -> None:
        """End what is under way."""
        for follower in self._followers:
            follower.close()


class Watch:
    """Makes a listener for each run.

    Args:
        makers: What each run is followed by.
        metrics: Figures that tell of the pool, too; None: nobody reads them.
    """

    def __init__(self, makers: Sequence[FollowerMaker] = (), *, metrics: Metrics | None = None) -> None:
        self._makers = makers
        self._metrics = metrics

    def pool_opened(self, pool: BrowserPool) -> None:
        """Tell of this pool from now on."""
        if self._metrics is not None:
            self._metrics.watch_pool(pool.statistics)

    def begin(self, *, name: RunName | None = None, mask: Callable[[str], str] = str) -> Following:
        """Return a listener for one run, to be closed at its end.

        Args:
            name: What the run is called; None: a name of its own.
            mask: Takes secrets out of a text.
        """
        called = name or RunName()
        return Following([follower for make in self._makers for follower in make(called, mask)])

    @contextmanager
    def follow(self, *, question: str = "", mode: str = "", mask: Callable[[str], str] = str) -> Iterator[RunListener]:
        """Give a listener for one run; what is logged within the block carries the run's name.

        Args:
            question: The question's id, where it has one.
            mode: The mode of a suite.
            mask: Takes secrets out of a text.
        """
        name = RunName(question=question, mode=str(mode))
        following = self.begin(name=name, mask=mask)
        with named(name):
            try:
                yield following
            finally:
                following.close()


@contextmanager
def open_watch(settings: Settings, *, metrics: Metrics | None = None) -> Iterator[Watch]:
    """Open what the user asked for.

    Args:
        settings: Say whether spans and metrics are sent.
        metrics: Figures for Prometheus; None: nobody reads them.

    Raises:
        ConfigurationError: It needs a package that is not there, or a protocol that is not spoken.
    """
    makers: list[FollowerMaker] = [lambda name, _: [RunLog(name)]]
    with ExitStack() as stack:
        if metrics is not None:
            makers.append(metrics.followers)
        if settings.otel:
            with needing_extra("otel", "OpenTelemetry"):
                from agent.telemetry.otel import OtelExport  # noqa: PLC0415 - needs the extra `otel`
            makers.append(stack.enter_context(OtelExport()).otel.followers)
        yield Watch(makers, metrics=metrics)


def new_metrics() -> Metrics:
    """Return figures for Prometheus, all zero.

    Raises:
        ConfigurationError: It needs a package that is not there.
    """
    with needing_extra("metrics", "Prometheus"):
        from agent.telemetry.prometheus import Metrics  # noqa: PLC0415 - needs the extra `metrics`
    return Metrics()


@contextmanager
def needing_extra(extra: str, purpose: str) -> Iterator[None]:
    """Say how to get the package that an import in the block does not find."""
    try:
        yield
    except ImportError as error:
        raise ConfigurationError(
            f"telling {purpose} needs a package that is not there: {error.name}",
            hint=f"Install it with: pip install 'speccache[{extra}]'",
        ) from error
