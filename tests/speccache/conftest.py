"""What tests of speculation begin with."""

from __future__ import annotations

import pytest

from speccache import Event
from tests.speccache.shop import Shop


@pytest.fixture
async def shop() -> Shop:
    return Shop()


@pytest.fixture
def events() -> list[Event]:
    return []
