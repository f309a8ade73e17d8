"""An API latency study: identical calls, spaced in time, to each model and service tier in turn.

Invariant: one call is one request, with nothing tried again behind it; and a study that is broken off and started anew
makes the calls that are missing, no more.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from agent.errors import ModelError
from agent.models.reply import Message
from agent.probe.record import Record, RecordFile

if TYPE_CHECKING:
    from agent.models.model import ChatModel

PROMPT = "Tell a story about a lighthouse, in at least 256 words."
"""Long enough for the reply to reach its limit, so that all calls ask for the same work (arXiv 2510.16276)."""
MAX_TOKENS = 256

Progress = Callable[[Record, int], None]
"""Called after each call with its record and how many calls are still to be made."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """What is studied.

    Attributes:
        label: The model's name, with the provider's where it has one.
        tier: The service tier it is asked for.
        model: Calls it; it stays its owner's.
    """

    label: str
    tier: str
    model: ChatModel


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """How a study is made.

    Attributes:
        calls: Calls to each subject, those of earlier runs included.
        every_seconds: From the beginning of one round (a call to each subject) to that of the next.
        place: Where the calls are made from, in the user's words.
    """

    calls: int
    every_seconds: float
    place: str = ""


class Study:
    """Makes the calls that a plan still needs, and writes each down.

    Args:
        subjects: What is studied.
        plan: How.
        file: Where calls are written down; what is in it counts.
        sleep: Waits for so many seconds.
        clock: Tells the time, in seconds.
        today: Tells the date and time of day.
    """

    def __init__(
        self,
        subjects: Sequence[Subject],
        plan: Plan,
        file: RecordFile,
        *,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        clock: Callable[[], float] = time.monotonic,
        today: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._subjects = subjects
        self._plan = plan
        self._file = file
        self._sleep = sleep
        self._clock = clock
        self._today = today

    async def run(self, progress: Progress = lambda *_: None) -> None:
        """Make the missing calls, round by round; the order within a round changes, so that no subject is always first.

        Cancellation: the call under way is not written down; all before it are.

        Raises:
            ConfigurationError: The file cannot be read or written, or holds something else.
        """
        before = self._file.read()
        self._file.mend()
        made = Counter(record.series for record in before)
        missing = {subject: self._plan.calls - made[self._record(subject).series] for subject in self._subjects}
        wait_seconds = self._still_to_wait(before)
        for number in range(max(missing.values(), default=0)):
            await self._sleep(wait_seconds)
            started_seconds = self._clock()
            for subject in self._round(number):
                if missing[subject] > 0:
                    record = await self._call(subject)
                    self._file.append(record)
                    missing[subject] -= 1
                    progress(record, sum(left for left in missing.values() if left > 0))
            wait_seconds = max(0.0, self._plan.every_seconds - (self._clock() - started_seconds))

    def _round(self, number: int) -> list[Subject]:
        first = number % len(self._subjects)
        return [*self._subjects[first:], *self._subjects[:first]]

    def _still_to_wait(self, before: Sequence[Record]) -> float:
        """Return how long the last round of an earlier run is still to be kept apart from."""
        places = {self._record(subject).series for subject in self._subjects}
        last = max((record.at for record in before if record.series in places), default=None)
        if last is None:
            return 0.0
        passed_seconds = (self._today() - datetime.fromisoformat(last)).total_seconds()
        return max(0.0, self._plan.every_seconds - passed_seconds)

    def _record(self, subject: Subject, **measured: object) -> Record:
        facts: dict[str, object] = {"at": self._today().isoformat(timespec="milliseconds"), "seconds": 0.0, **measured}
        return Record(
            model=subject.label,
            tier=subject.tier,
            place=self._plan.place,
            endpoint=subject.model.endpoint,
            **facts,  # type: ignore[arg-type]
        )

    async def _call(self, subject: Subject) -> Record:
        at, started_seconds = self._today().isoformat(timespec="milliseconds"), self._clock()
        first_seconds = None
        try:
            async with subject.model.stream([Message(role="user", content=PROMPT)]) as stream:
                first_seconds = self._clock() - started_seconds
                async for _ in stream:
                    pass
                usage = stream.reply.usage
        except ModelError as error:
            return self._record(subject, at=at, seconds=self._clock() - started_seconds, error=str(error))
        return self._record(
            subject,
            at=at,
            seconds=self._clock() - started_seconds,
            first_token_seconds=first_seconds,
            input_tokens=usage.input_tokens,
            output_tokens=usage.output_tokens,
        )
