"""Files that pages give: kept apart, cut at a size, and read where they hold text."""

__all__: list[str] = []
