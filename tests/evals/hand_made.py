"""Records small enough that every figure of theirs can be worked out by hand.

Question `a` has two steps that a guess could serve, question `b` one. With speculation off both wait 6 s for pages;
with it on, `a` has a hit and a join, and `b` a miss.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from evals.runs import Conditions, PageStep, Record, Scores

CONDITIONS = Conditions(suite="hand-made", target="gpt-5-mini")
SIMULATED = replace(CONDITIONS, target="gold", is_target_simulated=True, time_scale=0.2, think_seconds=2.0)


def record(item: str, mode: str, steps: tuple[PageStep, ...], **fields: Any) -> Record:
    """A run of these steps, as many turns as steps, in which each turn took 3 s of thinking."""
    told: dict[str, Any] = {
        "question": f"What is {item}?",
        "expected": "42",
        "answer": "42",
        "status": "answered",
        "scores": Scores(exact=True, contains=True, f1=1.0),
        "kind": "single_source",
        "difficulty": "easy",
        "turns": len(steps),
        "steps": steps,
        "exposed_seconds": sum(step.waited_seconds for step in steps),
        "llm_seconds": 3.0 * len(steps),
        "total_seconds": 3.0 * len(steps) + sum(step.waited_seconds for step in steps),
    }
    return Record(suite="hand-made", item=item, mode=mode, **(told | fields))


def missed(action: str, seconds: float, **fields: Any) -> PageStep:
    """A step that waited for all of its load."""
    return PageStep(action=action, kind="miss", load_seconds=seconds, waited_seconds=seconds, **fields)


def failed(item: str, mode: str) -> Record:
    """A run in which the harness, or the site, broke."""
    return record(item, mode, (), status="error", answer="", reason="The first page could not be read.")


def off(item: str) -> Record:
    """Question `a` or `b` with speculation off."""
    seconds = {"a": (2.0, 3.0, 1.0), "b": (1.0, 5.0)}[item]
    return record(item, "off", tuple(missed(f"visit /{item}{at}", load) for at, load in enumerate(seconds)))


def spec(item: str, **fields: Any) -> Record:
    """Question `a` or `b` with speculation on."""
    return _hit_and_join(**fields) if item == "a" else _miss(**fields)


def _hit_and_join(**fields: Any) -> Record:
    steps = (
        missed("visit /a0", 2.0),
        PageStep(
            action="visit /a1",
            kind="hit",
            load_seconds=3.0,
            waited_seconds=0.0,
            thought_seconds=4.0,
            predictor="rank",
            rank=1,
            named=True,
        ),
        PageStep(
            action="visit /a2",
            kind="join",
            load_seconds=1.5,
            waited_seconds=0.5,
            thought_seconds=1.0,
            predictor="draft",
            rank=2,
            named=True,
        ),
    )
    told = {
        "measured_seconds": 5.5,
        "bound_seconds": 5.5,
        "speculated": 5,
        "wasted": 3,
        "wasted_bytes": 3000,
        "refused": {"off-site": 2, "over-cap": 1},
        "tokens": {"target_in": 100, "target_out": 10, "draft_in": 20, "draft_out": 2},
        "cost_dollars": 0.25,
    }
    return record("a", "spec", steps, **(told | fields))


def _miss(**fields: Any) -> Record:
    steps = (missed("visit /b0", 1.0), missed("visit /b1", 5.0, thought_seconds=3.0, why_missed="not named"))
    told = {
        "measured_seconds": 8.0,
        "bound_seconds": 5.0,
        "speculated": 3,
        "wasted": 3,
        "wasted_bytes": 1000,
        "refused": {"off-site": 1},
        "tokens": {"target_in": 60, "target_out": 6},
        "cost_dollars": 0.5,
    }
    return record("b", "spec", steps, **(told | fields))


def four() -> list[Record]:
    """Both questions in both modes."""
    return [off("a"), spec("a"), off("b"), spec("b")]
