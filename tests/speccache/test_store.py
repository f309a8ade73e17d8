"""The store: an LRU that keeps all three of its bounds."""

from __future__ import annotations

from collections import OrderedDict

import hypothesis.strategies as st
from hypothesis import settings
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from speccache.store import Lifetime, Store

KEYS = st.sampled_from("abcdef")


def test_the_least_recently_used_goes_first() -> None:
    store: Store[int] = Store(max_entries=2)
    store.put("a", 1)
    store.put("b", 2)
    store.get("a")
    store.put("c", 3)
    assert "b" not in store
    assert repr(store) == f"<Store entries=2/2 bytes=0/{64 * 1024 * 1024}>"


def test_an_entry_too_large_for_the_store_is_not_kept() -> None:
    store: Store[int] = Store(max_bytes=10)
    store.put("a", 1, size_bytes=10)
    assert not store.put("a", 2, size_bytes=11)
    assert "a" not in store
    assert store.size_bytes == 0


def test_an_entry_dies_of_age() -> None:
    now = [0.0]
    store: Store[int] = Store(max_age_seconds=10, clock=lambda: now[0])
    store.put("long", 1, lifetime=Lifetime(max_age_seconds=99))
    store.put("short", 2, lifetime=Lifetime(max_age_seconds=3))
    assert not store.put("never", 3, lifetime=Lifetime(max_age_seconds=0))
    now[0] = 3.0
    assert store.get("short") is None
    entry = store.get("long")
    assert entry is not None
    assert entry.expires_seconds == 10.0
    now[0] = 10.0
    assert store.get("long") is None
    assert len(store) == 0


class Model(RuleBasedStateMachine):
    """The store against a plain dict that is trimmed by hand."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0
        self.store: Store[int] = Store(max_entries=3, max_bytes=10, max_age_seconds=5, clock=lambda: self.now)
        self.model: OrderedDict[str, tuple[int, int, float]] = OrderedDict()

    def _expire(self, key: str) -> None:
        if key in self.model and self.now >= self.model[key][2]:
            del self.model[key]

    @rule(key=KEYS, value=st.integers(), size=st.integers(0, 12), age=st.none() | st.floats(-1, 9))
    def put(self, key: str, value: int, size: int, age: float | None) -> None:
        kept = self.store.put(key, value, size_bytes=size, lifetime=Lifetime(max_age_seconds=age))
        self.model.pop(key, None)
        limit = 5.0 if age is None else min(age, 5.0)
        assert kept == (size <= 10 and limit > 0)
        if kept:
            self.model[key] = (value, size, self.now + limit)
            while len(self.model) > 3 or sum(size for _, size, _ in self.model.values()) > 10:
                self.model.popitem(last=False)

    @rule(key=KEYS)
    def get(self, key: str) -> None:
        self._expire(key)
        entry = self.store.get(key)
        if key in self.model:
            self.model.move_to_end(key)
            assert entry is not None
            assert entry.value == self.model[key][0]
        else:
            assert entry is None

    @rule(key=KEYS)
    def discard(self, key: str) -> None:
        self.store.discard(key)
        self.model.pop(key, None)

    @rule(seconds=st.floats(0, 4))
    def wait(self, seconds: float) -> None:
        self.now += seconds

    @invariant()
    def bounds_hold(self) -> None:
        assert len(self.store) == len(self.model) <= 3
        assert self.store.size_bytes == sum(size for _, size, _ in self.model.values()) <= 10


TestModel = Model.TestCase
TestModel.settings = settings(deadline=None, max_examples=60, stateful_step_count=30)
