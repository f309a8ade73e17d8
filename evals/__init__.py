"""Measuring: the bundled demo site with its questions, and the demo that runs on it."""

__all__: list[str] = []
