"""Predictors by name, and how the parts of the default share the cap."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from pathlib import Path

import pytest

from agent.errors import ConfigurationError
from agent.predictors.draft_predictor import DraftPredictor
from agent.predictors.embedding import Embedder, Vectors
from agent.predictors.predictor_choice import Choice, choose
from agent.predictors.rank_predictor import QUICK, RANK
from agent.predictors.ranker import LinkRanker
from agent.settings import PredictorName, load_settings
from agent.targets.frontier import Trajectory
from agent.wiring import open_mind
from browser.action import Action, Visit
from browser.observation import Observation
from speccache.events import Event, EventKind
from speccache.options import SpeculationOptions
from speccache.predictor import Predictor
from speccache.read_environment import ReadEnvironment
from speccache.speculative_environment import SpeculativeEnvironment
from tests.agent.command import speccache
from tests.agent.test_frontier import SITE, page, visit
from tests.endpoints.connected import connected
from tests.endpoints.scripted import Fail, Say, ScriptedEndpoint
from tests.speccache.progress import until

QUESTION = "How are deadlocks detected?"
RANKER = LinkRanker(Embedder())
PATIENCE_SECONDS = 10


def site(*, links: int) -> dict[str, Observation]:
    """A root page with links, of which only the last two share words with the question; and the pages behind them."""
    texts = [*(f"Page {number}" for number in range(links - 2)), "Deadlocks", "How deadlocks are detected"]
    root = page("/", *((text, f"/{number}") for number, text in enumerate(texts)))
    return {SITE + "/": root, **{link.url: page(link.url.removeprefix(SITE)) for link in root.links}}


def speculative(
    pages: dict[str, Observation], choice: Choice, events: list[Event], *, max_guesses: int = 3
) -> SpeculativeEnvironment[Action, Observation]:
    async def read(action: Action) -> Observation:
        assert isinstance(action, Visit)
        return pages[action.target]

    return SpeculativeEnvironment(
        ReadEnvironment(read, key=lambda action: action.target if isinstance(action, Visit) else None),
        predictors=choice.predictors,
        options=SpeculationOptions(max_guesses=max_guesses),
        listener=events.append,
    )


def chosen(name: str, *, draft: DraftPredictor | None = None, ranker: LinkRanker = RANKER) -> Choice:
    return choose(PredictorName(name), QUESTION, ranker=ranker, draft=draft, max_guesses=3)


async def guesses(predictors: Sequence[Predictor[Action, Observation]], steps: Trajectory) -> list[tuple[str, int]]:
    return [(guess.predictor, guess.rank) for each in predictors async for guess in each.predict(steps)]


@pytest.mark.parametrize(
    ("name", "names"),
    [("default", [RANK]), ("rank", [RANK]), ("first", ["first"]), ("random", ["random"]), ("none", ["none"])],
)
def test_a_name_stands_for_predictors(name: str, names: list[str]) -> None:
    assert [each.name for each in chosen(name).predictors] == names


def test_only_the_ranker_guesses_deeper() -> None:
    assert {name for name in PredictorName if name != "draft" and chosen(name).deeper} == {"default", "rank"}


def test_the_draft_needs_a_model() -> None:
    with pytest.raises(ConfigurationError, match="draft") as error:
        chosen("draft")
    assert "--draft" in error.value.hint


async def test_by_default_the_rankers_best_comes_beside_the_draft_and_its_others_behind() -> None:
    steps = (visit(site(links=6)[SITE + "/"]),)
    async with ScriptedEndpoint([Say("1\n2\n"), Say("1\n2\n")]) as endpoint, connected(endpoint) as model:
        best, behind = chosen("default", draft=DraftPredictor(QUESTION, model)).predictors
        assert await guesses([chosen("draft", draft=DraftPredictor(QUESTION, model)).predictors[0]], steps) == [
            ("draft:scripted", 1),
            ("draft:scripted", 2),
        ]
        assert (await guesses([best], steps))[-1] == (RANK, 1)
        assert await guesses([behind], steps) == [
            ("draft:scripted", 1),
            ("draft:scripted", 2),
            *((RANK, rank) for rank in range(2, 7)),
        ]
    assert behind.name == "draft:scripted, then rank"


@pytest.mark.parametrize(
    ("reply", "behind"),
    [
        ("1\n2\n3\n", [("draft:scripted", 1), ("draft:scripted", 2)]),
        ("1\n", [("draft:scripted", 1), (RANK, 2)]),
        ("I cannot tell.", [(RANK, 2), (RANK, 3)]),
        (None, [(RANK, 2), (RANK, 3)]),
    ],
)
async def test_together_they_keep_within_the_cap_and_fill_it(reply: str | None, behind: list[tuple[str, int]]) -> None:
    pages = site(links=6)
    root = pages[SITE + "/"]
    await RANKER.rank(QUESTION, root.links)  # so that no quick guess is needed
    events: list[Event] = []
    answered = asyncio.Event()
    script = Fail(status=400) if reply is None else Say(answered, reply)
    async with ScriptedEndpoint([script]) as endpoint, connected(endpoint) as model:
        draft = DraftPredictor(QUESTION, model)
        environment = speculative(pages, chosen("default", draft=draft), events)
        async with asyncio.timeout(PATIENCE_SECONDS):
            await environment.step(Visit(SITE + "/"))
            await until(events, EventKind.LAUNCH)
            answered.set()
            await until(events, EventKind.LOAD, 3)
        await environment.aclose()
    assert [(event.predictor, event.rank) for event in _of(EventKind.LAUNCH, events)] == [(RANK, 1), *behind]
    assert _of(EventKind.CANCEL, events) == []


async def test_the_draft_is_told_what_is_loaded() -> None:
    pages = site(links=6)
    second = asyncio.Event()

    def reply(_: object) -> Say:
        if len(endpoint.requests) == 2:
            second.set()
        return Say("1\n")

    async with ScriptedEndpoint(reply) as endpoint, connected(endpoint) as model:
        draft = DraftPredictor(QUESTION, model)
        events: list[Event] = []
        environment = speculative(pages, chosen("draft", draft=draft), events)
        draft.knows = environment.knows
        async with asyncio.timeout(PATIENCE_SECONDS):
            await environment.step(Visit(SITE + "/"))
            await until(events, EventKind.LOAD)
            await environment.step(Visit(SITE + "/"))
            await second.wait()
        await environment.aclose()
        told = [request.body["messages"][1]["content"] for request in endpoint.requests]
    assert "loaded already" not in told[0]
    assert "Links loaded already, which need no guess: 1\n" in told[1]


async def test_the_quick_guess_on_150_links_starts_before_the_embedding() -> None:
    asked, opened = asyncio.Event(), asyncio.Event()
    events: list[Event] = []
    before: list[Event] = []

    class Gated(Embedder):
        async def embed(self, texts: Sequence[str]) -> Vectors:
            before[:] = before or events
            asked.set()
            await opened.wait()
            return await super().embed(texts)

    pages = site(links=150)
    environment = speculative(pages, chosen("rank", ranker=LinkRanker(Gated())), events)
    async with asyncio.timeout(PATIENCE_SECONDS):
        await environment.step(Visit(SITE + "/"))
        await asked.wait()
        [first] = _of(EventKind.LAUNCH, before)
        assert (first.predictor, first.action) == (QUICK, f"visit {SITE}/149")
        await until(events, EventKind.LOAD)
        assert {event.predictor for event in events} == {"", QUICK}, "loaded while the embedding has not answered"
        opened.set()
        await until(events, EventKind.LOAD, 3)
    await environment.aclose()


async def test_closing_the_iterator_closes_the_draft() -> None:
    steps = (visit(site(links=6)[SITE + "/"]),)
    async with ScriptedEndpoint([Say("1\n", asyncio.Event())]) as endpoint, connected(endpoint) as model:
        _, behind = chosen("default", draft=DraftPredictor(QUESTION, model)).predictors
        stream = behind.predict(steps)
        assert isinstance(stream, AsyncGenerator)
        await anext(stream)
        await stream.aclose()
        await asyncio.wait_for(endpoint.requests[0].closed.wait(), PATIENCE_SECONDS)


@pytest.mark.parametrize(
    ("name", "says"), [("oracle", "only tests and evals"), ("guru", "'default', 'draft', 'rank'"), ("draft", "--draft")]
)
async def test_a_name_that_cannot_be_used_is_told_of(tmp_path: Path, name: str, says: str) -> None:
    words = ["ask", "what?", "--url", "http://127.0.0.1:1/", "--no-trace", "--predictor", name]
    result = await speccache(*words, cwd=tmp_path)
    assert (result.code, result.out) == (2, "")
    assert says in result.err


def test_the_name_comes_from_the_environment_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPECCACHE_PREDICTOR", "first")
    assert load_settings().predictor is PredictorName.FIRST
    assert load_settings(predictor="none").predictor is PredictorName.NONE


async def test_a_draft_model_that_is_not_asked_is_not_opened() -> None:
    configured = {"base_url": "http://127.0.0.1:1/v1", "target": "m", "draft": "d"}
    async with open_mind(load_settings(**configured, predictor="random"), QUESTION) as mind:
        assert (mind.draft, [each.name for each in mind.predictors]) == (None, ["random"])
    async with open_mind(load_settings(**configured), QUESTION) as mind:
        assert mind.draft is not None
        assert [each.name for each in mind.predictors] == [RANK, "draft:d, then rank"]


def _of(kind: EventKind, events: list[Event]) -> list[Event]:
    return [event for event in events if event.kind is kind]
