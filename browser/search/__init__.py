"""Search engines: how each is asked, and how what it answers becomes a page of results like any other."""

__all__: list[str] = []
