"""Chromium itself: found, installed, started, watched, and never left behind."""

__all__: list[str] = []
