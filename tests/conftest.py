"""What holds for every test file: it leaves no browser behind."""

from __future__ import annotations

import os
from collections.abc import Iterator

import psutil
import pytest

from tests.processes import browsers_of_file, started_by

_ENDING_SECONDS = 5.0


@pytest.fixture(scope="module", autouse=True)
def no_browser_left(request: pytest.FixtureRequest) -> Iterator[None]:
    """Fail a file that leaves a Chromium behind; it is killed, so that the files after it do not meet it."""
    with pytest.MonkeyPatch.context() as patch:
        mark = f"{os.getpid()} {request.node.nodeid}"
        patch.setenv("TEST_FILE", mark)
        yield
    left = browsers_of_file(mark)
    _, alive = psutil.wait_procs(left, timeout=_ENDING_SECONDS)
    tests = [started_by(process) for process in alive]
    for process in alive:
        process.kill()
    assert tests == [], "each has started a browser that outlives its file"
