"""What is asked of the interpreter while pages are rendered, and that it is taken back."""

from __future__ import annotations

import gc
import sys

from browser.reading.loop_courtesy import LoopCourtesy


def test_it_lasts_until_the_last_holder_has_finished() -> None:
    usual_seconds = sys.getswitchinterval()
    courtesy = LoopCourtesy()
    first, second = courtesy.held(), courtesy.held()
    with first:
        second.__enter__()
        assert not gc.isenabled()
        assert sys.getswitchinterval() < usual_seconds
    assert not gc.isenabled()
    assert sys.getswitchinterval() < usual_seconds
    second.__exit__(None, None, None)
    assert gc.isenabled()
    assert sys.getswitchinterval() == usual_seconds


def test_a_collector_that_was_off_stays_off() -> None:
    gc.disable()
    try:
        with LoopCourtesy().held():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()
