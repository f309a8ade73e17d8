"""Who a run is to the sites: cookies, storage, profile, headers, and what the browser says of itself."""

__all__: list[str] = []
