"""Loading ahead: what may be, how it is kept from doing more than reading, and what may be kept."""

__all__: list[str] = []
