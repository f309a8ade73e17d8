"""A suite of questions as tests: see `evals.conftest`."""

from __future__ import annotations

import pytest

from evals.runs.runner import Runner


@pytest.mark.asyncio(loop_scope="session")
@pytest.mark.timeout(0)
@pytest.mark.filterwarnings("default")
async def test_question(asked: tuple[str, str], runner: Runner) -> None:
    """Fails where the question could not be asked; what was answered is in the report, and may be wrong."""
    record = await runner.record(*asked)
    if record.broken:
        pytest.fail(record.broken, pytrace=False)
