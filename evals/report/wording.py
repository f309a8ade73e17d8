"""How figures are written for people, the same on the console and on the page.

Invariant: what is not known is a dash, never a zero.
"""

from __future__ import annotations

from collections.abc import Mapping

from evals.report.paired import Pairing
from evals.runs.conditions import Conditions

UNKNOWN = "-"


def percent(share: float | None) -> str:
    """Write a share."""
    return UNKNOWN if share is None else f"{share:.0%}"


def seconds(figure: float | None) -> str:
    """Write seconds, short ones with more digits."""
    if figure is None:
        return UNKNOWN
    return f"{figure:.0f}" if figure >= 100 else f"{figure:.1f}" if figure >= 10 else f"{figure:.2f}"


def times(ratio: float | None) -> str:
    """Write how many times less."""
    return UNKNOWN if ratio is None else f"{ratio:.0f}x" if ratio >= 100 else f"{ratio:.1f}x"


def span(interval: tuple[float, float] | None) -> str:
    """Write an interval of such ratios."""
    return UNKNOWN if interval is None else " to ".join(times(end).removesuffix("x") for end in interval)


def dollars(cost: float | None) -> str:
    """Write what model calls cost."""
    return UNKNOWN if cost is None else f"${cost:.4f}" if cost < 1 else f"${cost:,.2f}"


def counts(counted: Mapping[str, int]) -> str:
    """Write counts by name."""
    return ", ".join(f"{name} {count:,}" for name, count in counted.items())


def questions(count: int) -> str:
    """Write a number of questions."""
    return f"{count:,} {'question' if count == 1 else 'questions'}"


def pairing_notes(pairing: Pairing) -> tuple[str, ...]:
    """Say what the figures are over, and what they are not over."""
    notes = [f"Figures are over {questions(len(pairing.items))}, the same in every mode."]
    if pairing.left_out:
        notes.append(f"Left out: {questions(len(pairing.left_out))} ({counts(pairing.reasons)}).")
    if pairing.unusable:
        notes.append(f"Not compared, since every question ended in an error: {', '.join(pairing.unusable)}.")
    if pairing.apart:
        notes.append(
            f"Not side by side with {next(iter(pairing.by_mode))}, but in another start of the run, when machine or web"
            f" may have been quicker or slower: {counts(pairing.apart)} of {questions(len(pairing.items))}."
        )
    return tuple(notes)


def setting(conditions: Conditions) -> str:
    """Say in one line what was run with what."""
    said = [f"target {conditions.target}{' (simulated)' if conditions.is_target_simulated else ''}"]
    said += [f"draft {conditions.draft}"] if conditions.draft else []
    said.append("live web" if conditions.time_scale is None else f"time scale {conditions.time_scale:g} (simulated)")
    if conditions.think_seconds:
        said.append(f"thinking at least {conditions.think_seconds:g} s a turn (simulated)")
    said.append(f"pool {conditions.pool_size}, {conditions.max_guesses} guesses a turn")
    said.append(f"at most {conditions.max_turns} turns, {conditions.at_once} at once, seed {conditions.seed}")
    if conditions.engine != "local":
        said.append(f"on a {conditions.engine} cluster, {conditions.workers or 'as many'} workers")
    said += [f"judge {conditions.judge}"] if conditions.judge else []
    said += [f"search {conditions.search}"] if conditions.search else []
    said += [f"{name} {value}" for name, value in conditions.settings.items()]
    return " · ".join(said)
