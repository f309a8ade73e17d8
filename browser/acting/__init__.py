"""Doing something on a page: elements found again, gestures, and what came of them."""

__all__: list[str] = []
