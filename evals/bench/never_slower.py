"""Runs with every guess wrong, against runs with speculation off: what speculation costs when it gains nothing."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence

from agent.settings import EMBEDDED, Settings, load_settings
from agent.target import Answer, Decision
from agent.targets.frontier import Trajectory, offered
from agent.targets.pacing import PacedTarget
from agent.wiring import Mind, answer, open_pool
from browser.action import Action, Visit
from browser.address import page_key
from browser.pool import BrowserPool
from evals.bench.result import Result, compare
from evals.site import LatencyModel, Question, SiteServer, build_site
from speccache.predictor import Guess

TIME_SCALE = 0.05
THINK_SECONDS = 0.5


class Follower:
    """A simulated target: follows a question's path, then answers with the last page's title."""

    name = "follower (simulated)"

    def __init__(self, path: Sequence[str]) -> None:
        self._path = path

    async def decide(self, question: str, trajectory: Trajectory, /) -> Decision:
        """Visit the next page of the path."""
        if len(trajectory) <= len(self._path):
            return Decision(action=Visit(self._path[len(trajectory) - 1]))
        return await self.conclude(question, trajectory)

    async def conclude(self, question: str, trajectory: Trajectory, /) -> Decision:
        """Answer with the last page's title."""
        return Decision(action=Answer(text=trajectory[-1].observation.title))


class WrongPredictor:
    """Names links of the page, and never one that the target will follow."""

    name = "wrong"

    def __init__(self, path: Sequence[str]) -> None:
        self._keys = {page_key(url) for url in path}

    async def predict(self, trajectory: Trajectory, /) -> AsyncIterator[Guess[Action]]:
        """Yield every other link of the page."""
        for rank, link in enumerate(offered(trajectory[-1].observation), 1):
            if page_key(link.url) not in self._keys:
                yield Guess(action=Visit(link.url), predictor=self.name, rank=rank)


async def never_slower(*, pairs: int) -> Result:
    """Run `pairs` questions with and without speculation, in turn; the order within a pair alternates."""
    site = build_site()
    questions = [question for question in site.questions if question.hops >= 2]
    settings = load_settings(target=EMBEDDED, draft="none", think=THINK_SECONDS)
    seconds: dict[bool, list[float]] = {False: [], True: []}
    loads = 0
    async with (
        SiteServer(site, latency=LatencyModel(time_scale=TIME_SCALE)) as server,
        open_pool(settings) as pool,
    ):
        for number in range(pairs):
            question = questions[number % len(questions)]
            for speculation in (False, True) if number % 2 else (True, False):
                run = _Run(question=question, base=server.url, pool=pool, settings=settings)
                total_seconds, launched = await run.measure(speculation=speculation)
                seconds[speculation].append(total_seconds)
                loads += launched
    parts = {"wrong_loads": loads, "think_s": THINK_SECONDS, "time_scale": TIME_SCALE}
    return compare("never-slower", seconds[True], seconds[False], unit="s a run, every guess wrong", parts=parts)


class _Run:
    def __init__(self, *, question: Question, base: str, pool: BrowserPool, settings: Settings) -> None:
        self._question = question
        self._base = base
        self._pool = pool
        self._settings = settings

    async def measure(self, *, speculation: bool) -> tuple[float, int]:
        path = [self._base + path for path in self._question.golden_path]
        target = PacedTarget(Follower(path), think_seconds=THINK_SECONDS)
        mind = Mind(target=target, predictors=(WrongPredictor(path),) if speculation else ())
        outcome = await answer(
            self._question.question,
            self._base + self._question.root_path,
            mind=mind,
            settings=self._settings,
            pool=self._pool,
        )
        if outcome.status != "answered" or outcome.account.hits or outcome.account.joins:
            raise RuntimeError(f"the run was not as meant: {outcome.status}, {outcome.account}")
        return outcome.shares.total_seconds, outcome.account.speculated
