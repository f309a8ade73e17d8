"""The pause of the garbage collector."""

from __future__ import annotations

import gc

from browser.collection import CollectionPause


def test_the_collector_is_off_until_the_last_holder_has_finished() -> None:
    pause = CollectionPause()
    first, second = pause.held(), pause.held()
    with first:
        second.__enter__()
        assert not gc.isenabled()
    assert not gc.isenabled()
    second.__exit__(None, None, None)
    assert gc.isenabled()


def test_a_collector_that_was_off_stays_off() -> None:
    gc.disable()
    try:
        with CollectionPause().held():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()
