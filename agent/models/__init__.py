"""Chat models behind OpenAI-compatible endpoints, and what tames their latency."""

__all__: list[str] = []
