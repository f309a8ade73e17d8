"""Traces read again: figures, a timeline as one HTML page, and the Chrome trace format."""

__all__: list[str] = []
