"""Never different: with speculation on, the same path, pages and answer; and the loads really overlap."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence

import pytest

from agent.events import Decided, RunEvent, Thinking
from agent.outcome import Outcome, path_of
from agent.predictors.embedding import Embedder
from agent.predictors.rank_predictor import RankPredictor
from agent.predictors.ranker import LinkRanker
from agent.settings import EMBEDDED, Settings, load_settings
from agent.target import Answer, Decision
from agent.targets.walk import WalkTarget
from agent.wiring import Mind, answer, ask, open_pool
from browser.action import Action, Visit
from browser.observation import Observation
from browser.pool import BrowserPool
from browser.slots.pressure import Pressure, PressureLimits
from evals.site import LatencyModel, Question, Site, SiteServer, build_site
from speccache.environment import Step
from speccache.events import Event, EventKind

SITE = build_site()
ENGLISH = [question for question in SITE.questions if question.lang == "en"]
CHINESE = [question for question in SITE.questions if question.lang == "zh"]
PAGES = 5  # read for a question: enough to see whether paths part
ASKED = [*ENGLISH[::3][:16], *CHINESE[::9][:4]]


class Follower:
    """A scripted target: follows a question's path and answers with the last page's title."""

    name = "follower"

    def __init__(self, question: Question, base: str) -> None:
        self._path = [base + path for path in question.golden_path]

    async def decide(self, question: str, trajectory: Sequence[Step[Action, Observation]], /) -> Decision:
        if len(trajectory) <= len(self._path):
            return Decision(action=Visit(self._path[len(trajectory) - 1]))
        return await self.conclude(question, trajectory)

    async def conclude(self, question: str, trajectory: Sequence[Step[Action, Observation]], /) -> Decision:
        last = trajectory[-1].observation
        return Decision(action=Answer(text=last.title, sources=(last.url,)))


@pytest.fixture(scope="module")
def site() -> Site:
    return SITE


@pytest.fixture
async def server(site: Site) -> AsyncIterator[SiteServer]:
    async with SiteServer(site, latency=LatencyModel(time_scale=0.01)) as server:
        yield server


def settings(**changed: object) -> Settings:
    return load_settings(target=EMBEDDED, draft="none", **changed)


@pytest.fixture(scope="module")
async def pool() -> AsyncIterator[BrowserPool]:
    async with open_pool(settings()) as pool:
        # What else the machine does while the tests run is not what is tested here.
        pool.pressure = Pressure(PressureLimits(loop_lag_seconds=9.0, cpu_share=9.0, memory_share=9.0))
        yield pool
        await pool.pressure.aclose()


@pytest.fixture(scope="module")
def embedder() -> Embedder:
    return Embedder()


def test_at_least_twenty_questions_are_asked() -> None:
    assert len({question.id for question in ASKED}) >= 20


def differences(off: Outcome, spec: Outcome) -> list[str]:
    """What differs between two runs that should not."""
    found = [] if (off.status, off.answer, off.sources) == (spec.status, spec.answer, spec.sources) else ["answer"]
    return found if path_of(off.trajectory) == path_of(spec.trajectory) else [*found, "path"]


@pytest.mark.parametrize("question", ASKED, ids=lambda question: question.id)
async def test_a_scripted_target_takes_the_same_path(
    question: Question, server: SiteServer, pool: BrowserPool, embedder: Embedder
) -> None:
    outcomes = []
    for predictors in ((), (RankPredictor(question.question, LinkRanker(embedder)),)):
        mind = Mind(target=Follower(question, server.url), predictors=predictors)
        url = server.url + question.root_path
        outcomes.append(await answer(question.question, url, mind=mind, settings=settings(), pool=pool))
    off, spec = outcomes
    assert off.status == "answered"
    assert differences(off, spec) == []
    assert server.trap_requests() == ()


@pytest.mark.parametrize("question", ASKED, ids=lambda question: question.id)
async def test_the_embedded_target_takes_the_same_path(
    question: Question, server: SiteServer, pool: BrowserPool, embedder: Embedder
) -> None:
    outcomes = []
    for speculation in (False, True):
        ranker = LinkRanker(embedder)
        predictor = RankPredictor(question.question, ranker, max_pages=PAGES)
        mind = Mind(target=WalkTarget(ranker, max_pages=PAGES), predictors=(predictor,) if speculation else ())
        url = server.url + question.root_path
        outcomes.append(await answer(question.question, url, mind=mind, settings=settings(), pool=pool))
    off, spec = outcomes
    assert differences(off, spec) == []
    # This target decides as soon as the ranker has: only a quick guess is ahead of it, and may be wrong each time.
    assert spec.account.speculated > 0
    assert server.trap_requests() == ()


async def test_loads_start_before_the_decision_and_every_page_is_asked_for_once(
    server: SiteServer, pool: BrowserPool, embedder: Embedder
) -> None:
    question = ENGLISH[0]
    events: list[RunEvent] = []
    outcome = await ask(
        question.question,
        server.url + question.root_path,
        settings=settings(think=0.3),
        pool=pool,
        listeners=[events.append],
    )
    used = {event.key for event in events if isinstance(event, Event) and event.kind in (EventKind.HIT, EventKind.JOIN)}
    assert used
    order = [(type(event).__name__, getattr(event, "kind", ""), getattr(event, "key", "")) for event in events]
    for key in used:
        launched = order.index(("Event", EventKind.LAUNCH, key))
        taken = next(
            at for at, (_, kind, of) in enumerate(order) if of == key and kind in (EventKind.HIT, EventKind.JOIN)
        )
        assert launched < taken
        between = events[launched:taken]
        assert any(isinstance(event, Decided) for event in between), "the load ran while the target decided"
    assert any(isinstance(event, Thinking) for event in events)
    assert outcome.shares.hidden_seconds > 0
    # Only a load that was given up for a better guess may be asked for again.
    given_up = {event.key.split()[0] for event in events if isinstance(event, Event) and event.kind is EventKind.CANCEL}
    again = {server.url + path for path, count in server.data_loads().items() if count > 1}
    assert again <= given_up
    assert not again & {key.split()[0] for key in used}
