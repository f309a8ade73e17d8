"""The documentation, as pages and the blocks of code in them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from tests.conventions.sources import ROOT

PAGES = tuple(
    sorted(path.relative_to(ROOT).as_posix() for path in (*(ROOT / "docs").rglob("*.md"), *ROOT.glob("*.md")))
)
"""The paths of all pages."""

_BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """One block of code.

    Attributes:
        language: What its fence calls it.
        text: Its lines.
    """

    language: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """A command, and what a page says comes of it; `…` stands for anything."""

    command: str
    shown: str

    def agrees(self, output: str) -> bool:
        """Whether this is what came of it."""
        pattern = re.escape(self.shown.strip()).replace("…", ".*")
        return re.fullmatch(pattern, output.strip(), re.DOTALL) is not None


def text_of(page: str) -> str:
    """What a page says."""
    return (ROOT / page).read_text(encoding="utf-8")


def blocks(page: str) -> Iterator[Block]:
    """The blocks of a page."""
    return (Block(language=language, text=text) for language, text in _BLOCK.findall(text_of(page)))


def exchanges(page: str) -> list[Exchange]:
    """The commands of a page that are to be run, in their order: those of blocks that begin with `$`."""
    found = []
    for block in blocks(page):
        if block.text.startswith("$ "):
            parts = re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]
            found += [Exchange(command=part.partition("\n")[0], shown=part.partition("\n")[2]) for part in parts]
    return found
