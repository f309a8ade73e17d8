"""The packages as their source says them, without running it."""

from __future__ import annotations

from functools import cache

import griffe

from tests.conventions.sources import ROOT


@cache
def package(name: str) -> griffe.Module:
    """A package, its names resolved."""
    loaded = griffe.load(name, search_paths=[ROOT], resolve_aliases=True)
    assert isinstance(loaded, griffe.Module)
    return loaded
