"""Contexts with a page: who gets one next, how many there are, and for how long each serves."""

__all__: list[str] = []
