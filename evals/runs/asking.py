"""Asks one question in one mode, and makes a record of it.

Invariant: whatever happens gives a record. What is the harness' fault and not the answer's is marked in it.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import re
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from agent.errors import AgentError
from agent.events import RunListener
from agent.mind import Mind, open_mind
from agent.models.call_account import CallAccount, RoleAccount
from agent.models.registry import DRAFT, TARGET, Models
from agent.outcome import Outcome
from agent.predictors.embedding import Embedder
from agent.settings import Settings
from agent.targets.pacing import PacedTarget
from agent.telemetry.watch import Watch
from agent.trace import Trace
from agent.wiring import answer
from browser.action import Action, Visit
from browser.errors import BrowserError
from browser.pool import BrowserPool
from evals.runs.mode import Mode, mind_of, settings_of
from evals.runs.plan import Plan
from evals.runs.record import PageStep, Record
from evals.runs.step_log import StepLog
from evals.scoring import Judge, score
from evals.suites.item import Item
from evals.targets import GoldTarget

if TYPE_CHECKING:
    from browser.shared_cache.link import CacheLink

logger = logging.getLogger(__name__)

_UNFIT = re.compile(r"[^\w.-]+")
_NAME_BYTES = 200  # file systems bear 255, with mode, digest and ending


@dataclass(frozen=True, slots=True, kw_only=True)
class Asker:
    """Asks questions of a plan.

    Attributes:
        plan: The plan.
        pool: Where pages are loaded, in all modes.
        addresses: Where the suite's sites are.
        models: Remember how models behave, over all questions.
        embedder: Remembers the vectors of link texts, over all questions.
        judge: Judges answers; None: nobody does.
        traces: The folder for traces; None: none are kept.
        link: The connection to the shared cache, over all questions; None: there is none.
        watch: Who watches runs from outside.
    """

    plan: Plan
    pool: BrowserPool
    addresses: Mapping[str, str]
    models: Models
    embedder: Embedder
    judge: Judge | None = None
    traces: Path | None = None
    link: CacheLink | None = None
    watch: Watch = field(default_factory=Watch)

    async def ask(self, item: Item, mode: Mode, *, order: int, known_way: Sequence[Action] = ()) -> Record:
        """Ask a question in a mode.

        Args:
            item: The question.
            mode: The mode.
            order: Which of the question's modes it is, from 1.
            known_way: What the target does, the addresses without that of the site; only the oracle is told.
        """
        log = StepLog()
        record = blank_record(self.plan.suite.name, item, mode, order=order)
        try:
            async with asyncio.timeout(self.plan.item_seconds):
                outcome = await self._run(item, mode, log, known_way)
            return await self._complete(record, item, outcome, log)
        except TimeoutError:
            return replace(record, status="error", broken=f"not done within {self.plan.item_seconds:g} s")
        except Exception as error:
            # One of the three borders where this is caught: a question must not end all the others.
            known = isinstance(error, AgentError | BrowserError)
            if not known:
                logger.exception("%s, mode %s: a fault in this program", item.id, mode)
            return replace(record, status="error", broken=str(error) if known else f"{type(error).__name__}: {error}")

    def _base(self, item: Item) -> str:
        return self.addresses[item.site] if item.site else ""

    async def _run(self, item: Item, mode: Mode, log: StepLog, known_way: Sequence[Action]) -> Outcome:
        base = self._base(item)
        settings = self._settings(mode, base)
        url = base + item.url if item.url.startswith("/") else item.url
        async with AsyncExitStack() as stack:
            listeners: list[RunListener] = [log, stack.enter_context(self.watch.follow(question=item.id, mode=mode))]
            if self.traces is not None:
                listeners.append(stack.enter_context(Trace(self.traces / trace_name(item.id, mode))))
            mind = await stack.enter_async_context(
                open_mind(settings, item.question, embedder=self.embedder, models=self.models, target=self._gold(item))
            )
            mind = mind_of(mode, self._paced(mind), [_whole(base, action) for action in known_way])
            return await answer(
                item.question,
                url,
                mind=mind,
                settings=settings,
                pool=self.pool,
                listeners=listeners,
                link=self.link,
            )

    def _settings(self, mode: Mode, base: str) -> Settings:
        settings = settings_of(mode, self.plan.settings)
        engine = self.plan.suite.search
        if engine and settings.search is None:
            settings = settings.model_copy(update={"search": engine.replace("{site}", base)})
        return settings

    def _gold(self, item: Item) -> GoldTarget | None:
        if not self.plan.is_gold:
            return None
        return GoldTarget(item, address=self._base(item), error_rate=self.plan.error_rate, seed=self.plan.seed)

    def _paced(self, mind: Mind) -> Mind:
        pace = self.plan.pace
        if not pace.think_seconds:
            return mind
        target = PacedTarget(mind.target, think_seconds=pace.think_seconds, pace=pace.model or "o4-mini")
        return replace(mind, target=target)

    async def _complete(self, record: Record, item: Item, outcome: Outcome, log: StepLog) -> Record:
        base = self._base(item)
        shares, account = outcome.shares, outcome.account
        return replace(
            record,
            status=outcome.status,
            reason=outcome.reason,
            broken=self._fault(outcome),
            answer=outcome.answer,
            sources=tuple(_below(base, source) for source in outcome.sources),
            scores=await score(item, outcome, base=base, judge=self.judge),
            turns=outcome.turns,
            steps=_steps(outcome, log.steps, base),
            total_seconds=shares.total_seconds,
            llm_seconds=shares.target_seconds,
            exposed_seconds=shares.exposed_seconds,
            hidden_seconds=shares.hidden_seconds,
            draft_seconds=shares.draft_seconds,
            measured_seconds=account.measured_seconds,
            bound_seconds=account.bound_seconds,
            speculated=account.speculated,
            wasted=account.wasted,
            wasted_bytes=account.wasted_bytes,
            refused=dict(account.refusals),
            tokens=tokens_of(outcome.requests),
            cost_dollars=outcome.requests.cost_usd,
        )

    def _fault(self, outcome: Outcome) -> str:
        """Say why the harness is to blame for an outcome; on the live web a site that is down is what it is."""
        if outcome.error is not None:
            return str(outcome.error)
        return outcome.reason if outcome.status == "error" and self.plan.suite.serve is not None else ""


def blank_record(suite: str, item: Item, mode: Mode, *, order: int) -> Record:
    """Return the record of a question before it was asked."""
    return Record(
        suite=suite,
        item=item.id,
        mode=mode,
        question=item.question,
        expected=item.answer,
        lang=item.lang,
        kind=item.kind,
        difficulty=item.difficulty,
        domain=item.domain,
        order=order,
        status="error",
    )


def trace_name(item: str, mode: str) -> str:
    """Name the file of a question's trace in a mode; a name that could be another question's has a digest of the id."""
    name = _UNFIT.sub("-", item)
    if name != item or len(name.encode()) > _NAME_BYTES:
        digest = hashlib.sha256(item.encode(errors="surrogatepass")).hexdigest()[:8]
        name = f"{name.encode()[:_NAME_BYTES].decode(errors='ignore')}~{digest}"
    return f"{name}-{mode}.jsonl"


def _steps(outcome: Outcome, steps: Sequence[PageStep], base: str) -> tuple[PageStep, ...]:
    """Name the steps by where they lead; a link's number, which a target may give, says that on its own page only."""
    named = []
    for taken, step in zip(outcome.trajectory, steps, strict=False):
        address = taken.observation.document.requested_url
        action = f"visit {_below(base, address)}" if isinstance(taken.action, Visit) and address else step.action
        named.append(replace(step, action=action))
    return tuple(named)


def tokens_of(calls: CallAccount) -> dict[str, int]:
    """Count the tokens of all requests: those of a reply that was no use too, and of a given-up one, as estimated."""
    counted: dict[str, int] = {}
    for role in (TARGET, DRAFT):
        account = calls.roles.get(role, RoleAccount())
        usage = account.usage + account.dropped_usage
        counted |= {f"{role}_in": usage.input_tokens, f"{role}_out": usage.output_tokens}
    return counted


def _whole(base: str, action: Action) -> Action:
    return Visit(base + action.target) if isinstance(action, Visit) and action.target.startswith("/") else action


def _below(base: str, address: str) -> str:
    return address.removeprefix(base) if base else address
