"""What a person asks of `speccache eval`, checked before anything is started.

Invariant: what can be wrong about it is said at once, not after an hour of runs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import isfinite
from pathlib import Path
from typing import Any

from agent.cluster.cluster import Cluster
from agent.errors import ConfigurationError
from agent.settings import EMBEDDED, LOCAL, PredictorName, Settings, load_settings
from agent.targets.pacing import PACES
from evals.runs.mode import Mode, parse_modes
from evals.runs.plan import GOLD, Pace, Plan
from evals.suites.item import Item
from evals.suites.registry import SUITES, open_suite
from evals.suites.selection import select
from evals.suites.suite import Suite

DEFAULT_MODES = "off,spec"
DEFAULT_TIME_SCALE = 0.2
ENGINES = ("local", "ray")
_SPREADING = ("engine", "ray_address", "workers")
_DECIDED_HERE = {"speculation": True, "predictor": PredictorName.DEFAULT, "think": 0.0}


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What a person asks of `speccache eval`; see the command's flags.

    Attributes:
        suite: A suite's name, or a file or folder of questions.
        data: The dataset's file, in place of the hub's.
        sites: The folder with one folder for each site.
        modes: In which modes, separated by commas.
        langs: Only these languages; empty: all.
        kinds: Only these kinds of question.
        difficulties: Only these difficulties.
        domains: Only these domains.
        ids: Only these questions.
        min_sources: Only questions with so many sources.
        limit: So many questions at most; None: all.
        one_per_site: One question for each site, as in the paper.
        seed: What is drawn is drawn from it.
        error_rate: How often the simulated target goes wrong first.
        think: Whose thinking times are simulated, or mean seconds; None: as fits the target.
        time_scale: What the published times are multiplied by; None: 0.2.
        judge: The model that judges answers.
        traces: Whether a trace of each run is kept.
        given: Settings by name, and where questions are asked: `engine`, `ray_address`, `workers`. None: not given.
    """

    suite: str
    data: Path | None = None
    sites: Path | None = None
    modes: str = DEFAULT_MODES
    langs: Sequence[str] = ()
    kinds: Sequence[str] = ()
    difficulties: Sequence[str] = ()
    domains: Sequence[str] = ()
    ids: Sequence[str] = ()
    min_sources: int = 0
    limit: int | None = None
    one_per_site: bool = False
    seed: int = 0
    error_rate: float = 0.0
    think: str | None = None
    time_scale: float | None = None
    judge: str | None = None
    traces: bool = False
    given: Mapping[str, Any]

    def plan(self) -> Plan:
        """Check the request and return what is to be done.

        Raises:
            ConfigurationError: A setting is wrong, or no such suite, mode or question exists.
        """
        is_gold = self.given.get("target") == GOLD
        set_here = {name: value for name, value in self.given.items() if name not in _SPREADING}
        settings = load_settings(**{**set_here, **({"target": EMBEDDED} if is_gold else {})})
        # From a file or the environment these would change what a mode is, and no report would tell.
        settings = settings.model_copy(update=_DECIDED_HERE)
        suite = open_suite(self.suite, data=self.data, sites=self.sites)
        items = select(
            suite.items,
            langs=self.langs,
            kinds=self.kinds,
            difficulties=self.difficulties,
            domains=self.domains,
            ids=self.ids,
            min_sources=self.min_sources,
            limit=self.limit,
            seed=self.seed,
            one_per_site=self.one_per_site,
        )
        if is_gold and self.given.get("max_turns") is None:
            settings = settings.model_copy(update={"max_turns": _enough_turns(suite.items, settings.max_turns)})
        if is_gold and not all(item.golden for item in items):
            raise ConfigurationError(
                f"the suite {suite.name} does not tell the way to every answer, which the target gold follows",
                hint="Name a model with --target.",
            )
        modes = parse_modes(self.modes, settings)
        _check_caches(settings, modes)
        return Plan(
            suite=suite,
            items=items,
            modes=modes,
            settings=settings,
            is_gold=is_gold,
            error_rate=self.error_rate,
            pace=self._pace(suite, settings, is_gold=is_gold),
            time_scale=self._time_scale(suite),
            seed=self.seed,
            judge=self.judge,
            has_traces=self.traces,
            reopen=None if suite.serve is None else self._reopening(),
            cluster=self._cluster(),
        )

    def _reopening(self) -> Callable[[], Suite]:
        """Return what opens the suite from any folder, in a process that may be on another machine."""
        suite = self.suite if self.suite in SUITES else str(Path(self.suite).absolute())
        return partial(open_suite, suite, sites=self.sites.absolute() if self.sites is not None else None)

    def _cluster(self) -> Cluster | None:
        engine, address, workers = map(self.given.get, _SPREADING)
        if engine not in (None, *ENGINES):
            raise ConfigurationError(f"--engine {engine!r} is none", hint=f"There are {', '.join(ENGINES)}.")
        if engine == "ray":
            return Cluster(address=address, workers=workers)
        if address is not None or workers is not None:
            raise ConfigurationError(
                "--ray-address and --workers are for --engine ray", hint="Add --engine ray, or leave them out."
            )
        return None

    def _time_scale(self, suite: Suite) -> float | None:
        if self.time_scale is not None and not isfinite(self.time_scale):
            raise ConfigurationError(
                f"--time-scale {self.time_scale} is no factor", hint="Write a number, such as 0.2."
            )
        if suite.serve is not None:
            return DEFAULT_TIME_SCALE if self.time_scale is None else self.time_scale
        if self.time_scale is not None:
            raise ConfigurationError(
                f"the suite {suite.name} is asked on the live web, whose delays are real",
                hint="Leave --time-scale out.",
            )
        return None

    def _pace(self, suite: Suite, settings: Settings, *, is_gold: bool) -> Pace:
        """Return how long the target thinks; a model takes its own time, unless it is told otherwise."""
        simulated = is_gold or (settings.target_name in (EMBEDDED, LOCAL) and suite.serve is not None)
        think = self.think or (next(iter(PACES)) if simulated else "none")
        if think == "none":
            return Pace()
        scale = self._time_scale(suite)
        if think in PACES:
            times = PACES[think]
            return Pace(think_seconds=sum(times) / len(times) * (1.0 if scale is None else scale), model=think)
        try:
            seconds = float(think)
        except ValueError:
            seconds = -1.0
        if not 0 <= seconds < float("inf"):
            raise ConfigurationError(
                f"--think {think!r} is no time", hint=f"Write seconds, none, or one of {', '.join(PACES)}."
            )
        return Pace(think_seconds=seconds)


def _enough_turns(items: Sequence[Item], turns: int) -> int:
    """Return as many turns as the longest way takes, each step gone wrong once and the answer included."""
    return max(turns, *(2 * item.hops + 1 for item in items))


def _check_caches(settings: Settings, modes: Sequence[Mode]) -> None:
    if len(modes) > 1 and (settings.shelf is not None or settings.shared_cache is not None):
        raise ConfigurationError(
            "with pages kept from run to run, one mode would be served what another has loaded",
            hint="Leave shelf and shared_cache out, or run one mode.",
        )
