"""What is reported at the end, and what it is told that cannot be."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import typer
from rich.console import Console

from agent.errors import ConfigurationError
from evals.runs.evaluation import PAGE, REPORT, Evaluation
from evals.runs.request import Request
from tests.evals.hand_made import failed, four

REQUEST = Request(suite="institute", limit=1, given={"target": "gold"})


def evaluation(folder: Path) -> Evaluation:
    done = Evaluation(REQUEST, out=folder)
    done.records = four()
    return done


def test_a_report_that_cannot_be_printed_is_in_the_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    full = Path("/dev/full").open("w", encoding="utf-8")  # noqa: SIM115 - closing it fails as writing does
    with pytest.raises(typer.Exit) as ended:
        evaluation(tmp_path).publish(Console(file=full))
    with pytest.raises(OSError, match="No space left"):
        full.close()
    assert ended.value.exit_code == 2
    assert "the report cannot be printed: No space left on device" in capsys.readouterr().err
    assert json.loads((tmp_path / REPORT).read_text(encoding="utf-8"))["modes"]
    assert (tmp_path / PAGE).exists()


def test_a_report_that_cannot_be_written_is_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(typer.Exit) as ended:
        evaluation(tmp_path / "gone").publish()
    told = capsys.readouterr()
    assert ended.value.exit_code == 2
    assert "Figures are over 2 questions" in told.out
    assert "cannot be written: No such file or directory" in told.err
    assert "hint:" in told.err


def test_a_suite_in_which_every_question_failed_has_no_figures(tmp_path: Path) -> None:
    done = evaluation(tmp_path)
    assert done.has_figures
    done.records = [failed("a", "off"), failed("a", "spec")]
    assert not done.has_figures


@pytest.mark.parametrize(
    ("changed", "told"),
    [({"time_scale": float("inf")}, "--time-scale inf is no factor"), ({"suite": ""}, "there is no suite ''")],
)
def test_what_no_run_can_be_made_of_is_told_before_one(changed: dict[str, object], told: str) -> None:
    request = Request(**{"suite": "institute", "given": {"target": "gold"}, **changed})  # type: ignore[arg-type]
    with pytest.raises(ConfigurationError, match=told) as caught:
        request.plan()
    assert caught.value.hint
