"""Many loads while browsers are killed and renderers crash under them: nothing may be lost, and nothing left behind.

Invariant: a load counts only when the right page's own texts, from the first to the last, are in its observation.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass, field
from itertools import cycle

import numpy as np
from rich.progress import Progress

from browser.action import Visit
from browser.environment import WebEnvironment
from browser.errors import BrowserError
from browser.observation import Observation
from browser.pool import BrowserPool, PoolOptions
from evals.bench.claim import at_most
from evals.bench.contents import Contents, find_contents
from evals.bench.navigate_plan import bundled
from evals.bench.processes import alive
from evals.bench.raw_browser import LOOPBACK, RawBrowser
from evals.bench.result import Result
from evals.bench.site_process import serving
from evals.bench.soak_damage import Damage
from evals.bench.soak_rest import Rest, rest
from speccache.errors import Unspeculable

_FINDERS = 4
_PAGES = 24
_DELAY_SECONDS = 0.02
_LOAD_SECONDS = 60.0
_ORPHAN_SECONDS = 5.0
_RESAMPLES = 2000
_MAX_DRIFT = 0.10


@dataclass(frozen=True, slots=True, kw_only=True)
class SoakPlan:
    """How long, and how rough.

    Attributes:
        loads: Pages loaded, real and speculative ones by turns.
        slots: Sessions at work at once, and pages that may load ahead at once.
        kill_every: Loads between two kills of a browser.
        crash_every: Loads between two crashes of a renderer.
        rest_every: Loads between two looks at the browsers at rest; sessions are opened anew after each.
        warm_up: Loads before memory counts.
        seed: Of what is killed, and when.
    """

    loads: int = 1000
    slots: int = 4
    kill_every: int = 50
    crash_every: int = 25
    rest_every: int = 25
    warm_up: int = 100
    seed: int = 0


@dataclass(slots=True, kw_only=True)
class Tally:
    """What happened.

    Attributes:
        real: Loads done by a step.
        ahead: Loads done by a peek.
        repeated: Peeks that were refused or died, after which the step was done for real.
        lost: What was wrong with loads that did not end with the right page.
        rests: What was seen at rest, in order, with the loads done by then.
    """

    real: int = 0
    ahead: int = 0
    repeated: int = 0
    lost: list[str] = field(default_factory=list)
    rests: list[tuple[int, Rest]] = field(default_factory=list)


async def soak(plan: SoakPlan, progress: Progress) -> Result:
    """Find pages of the bundled site, then load them as the plan says."""
    place = bundled()
    async with serving(place.folder, delay_seconds=_DELAY_SECONDS) as base:
        async with RawBrowser.opened() as raw:
            tabs = [await raw.page() for _ in range(_FINDERS)]
            known = await find_contents(tabs, base, place.starts, wanted=_PAGES)
        task = progress.add_task("loading", total=plan.loads)
        return await Soak(plan, base=base, known=known, advance=lambda: progress.advance(task)).run()


class Soak:
    """One run.

    Args:
        plan: How long, and how rough.
        base: The site's address.
        known: Its pages.
        advance: Called after each load.
    """

    def __init__(
        self, plan: SoakPlan, *, base: str, known: Sequence[Contents], advance: Callable[[], None] = lambda: None
    ) -> None:
        self._plan = plan
        self._base = base
        self._pages = cycle(known)
        self._advance = advance
        self._tally = Tally()
        self._damage = Damage(kill_every=plan.kill_every, crash_every=plan.crash_every, seed=plan.seed)

    async def run(self) -> Result:
        """Do all loads, and judge."""
        plan = self._plan
        options = PoolOptions(speculation_slots=plan.slots, foreground_slots=plan.slots)
        async with BrowserPool(options) as pool:
            for first in range(1, plan.loads + 1, plan.rest_every):
                last = min(plan.loads, first + plan.rest_every - 1)
                await self._load_all(pool, iter(range(first, last + 1)))
                await self._damage.over()
                self._tally.rests.append((last, await rest(pool, browsers=self._damage.browsers)))
            self._damage.look()
            launches = pool.statistics().launches
        orphans = await asyncio.to_thread(alive, self._damage.seen, patience_seconds=_ORPHAN_SECONDS)
        return self._result(launches=launches, orphans=len(orphans))

    async def _load_all(self, pool: BrowserPool, numbers: Iterator[int]) -> None:
        async with asyncio.TaskGroup() as group:
            for _ in range(self._plan.slots):
                group.create_task(self._work(pool, numbers))

    async def _work(self, pool: BrowserPool, numbers: Iterator[int]) -> None:
        session = WebEnvironment(pool, named_hosts={LOOPBACK})
        try:
            stands = False
            for number in numbers:
                self._damage.begin(number)
                ahead = stands and number % 2 == 0  # what loads ahead does so from a page
                # Somebody waits for it, as a step that joins a load does.
                with pool.urgent() if ahead else nullcontext():
                    wrong = await self._load(session, next(self._pages), ahead=ahead)
                stands = stands or wrong is None
                if wrong is not None:
                    self._tally.lost.append(f"load {number}: {wrong}")
                self._advance()
        finally:
            await session.aclose()

    async def _load(self, session: WebEnvironment, page: Contents, *, ahead: bool) -> str | None:
        """Load a page; say what is wrong with what came of it, None where nothing is."""
        visit = Visit(self._base + page.path)
        try:
            async with asyncio.timeout(_LOAD_SECONDS):
                observation = await (self._peek(session, visit) if ahead else self._step(session, visit))
        except (BrowserError, TimeoutError) as error:
            return f"{page.path}: {error!r}"
        if page.complete(observation.document.markdown):
            return None
        return f"{page.path}: {observation.document.problem or 'not the whole page'}"

    async def _step(self, session: WebEnvironment, visit: Visit) -> Observation:
        self._tally.real += 1
        return await session.step(visit)

    async def _peek(self, session: WebEnvironment, visit: Visit) -> Observation:
        try:
            observation = await session.peek(visit)
        except (BrowserError, Unspeculable):
            self._tally.repeated += 1  # as the agent does on a miss
            return await self._step(session, visit)
        self._tally.ahead += 1
        return observation

    def _result(self, *, launches: int, orphans: int) -> Result:
        tally, damage = self._tally, self._damage
        ratio, interval = self._drift()
        drift = {} if ratio is None else {"": ratio - 1}
        rests = [seen for _, seen in tally.rests]
        claims = [
            at_most("loads lost", {"": len(tally.lost)}, 0),
            at_most("pages left open", {"": max(seen.pages_left for seen in rests)}, 0),
            at_most("orphans", {"": orphans}, 0),
            at_most(f"memory drift at most {_MAX_DRIFT:.0%}", drift, _MAX_DRIFT),
        ]
        return Result(
            name="soak",
            ratio=ratio or 1.0,
            interval=interval,
            n=self._plan.loads,
            unit="loads; PSS of the browsers at rest, the last third over the first after the warm-up",
            parts={
                "claims": [claim.as_json() for claim in claims],
                "real_loads": tally.real,
                "loads_ahead": tally.ahead,
                "loads_ahead_repeated": tally.repeated,
                "killed_browsers": damage.killed_browsers,
                "crashed_renderers": damage.crashed_renderers,
                "browser_launches": launches,
                "lost": tally.lost,
                "rests": [{"loads": loads, **asdict(seen)} for loads, seen in tally.rests],
            },
        )

    def _drift(self) -> tuple[float | None, tuple[float, float]]:
        """Compare memory at rest, the last third with the first; None where there are too few looks."""
        figures = [seen.browsers_mebibytes for loads, seen in self._tally.rests if loads > self._plan.warm_up]
        window = len(figures) // 3
        if window < 1:
            return None, (1.0, 1.0)
        first, last = np.array(figures[:window]), np.array(figures[-window:])
        random = np.random.default_rng(0)
        resampled = [
            np.median(random.choice(last, window)) / np.median(random.choice(first, window)) for _ in range(_RESAMPLES)
        ]
        low, high = np.percentile(resampled, [2.5, 97.5])
        return round(float(np.median(last) / np.median(first)), 4), (round(float(low), 4), round(float(high), 4))
