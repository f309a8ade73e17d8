"""API latency studies: identical calls, spaced in time, and what they say."""

__all__: list[str] = []
