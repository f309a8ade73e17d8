"""Browsers on other machines: named, connected to, watched, and chosen among."""

__all__: list[str] = []
