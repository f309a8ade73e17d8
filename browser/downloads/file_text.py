"""Reading a file that came in place of a page, as a document an agent can answer from.

Invariant: whatever the file is, reading it ends within the limits, and what was left out is said in the notes. A file
is only ever read as text; nothing runs it, and nothing else opens it.
"""

from __future__ import annotations

import asyncio
import codecs
import json
import sys
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from playwright.async_api import Response

from browser.downloads.media_type import PDF, PLAIN, charset, is_text, media_type
from browser.engine.command import run
from browser.observation import Document, Download
from browser.reading.load_options import LoadOptions
from browser.renderer import render_text

_PDF_READER = Path(__file__).with_name("pdf_text.py")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Text:
    """What a file says.

    Attributes:
        text: Its text; empty where it could not be read.
        title: What it calls itself.
        pages: How many pages it has; None where it has none.
        notes: What was left out.
        problem: Why there is no text, as a predicate; None where there is.
    """

    text: str = ""
    title: str = ""
    pages: int | None = None
    notes: tuple[str, ...] = ()
    problem: str | None = None


async def read_file(file: Download, *, requested_url: str, response: Response | None, options: LoadOptions) -> Document:
    """Read the text of a file.

    Args:
        file: The file.
        requested_url: The address that was asked for.
        response: The answer it came with, where that is known.
        options: Limits.

    Returns:
        A document with its text, or with a `problem` where it was not kept or has no text that can be read.
    """
    declared = response.headers.get("content-type", "") if response else ""
    if declared and file.path is not None:
        kind = await asyncio.to_thread(media_type, Path(file.path), name=file.name, declared=declared)
        file = replace(file, content_type=kind)
    document = Document(
        requested_url=requested_url,
        url=file.url,
        status=response.status if response else None,
        content_type=file.content_type,
        title=file.name,
        download=file,
    )
    if file.path is None:
        return replace(document, problem=f"{_not_a_page(file.url)}{file.name}, which {file.problem}.")
    found = await _text(file, Path(file.path), declared=declared, options=options)
    if found.problem is not None:
        return replace(document, problem=f"{_not_a_page(file.url)}{described(file)}, which {found.problem}.")
    pages = "" if found.pages is None else f", {found.pages} page{'s' * (found.pages != 1)}"
    note = f"This is a file, not a page: {described(file)}{pages}. Its text is shown."
    content_type = PLAIN if file.content_type == PDF else file.content_type
    markdown = await asyncio.to_thread(render_text, [found.text], content_type=content_type)
    return replace(document, title=found.title or file.name, markdown=markdown, notes=(note, *found.notes))


def _not_a_page(url: str) -> str:
    return f"{url} is a file, not a page: "


def told(document: Document, *, is_shown: bool) -> str:
    """Say in a sentence what an action was answered with."""
    file = document.download
    if document.problem is not None or file is None:
        begin = "A file came" if file and file.path else "A file was offered and not kept"
        return f"{begin}: {(document.problem or '').removeprefix(_not_a_page(document.url))}"
    read_at = f"can be read at {document.url}" if document.url.startswith("http") else "was put aside"
    rest = "is shown; the page is one step back" if is_shown else read_at
    return f"A file came: {described(file)}. Its text {rest}."


def described(file: Download) -> str:
    """Name a file with its kind and size, as in `report.pdf (application/pdf, 12 kB)`."""
    facts = [file.content_type] if file.content_type else []
    return f"{file.name} ({', '.join([*facts, _size(file.size_bytes)])})"


def _size(size_bytes: int) -> str:
    if size_bytes < 1000:
        return f"{size_bytes} byte{'s' * (size_bytes != 1)}"
    return f"{size_bytes / 1e3:.0f} kB" if size_bytes < 1e6 else f"{size_bytes / 1e6:.1f} MB"


async def _text(file: Download, path: Path, *, declared: str, options: LoadOptions) -> _Text:
    if file.content_type == PDF:
        return await _pdf(path, options)
    if is_text(file.content_type):
        return await asyncio.to_thread(_plain, path, declared, options)
    return _Text(problem="holds no text that can be read")


def _plain(path: Path, declared: str, options: LoadOptions) -> _Text:
    text = _decoded(path.read_bytes(), charset(declared)).replace("\r\n", "\n").replace("\0", "")
    return _cut(_Text(text=text), options) if text.strip() else _Text(problem="is empty")


def _decoded(content: bytes, declared: str | None) -> str:
    marked = next((encoding for mark, encoding in _MARKS.items() if content.startswith(mark)), None)
    for encoding in filter(None, (marked, declared, "utf-8")):
        with suppress(LookupError, UnicodeError):  # a server may name any codec that Python has
            return content.decode(encoding)
    return content.decode("windows-1252", "replace")


_MARKS = {  # those that begin with another's come first
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}


def _cut(found: _Text, options: LoadOptions) -> _Text:
    limit = options.max_characters
    if len(found.text) <= limit:
        return found
    note = f"The file was cut: it has more than {limit} characters."
    return replace(found, text=found.text[:limit], notes=(*found.notes, note))


async def _pdf(path: Path, options: LoadOptions) -> _Text:
    with tempfile.TemporaryDirectory(prefix="speccache-pdf-") as folder:
        out = Path(folder, "text")
        arguments = (str(path), str(out), str(options.max_file_pages), str(options.max_characters))
        # Without its own folder on the path, whose modules would come before others of their names.
        argv = (sys.executable, "-P", str(_PDF_READER), *arguments)
        outcome = await run(argv, timeout_seconds=options.file_seconds)
        lines = await asyncio.to_thread(_lines, out)
    stopped = f"takes longer to read than {options.file_seconds:g} seconds" if outcome.code is None else "is damaged"
    if not lines or "problem" in lines[0]:
        return _Text(problem=lines[0]["problem"] if lines else stopped)
    found = _pages(lines[0], [line["text"] for line in lines[1:] if "text" in line])
    if not found.text:
        return _Text(problem="has no text that can be read: it may be pictures" if "end" in lines[-1] else stopped)
    return _cut(found, options)


def _lines(out: Path) -> list[dict[str, Any]]:
    """Read what the program wrote; it may have been stopped within a line."""
    if not out.exists():
        return []
    written = out.read_text(encoding="utf-8").split("\n")
    return [json.loads(line) for line in written[:-1]]


def _pages(head: dict[str, Any], texts: Sequence[str | None]) -> _Text:
    count, notes = head["pages"], []
    read = [(number, text.strip()) for number, text in enumerate(texts, 1) if text and text.strip()]
    if len(texts) < count:
        notes.append(f"The file was cut: the text is that of its first {len(texts)} pages of {count}.")
    if empty := len(texts) - len(read):
        notes.append(f"Pages without text that can be read: {empty}.")
    text = "\n\n".join(f"## Page {number}\n\n{text}" if count > 1 else text for number, text in read)
    return _Text(text=text, title=head["title"].strip(), pages=count, notes=tuple(notes))
