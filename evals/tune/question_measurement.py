"""One question asked with one setting: how long its target waits for pages.

Invariant: the runs of one question differ in pool size and guesses alone; the target is the embedded one, and its
thinking is simulated, the same to the millisecond.
"""

from __future__ import annotations

from agent.errors import AgentError
from agent.predictors.embedding import Embedder
from agent.settings import Settings
from agent.wiring import ask, open_pool
from browser.errors import BrowserError
from evals.tune.sample import QuestionSample
from evals.tune.subject import Task


async def measure_question(
    slots: int, guesses: int, *, round_number: int, task: Task, settings: Settings, embedder: Embedder
) -> QuestionSample:
    """Ask one question in a new pool.

    Args:
        slots: The pool's size.
        guesses: Guesses a turn at most; 0: speculation off.
        round_number: Which round of the sweep it is.
        task: The question.
        settings: All else.
        embedder: Remembers link texts over all runs, so that the first is not slower than the others.

    Raises:
        AgentError: The embedded target does not work.
        BrowserError: The browser does not work, or the first page cannot be read.
    """
    changed = {"pool_size": slots, "max_guesses": max(guesses, 1), "speculation": guesses > 0}
    chosen = settings.model_copy(update=changed)
    async with open_pool(chosen, task.url) as pool:
        outcome = await ask(task.question, task.url, settings=chosen, pool=pool, embedder=embedder)
    if isinstance(outcome.error, AgentError | BrowserError):
        raise outcome.error
    if not outcome.turns:
        raise BrowserError(outcome.reason, hint=f"See it with: speccache fetch {task.url}")
    account = outcome.account
    return QuestionSample(
        round=round_number,
        slots=slots,
        guesses=guesses,
        question=task.question,
        exposed_seconds=outcome.shares.exposed_seconds,
        total_seconds=outcome.shares.total_seconds,
        pages=len(outcome.trajectory),
        hits=account.hits,
        joins=account.joins,
        misses=account.misses,
        speculated=account.speculated,
        wasted=account.wasted,
    )
