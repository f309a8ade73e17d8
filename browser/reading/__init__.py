"""What a page says: scripts that wait for it and read it, limits, and what went wrong."""

__all__: list[str] = []
