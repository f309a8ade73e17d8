from __future__ import annotations

from dataclasses import replace

from agent.predictors.embedding import Embedder
from agent.predictors.ranker import LinkRanker
from agent.target import Answer
from agent.targets.walk import WalkTarget
from browser.action import Visit
from browser.observation import Document, Observation
from tests.agent.test_frontier import CONCURRENCY, QUESTION, ROOT, page, visit

RANKER = LinkRanker(Embedder())


def with_text(observation: Observation, markdown: str) -> Observation:
    return replace(observation, document=replace(observation.document, markdown=markdown))


DEADLOCKS = with_text(page("/deadlocks", ("Home", "/")), "Deadlocks are [detected][1] by a check every second.")


async def test_follows_the_most_promising_link_and_says_why() -> None:
    decision = await WalkTarget(RANKER).decide(QUESTION, (visit(ROOT),))

    assert decision.action == Visit("http://site.test/concurrency")
    assert "'Concurrency control'" in decision.thought


async def test_answers_with_a_quote_and_its_source_once_the_pages_are_used_up() -> None:
    decision = await WalkTarget(RANKER, max_pages=3).decide(
        QUESTION, (visit(ROOT), visit(CONCURRENCY), visit(DEADLOCKS))
    )

    assert decision.action == Answer(
        text="Deadlocks are detected by a check every second.", sources=("http://site.test/deadlocks",)
    )


async def test_answers_earlier_where_no_link_is_left() -> None:
    alone = with_text(page("/"), "Deadlocks are detected by a check every second.")

    decision = await WalkTarget(RANKER).decide(QUESTION, (visit(alone),))

    assert isinstance(decision.action, Answer)
    assert decision.action.sources == ("http://site.test/",)


async def test_gives_up_where_nothing_has_to_do_with_the_question() -> None:
    decision = await WalkTarget(RANKER).decide(QUESTION, (visit(with_text(page("/"), "Bananas are yellow.")),))

    assert decision.action == Answer(text="")


async def test_a_page_that_could_not_be_read_is_neither_quoted_nor_tried_again() -> None:
    failed = Observation(
        document=Document(
            requested_url="http://site.test/concurrency", url="http://site.test/concurrency", problem="Timed out."
        ),
        text="Timed out.",
    )

    decision = await WalkTarget(RANKER).decide(QUESTION, (visit(ROOT), visit(failed)))

    assert decision.action == Visit("http://site.test/errors")


async def test_decisions_are_the_same_with_a_fresh_and_a_used_ranker() -> None:
    steps = (visit(ROOT), visit(CONCURRENCY))
    used = LinkRanker(Embedder())
    await WalkTarget(used).decide("Another question about cooking?", (visit(ROOT), visit(DEADLOCKS)))

    assert await WalkTarget(used).decide(QUESTION, steps) == await WalkTarget(LinkRanker(Embedder())).decide(
        QUESTION, steps
    )
