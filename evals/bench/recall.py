"""How often the right next link is among a predictor's first guesses, on every page of questions with known paths.

Invariant: a predictor sees the question and the pages up to there, as in a run; the path only judges. Only the oracle
is told the path: what it misses is not offered on the page, or may not be loaded ahead.
"""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from itertools import cycle, islice
from pathlib import Path
from statistics import mean, median

from agent.predictors.baselines import FirstPredictor, OraclePredictor, RandomPredictor
from agent.predictors.embedding import Embedder
from agent.predictors.rank_predictor import QUICK, RankPredictor
from agent.predictors.ranker import MAX_SCORE, LinkRanker
from agent.settings import Settings, load_settings
from agent.targets.frontier import Trajectory, offered, unread
from agent.wiring import open_pool, web_environment
from browser.action import Action, Visit
from browser.address import page_key
from browser.observation import Document, Link, Observation
from browser.pool import BrowserPool
from evals.bench.result import Result, compare_shares
from evals.folder_server import serve_folder
from evals.site import LatencyModel, Question, SiteServer, build_site, load_questions
from speccache.environment import Step
from speccache.predictor import Guess, Predictor

CUTS = (1, 3, 5)
BUSY_LINKS = 150
_REPETITIONS = 15


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One page of a question's path, with the pages before it.

    Attributes:
        question: The question.
        trajectory: The pages up to this one.
        path: The addresses of the whole path, behind the page it starts from.
    """

    question: str
    trajectory: Trajectory
    path: tuple[str, ...]

    @property
    def gold(self) -> str:
        """The key of the right next page."""
        return page_key(self.path[len(self.trajectory) - 1])


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranking:
    """How one predictor did.

    Attributes:
        places: For each case the place of the right link among its guesses, from 1; 0: not among them.
        cpu_seconds: For each case the processor time of its guesses.
    """

    places: tuple[int, ...]
    cpu_seconds: tuple[float, ...]

    def recall(self, cut: int) -> float:
        """Return the share of cases with the right link among the first guesses."""
        return mean(self.hits(cut))

    def hits(self, cut: int) -> list[int]:
        """Return for each case whether the right link is among the first guesses."""
        return [int(0 < place <= cut) for place in self.places]


class WordsPredictor:
    """Names links by the words they share with the question alone: the ranker's quick pass as a predictor."""

    name = QUICK

    def __init__(self, question: str, ranker: LinkRanker) -> None:
        self._question = question
        self._ranker = ranker

    async def predict(self, trajectory: Trajectory, /) -> AsyncGenerator[Guess[Action]]:
        """Yield the links of the current page that share words with the question, best first."""
        for rank, each in enumerate(await self._ranker.quick(self._question, unread(trajectory)), 1):
            yield Guess(action=Visit(each.link.url), predictor=QUICK, rank=rank, score=each.score / MAX_SCORE)


async def recall(files: Sequence[Path] = (), sites: Path = Path()) -> Result:
    """Measure the predictors on question files over sites in folders; without files, on the bundled site."""
    cases = await (read_cases(files, sites) if files else bundled_cases())
    rankings = await measure(cases)
    quick_seconds = [await quick_pass_seconds(cases, repetition) for repetition in range(_REPETITIONS)]
    rank_ms = [1000 * seconds for seconds in rankings["rank"].cpu_seconds]
    shares = {name: {f"@{cut}": round(found.recall(cut), 3) for cut in CUTS} for name, found in rankings.items()}
    cost = {
        "rank_cpu_ms_a_page": round(mean(rank_ms), 1),
        "rank_cpu_ms_first_page": round(rank_ms[0], 1),
        "quick_pass_ms_150_links": round(1000 * median(quick_seconds), 1),
        "quick_pass_ms_150_links_slowest": round(1000 * max(quick_seconds), 1),
    }
    ours, words = rankings["rank"].hits(3), rankings[QUICK].hits(3)
    unit = "pages; recall at 3 of the ranker over that of words alone"
    return compare_shares("recall", ours, words, unit=unit, parts={**shares, **cost})


async def bundled_cases() -> list[Case]:
    """Read the pages of the bundled site's English questions."""
    site = build_site()
    questions = [question for question in site.questions if question.lang == "en"]
    settings = load_settings(speculation=False)
    async with (
        SiteServer(site, latency=LatencyModel(time_scale=0)) as server,
        open_pool(settings) as pool,
    ):
        return await _cases(questions, server.url, pool, settings)


async def read_cases(files: Sequence[Path], sites: Path) -> list[Case]:
    """Read the pages of questions in files, each about a site in the folder of its name.

    Raises:
        QuestionsInvalid: A file is no file of questions.
    """
    settings = load_settings(speculation=False)
    cases = []
    async with open_pool(settings) as pool:
        for questions in map(load_questions, files):
            async with serve_folder(sites / questions[0].site) as base:
                cases += await _cases(questions, base, pool, settings)
    return cases


async def _cases(questions: Sequence[Question], base: str, pool: BrowserPool, settings: Settings) -> list[Case]:
    pages: dict[str, Observation] = {}
    web = web_environment(settings, pool, base)
    cases = []
    try:
        for question in questions:
            steps: list[Step[Action, Observation]] = []
            for path in (question.root_path, *question.golden_path[:-1]):
                if path not in pages:
                    pages[path] = await web.step(Visit(base + path))
                steps.append(Step(Visit(base + path), pages[path]))
                golden = tuple(base + each for each in question.golden_path)
                cases.append(Case(question=question.question, trajectory=tuple(steps), path=golden))
    finally:
        await web.aclose()
    return cases


async def measure(cases: Sequence[Case]) -> dict[str, Ranking]:
    """Let every predictor guess in every case, all with one ranker, as in a long run."""
    ranker = LinkRanker(Embedder())
    await ranker.embedder.embed(["warm"])  # loading the model is set-up
    found: dict[str, list[tuple[int, float]]] = {}
    for case in cases:
        for predictor in _predictors(case, ranker):
            started_seconds = time.process_time()
            place = await _place(predictor, case)
            found.setdefault(predictor.name, []).append((place, time.process_time() - started_seconds))
    return {
        name: Ranking(places=tuple(place for place, _ in each), cpu_seconds=tuple(seconds for _, seconds in each))
        for name, each in found.items()
    }


def _predictors(case: Case, ranker: LinkRanker) -> tuple[Predictor[Action, Observation], ...]:
    return (
        RankPredictor(case.question, ranker),
        WordsPredictor(case.question, ranker),
        FirstPredictor(max_guesses=max(CUTS)),
        RandomPredictor(case.question, max_guesses=max(CUTS)),
        OraclePredictor(case.path),
    )


async def _place(predictor: Predictor[Action, Observation], case: Case) -> int:
    """Return the place of the right link among the guesses that go by this predictor's name; 0: not among them."""
    async for guess in predictor.predict(case.trajectory):
        named = isinstance(guess.action, Visit) and page_key(guess.action.target) == case.gold
        if named and guess.predictor == predictor.name:
            return guess.rank
    return 0


async def quick_pass_seconds(cases: Sequence[Case], repetition: int) -> float:
    """Measure how long the first guess takes on a page with 150 links that nothing knows yet."""
    page = _busy_page(cases, repetition)
    predictor = RankPredictor(f"What is {page.links[-1].text}?", LinkRanker(Embedder()))
    started_seconds = time.perf_counter()
    async with aclosing(predictor.predict((Step(Visit(page.url), page),))) as guesses:
        first = await anext(guesses)
    if first.predictor != QUICK:
        raise AssertionError(f"the first guess came from {first.predictor}")
    return time.perf_counter() - started_seconds


def _busy_page(cases: Sequence[Case], repetition: int) -> Observation:
    """Put the links of all pages on one, their texts and addresses new in every repetition, so that no memory helps."""
    pages = {step.observation.url: step.observation for case in cases for step in case.trajectory}
    here = cases[0].trajectory[0].observation.url
    links: dict[str, Link] = {link.url: link for page in pages.values() for link in offered(page)}
    chosen = tuple(
        replace(link, number=number, text=f"{link.text} {repetition}-{number}", url=f"{link.url}-{repetition}-{number}")
        for number, link in enumerate(islice(cycle(links.values()), BUSY_LINKS), 1)
    )
    return Observation(document=Document(requested_url=here, url=here, links=chosen), text="")
