"""Public pages kept in a Redis or Valkey server, for several workers at once. Needs the extra `redis`."""

__all__: list[str] = []
