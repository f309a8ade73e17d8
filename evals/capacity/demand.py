"""What one question takes, from the records of a run.

Invariant: means over questions that were asked in one mode; nothing is estimated but model calls a turn, which records
do not count and a person may set.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

from evals.runs.errors import RunsUnusable
from evals.runs.journal import RUNS
from evals.runs.record import Record

CALLS_A_TURN = 2.0
"""A decision, and the critic after it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Demand:
    """What one question takes, on average, where nothing holds it up.

    Attributes:
        seconds: From the question to the answer.
        llm_seconds: The part in which the model thinks.
        exposed_seconds: The part in which it waits for pages.
        turns: Decisions.
        loads: Pages loaded, ahead or not.
        model_requests: Requests to the model's provider.
        model_tokens: Tokens in and out.
    """

    seconds: float
    llm_seconds: float
    exposed_seconds: float
    turns: float
    loads: float
    model_requests: float
    model_tokens: float


def demand_of(
    records: Iterable[Record],
    *,
    mode: str = "spec",
    calls_a_turn: float = CALLS_A_TURN,
    tokens_a_turn: float | None = None,
) -> Demand:
    """Return what a question takes.

    Args:
        records: Those of a run.
        mode: Whose records count.
        calls_a_turn: Requests to the model in a turn.
        tokens_a_turn: Tokens of a turn, in place of what was counted, which is nothing for a target that is no model.

    Raises:
        RunsUnusable: No question was asked in that mode.
    """
    asked = [record for record in records if record.mode == mode and not record.broken and record.turns]
    if not asked:
        raise RunsUnusable(f"no question was asked in the mode {mode}", hint="Name a mode of that run with --mode.")

    def mean(of: Callable[[Record], float]) -> float:
        return fmean(map(of, asked))

    turns = mean(lambda record: record.turns)
    counted = mean(lambda record: sum(record.tokens.values()))
    return Demand(
        seconds=mean(lambda record: record.total_seconds),
        llm_seconds=mean(lambda record: record.llm_seconds),
        exposed_seconds=mean(lambda record: record.exposed_seconds),
        turns=turns,
        loads=mean(lambda record: record.speculated + sum(step.kind == "miss" for step in record.steps)),
        model_requests=turns * calls_a_turn,
        model_tokens=counted if tokens_a_turn is None else turns * tokens_a_turn,
    )


def read_demand(
    folder: Path, *, mode: str = "spec", calls_a_turn: float = CALLS_A_TURN, tokens_a_turn: float | None = None
) -> Demand:
    """Return what a question took in the run whose results are in a folder; see `demand_of`.

    Raises:
        RunsUnusable: There are no such results.
    """
    path = folder / RUNS
    try:
        # Bytes: texts may hold other line separators of Unicode as they are.
        lines = path.read_bytes().splitlines(keepends=True)
        # A run that goes on may be writing its last line.
        records = [Record.parse(json.loads(line)) for line in lines if line.endswith(b"\n")]
    except OSError as error:
        raise RunsUnusable(f"{path} cannot be read: {error.strerror}", hint="Name a run's folder.") from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise RunsUnusable(f"{path} holds no records of a run: {error!r}", hint="Name a run's folder.") from error
    return demand_of(records, mode=mode, calls_a_turn=calls_a_turn, tokens_a_turn=tokens_a_turn)
