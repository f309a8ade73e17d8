"""What the client is sent as JSON.

Invariant: a page's listings and tables are not in its own payload; each is a collection that the client fetches after
it, as single-page sites do.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any
from urllib.parse import urlencode

from evals.site.page import Block, Frame, Listing, Page, Table


def frame_payload(frame: Frame) -> dict[str, Any]:
    """Return what stands around every page."""
    return asdict(frame)


def page_payload(page: Page) -> dict[str, Any]:
    """Return a page, its collections replaced by the addresses they are fetched from."""
    payload = asdict(page)
    numbers = {id(block): number for number, block in enumerate(_collections(page))}
    payload["blocks"] = [
        {"kind": "collection", "source": _source(page.path, numbers[id(block)])}
        if id(block) in numbers
        else asdict(block)
        for block in page.blocks
    ]
    return payload


def collection_payload(page: Page, number: int) -> dict[str, Any] | None:
    """Return one of a page's collections; None where it has no such one."""
    collections = _collections(page)
    return asdict(collections[number]) if 0 <= number < len(collections) else None


def has_collections(page: Page) -> bool:
    """Whether the client must fetch more than the page itself."""
    return bool(_collections(page))


def _collections(page: Page) -> list[Block]:
    return [block for block in page.blocks if isinstance(block, Listing | Table)]


def _source(path: str, number: int) -> str:
    document, _, route = path.partition("#")
    query = f"?{urlencode({'route': route})}" if route else ""
    return f"/api/collections/{number}{document}{query}"
