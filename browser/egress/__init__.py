"""The only way out of the browsers: a proxy that dials what the address rules approve."""

__all__: list[str] = []
