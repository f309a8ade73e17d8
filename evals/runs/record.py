"""What is kept of one question asked in one mode: a line of `runs.jsonl`.

Invariant: a record is complete by itself. Reports are made of records alone, so that a run can be resumed, and judged
again, without asking anything again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Literal, Self

StepKind = Literal["hit", "join", "miss", "direct"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PageStep:
    """One action of the target, and how it came to its observation.

    Attributes:
        action: The action, with the address of the site left out, so that it does not depend on a port.
        kind: What speculation had made of it; `direct` is never run ahead, since it has effects or costs nothing.
        load_seconds: How long its page took to load, whoever waited; 0 where it was visited before.
        waited_seconds: How long the target waited: its exposed web time.
        thought_seconds: How long the target had thought before it; 0 for the first.
        predictor: Whose guess had it loaded; empty where nobody's had.
        rank: The place of the action among the guesses of it that its turn took up, from 1; 0: it was none of them. A
            guess one level deeper, of what comes after, has no place.
        named: Whether it was among the guesses taken up in this turn or an earlier one, loaded in time or not: what
            the published code counts as a hit (arXiv 2510.16276).
        why_missed: For a miss, in a short stable phrase, why it was not loaded ahead; empty otherwise.
    """

    action: str
    kind: StepKind
    load_seconds: float
    waited_seconds: float
    thought_seconds: float = 0.0
    predictor: str = ""
    rank: int = 0
    named: bool = False
    why_missed: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scores:
    """What an answer is worth; None: that was not judged.

    Attributes:
        exact: Whether it is the expected answer, after both were normalised.
        contains: Whether it holds the expected answer, as a quotation does, after both were normalised.
        f1: Harmonic mean of precision and recall of its words, 0 to 1.
        judged: What the model that judges said.
        supported: Whether it stands on a page that was read.
        right_page: Whether the page with the answer was read; None where that is not known.
    """

    exact: bool = False
    contains: bool = False
    f1: float = 0.0
    judged: bool | None = None
    supported: bool = False
    right_page: bool | None = None

    @property
    def correct(self) -> bool:
        """Whether it counts as right: as the judge says, else by holding the expected answer."""
        return self.contains if self.judged is None else self.judged


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """One question asked in one mode.

    Attributes:
        suite: The suite's name.
        item: The question's id.
        mode: How pages were loaded ahead: `off`, `lru`, `random`, `rank`, `draft`, `spec` or `oracle`.
        question: What was asked.
        expected: The expected answer.
        lang: The question's language.
        kind: Its kind, such as `multi_source`.
        difficulty: Its difficulty; may be empty.
        domain: Its domain; may be empty.
        order: Which of the question's modes it was, from 1, in the order they were run.
        start: Which start of the run it was asked in, from 1: modes asked in different ones were not run side by side.
        status: How the run ended: `answered`, `gave_up`, `limit` or `error`.
        reason: Why it was not answered; empty where it was.
        broken: Why it could not be asked at all, such as a browser or a model that cannot be reached; empty where it
            could. It says nothing about the answer, and is tried again when the run is resumed.
        answer: The answer.
        sources: Where the target found it, without the site's address.
        scores: What the answer is worth.
        turns: Decisions of the target.
        steps: Its actions on the web, the first page included.
        total_seconds: From the question to the answer.
        llm_seconds: The target deciding.
        exposed_seconds: Waiting for pages.
        hidden_seconds: Pages loading behind the target's thinking.
        draft_seconds: The draft model guessing, beside the target.
        measured_seconds: Thinking and waiting of the turns that a guess could serve.
        bound_seconds: The same with perfect overlap; see `speccache.account`.
        speculated: Pages loaded ahead.
        wasted: Those that were not used.
        wasted_bytes: What these occupied.
        refused: Guesses and loads refused, by reason.
        tokens: Tokens in and out of target and draft: `target_in`, `target_out`, `draft_in`, `draft_out`. Of requests
            that were given up (late ones, and those that lost to another) as an estimate, which the cost holds, too.
        cost_dollars: What the model calls cost; None where a price is not known.
    """

    suite: str
    item: str
    mode: str
    question: str
    expected: str
    lang: str = "en"
    kind: str = ""
    difficulty: str = ""
    domain: str = ""
    order: int = 0
    start: int = 1
    status: str
    reason: str = ""
    broken: str = ""
    answer: str = ""
    sources: tuple[str, ...] = ()
    scores: Scores = field(default_factory=Scores)
    turns: int = 0
    steps: tuple[PageStep, ...] = ()
    total_seconds: float = 0.0
    llm_seconds: float = 0.0
    exposed_seconds: float = 0.0
    hidden_seconds: float = 0.0
    draft_seconds: float = 0.0
    measured_seconds: float = 0.0
    bound_seconds: float = 0.0
    speculated: int = 0
    wasted: int = 0
    wasted_bytes: int = 0
    refused: Mapping[str, int] = field(default_factory=dict)
    tokens: Mapping[str, int] = field(default_factory=dict)
    cost_dollars: float | None = None

    @property
    def trajectory(self) -> tuple[str, ...]:
        """The actions and the answer: what must not differ between modes."""
        return (*(step.action for step in self.steps), f"answer {self.answer!r}")

    def as_json(self) -> dict[str, Any]:
        """Return the record as it stands in its line."""
        return asdict(self)

    @classmethod
    def parse(cls, raw: Mapping[str, Any]) -> Self:
        """Build a record from its line.

        Raises:
            KeyError, TypeError, AttributeError: It is none.
        """
        known = {each.name for each in fields(cls)}
        plain = {name: value for name, value in raw.items() if name in known}
        plain["steps"] = tuple(PageStep(**step) for step in raw["steps"])
        plain["scores"] = Scores(**raw["scores"])
        plain["sources"] = tuple(raw["sources"])
        return cls(**plain)
