"""What a person sees of a run as it goes on."""

from __future__ import annotations

import io

from rich.console import Console

from evals.runs.progress_bar import ProgressBar
from evals.runs.runner import Standing
from tests.evals.hand_made import spec


def test_each_run_is_one_line_whatever_its_answer_holds() -> None:
    screen = io.StringIO()
    answer = "in [bold]1959\n\x1b[31mred\ud83d"
    with ProgressBar(Console(file=screen, width=200)) as bar:
        bar(Standing(done=0, total=2))
        bar(Standing(done=1, total=2, latest=spec("a", answer=answer)))
    (line,) = screen.getvalue().splitlines()
    assert line.startswith("   1 of 2  right  spec")
    assert line.endswith("a: in [bold]1959 [31mred")
