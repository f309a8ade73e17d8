from __future__ import annotations

from statistics import fmean

import pytest

from agent.target import Answer, Decision
from agent.targets.frontier import Trajectory
from agent.targets.pacing import PACES, PacedTarget
from tests.agent.pages import page, walk

TURNS = 40


class Ready:
    """Decides at once."""

    name = "ready"

    async def decide(self, question: str, trajectory: Trajectory, /) -> Decision:
        return Decision(action=Answer(text=f"{question} {len(trajectory)}"))

    async def conclude(self, question: str, trajectory: Trajectory, /) -> Decision:
        return await self.decide(question, trajectory)


async def pauses(monkeypatch: pytest.MonkeyPatch, target: PacedTarget) -> list[float]:
    """How long the target rests in each of many turns."""
    rests: list[float] = []

    async def rest(seconds: float) -> None:
        rests.append(seconds)

    monkeypatch.setattr("agent.targets.pacing.asyncio.sleep", rest)
    monkeypatch.setattr("agent.targets.pacing.time.monotonic", lambda: 0.0)
    for turns in range(1, TURNS + 1):
        decision = await target.decide("Who?", walk(*[page()] * turns))
        assert decision.action == Answer(text=f"Who? {turns}")
    monkeypatch.undo()
    return rests


@pytest.mark.parametrize(("model", "mean_seconds"), [("o4-mini", 10.0), ("gpt-5-mini", 19.2)])
def test_the_published_means_are_those_of_the_figures(model: str, mean_seconds: float) -> None:
    assert len(PACES[model]) == 10
    assert fmean(PACES[model]) == pytest.approx(mean_seconds, abs=0.05)


@pytest.mark.parametrize("model", PACES)
async def test_turns_are_spread_as_the_models_figures_are(model: str, monkeypatch: pytest.MonkeyPatch) -> None:
    rests = await pauses(monkeypatch, PacedTarget(Ready(), think_seconds=2.0, pace=model))

    expected = [2.0 * seconds / fmean(PACES[model]) for seconds in PACES[model]]
    assert {round(rest, 6) for rest in rests} <= {round(seconds, 6) for seconds in expected}
    assert len(set(rests)) > 5


async def test_a_turn_takes_equally_long_in_every_run(monkeypatch: pytest.MonkeyPatch) -> None:
    first, again, other = [
        await pauses(monkeypatch, PacedTarget(Ready(), think_seconds=1.0, seed=seed)) for seed in (0, 0, 1)
    ]
    assert first == again != other


def test_a_model_without_published_times_is_refused() -> None:
    with pytest.raises(KeyError, match="gpt-2"):
        PacedTarget(Ready(), think_seconds=1.0, pace="gpt-2")
