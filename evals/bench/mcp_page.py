"""What a server with the tools of Playwright MCP shows of a page: its address, its links, its words.

Invariant: a page is read from what its client is given, be it data or a snapshot of Playwright MCP.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urljoin

from mcp.types import CallToolResult

_ADDRESS = re.compile(r"^- Page URL: (\S+)$", re.MULTILINE)
_LINK = re.compile(r"\[ref=(\w+)\][^\n]*\n\s+- /url: (\S+)")
_SNAPSHOT = "```yaml"


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownPage:
    """A page as a client sees it.

    Attributes:
        url: Its address.
        targets: What to click, by the address that it leads to.
        text: All that a model is given of it.
        cached: How the cache had it; empty where the server says nothing of one.
    """

    url: str
    targets: Mapping[str, str]
    text: str
    cached: str = ""

    def says(self, words: Sequence[str]) -> bool:
        """Tell whether all these texts stand in it, however its lines are broken."""
        text = " ".join(self.text.split())
        return all(" ".join(word.split()) in text for word in words)


def shown_page(answer: CallToolResult) -> ShownPage | None:
    """Read an answer; None where it shows no page, and the client must ask for a snapshot."""
    text = "\n".join(part.text for part in answer.content if part.type == "text")
    data: dict[str, Any] | None = answer.structured_content
    if data is not None and "links" in data:
        targets = {link["url"]: str(link["number"]) for link in data["links"]}
        return ShownPage(url=data["url"], targets=targets, text=text, cached=data["cache"])
    address = _ADDRESS.search(text)
    if address is None or _SNAPSHOT not in text:
        return None
    targets = {urljoin(address[1], url.strip("\"'")): target for target, url in _LINK.findall(text)}
    return ShownPage(url=address[1], targets=targets, text=text)
