"""The text of a file: which kinds, how much of it, and what is said of what has none."""

from __future__ import annotations

from pathlib import Path
from typing import cast

import pytest
from playwright.async_api import Response

from browser.downloads.file_text import read_file
from browser.downloads.media_type import media_type
from browser.observation import Document, Download
from browser.reading.load_options import LoadOptions
from tests.browser.pdf_files import encrypted, pdf

URL = "http://site.test/it"


async def read(tmp_path: Path, name: str, content: bytes, *, options: LoadOptions | None = None) -> Document:
    path = tmp_path / name
    path.write_bytes(content)
    file = Download(
        name=name, url=URL, content_type=media_type(path, name=name), size_bytes=len(content), path=str(path)
    )
    return await read_file(file, requested_url=URL, response=None, options=options or LoadOptions())


async def test_a_pdf_is_read_page_by_page(tmp_path: Path) -> None:
    document = await read(tmp_path, "r.pdf", pdf("First [1][c1] line", "", "Third line", title="A report"))
    assert document.markdown == "## Page 1\n\nFirst [1] [c1] line\n\n## Page 3\n\nThird line"
    assert (document.title, document.content_type, document.problem) == ("A report", "application/pdf", None)
    size = document.notes[0].partition("kB")[0].rpartition(" ")[0]
    assert size.startswith("This is a file, not a page: r.pdf (application/pdf, ")
    assert document.notes[0].endswith("kB), 3 pages. Its text is shown.")
    assert document.notes[1:] == ("Pages without text that can be read: 1.",)


async def test_a_pdf_of_one_page_has_no_headings(tmp_path: Path) -> None:
    assert (await read(tmp_path, "r.pdf", pdf("Only line"))).markdown == "Only line"


@pytest.mark.parametrize(
    ("options", "text", "note"),
    [
        (
            LoadOptions(max_file_pages=2),
            "## Page 1\n\nPage one\n\n## Page 2\n\nPage two",
            "The file was cut: the text is that of its first 2 pages of 3.",
        ),
        (LoadOptions(max_characters=20), "## Page 1\n\nPage one", "The file was cut: it has more than 20 characters."),
    ],
    ids=["pages", "characters"],
)
async def test_a_long_pdf_is_cut_and_says_so(tmp_path: Path, options: LoadOptions, text: str, note: str) -> None:
    document = await read(tmp_path, "r.pdf", pdf("Page one", "Page two", "Page three"), options=options)
    assert document.markdown == text
    assert document.notes[-1] == note


async def test_a_pdf_that_anybody_may_open_is_read_though_encrypted(tmp_path: Path) -> None:
    assert (await read(tmp_path, "r.pdf", encrypted(pdf("Open to all")))).markdown == "Open to all"


@pytest.mark.parametrize(
    ("content", "options", "reason"),
    [
        (encrypted(pdf("Closed"), password="word"), LoadOptions(), "is encrypted, and needs a password"),
        (pdf(""), LoadOptions(), "has no text that can be read: it may be pictures"),
        (b"%PDF-1.4\n%%EOF", LoadOptions(), "is damaged"),
        (pdf("Whole")[:400], LoadOptions(), "is damaged"),
        (pdf("Whole"), LoadOptions(file_seconds=0.01), "takes longer to read than 0.01 seconds"),
    ],
    ids=["password", "pictures", "empty", "half", "slow"],
)
async def test_a_pdf_without_text_says_why(tmp_path: Path, content: bytes, options: LoadOptions, reason: str) -> None:
    document = await read(tmp_path, "r.pdf", content, options=options)
    assert document.problem is not None
    assert document.problem.startswith(f"{URL} is a file, not a page: r.pdf (application/pdf, ")
    assert document.problem.endswith(f", which {reason}.")
    assert (document.markdown, document.notes) == ("", ())


@pytest.mark.parametrize(
    ("name", "content", "kind", "markdown"),
    [
        ("a.txt", "one\r\ntwo 世界".encode(), "text/plain", "one\ntwo 世界"),
        ("a.csv", b"name;value\n", "text/csv", "```\nname;value\n```"),
        ("a.json", b'{"a": 1}', "application/json", '```json\n{"a": 1}\n```'),
        ("a.txt", "grün".encode("utf-16"), "text/plain", "grün"),
        ("a.txt", "grün".encode("latin-1"), "text/plain", "grün"),
        ("notes", b"no suffix at all", "text/plain", "no suffix at all"),
    ],
    ids=["txt", "csv", "json", "utf-16", "latin-1", "unnamed"],
)
async def test_text_is_read_in_its_own_encoding(
    tmp_path: Path, name: str, content: bytes, kind: str, markdown: str
) -> None:
    document = await read(tmp_path, name, content)
    assert (document.content_type, document.markdown, document.problem) == (kind, markdown, None)


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("a.zip", b"PK\x03\x04", "a.zip (application/zip, 4 bytes), which holds no text that can be read."),
        ("a", b"\0\1", "a (2 bytes), which holds no text that can be read."),
        ("a.txt", b" \n", "a.txt (text/plain, 2 bytes), which is empty."),
    ],
    ids=["zip", "unknown", "empty"],
)
async def test_what_is_no_text_says_so(tmp_path: Path, name: str, content: bytes, reason: str) -> None:
    document = await read(tmp_path, name, content)
    assert document.problem == f"{URL} is a file, not a page: {reason}"


class Answered:
    """What is used of a response."""

    status = 200

    def __init__(self, content_type: str) -> None:
        self.headers = {"content-type": content_type}


@pytest.mark.parametrize("charset", ["undefined", "punycode", "hex", "no-such"])
async def test_an_encoding_that_is_none_of_texts_does_no_harm(tmp_path: Path, charset: str) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"a. b")
    response = cast(Response, Answered(f"text/plain; charset={charset}"))
    file = Download(name="a.txt", url=URL, content_type="text/plain", size_bytes=4, path=str(path))
    document = await read_file(file, requested_url=URL, response=response, options=LoadOptions())
    assert document.markdown == "a. b"


@pytest.mark.parametrize(
    ("head", "name", "declared", "kind"),
    [
        (b"%PDF-1.7", "a.txt", "text/plain", "application/pdf"),
        (b"a,b", "a.csv", "application/octet-stream", "text/csv"),
        (b"a,b", "a.bin", "text/csv; charset=utf-8", "text/csv"),
        (b"a,b", "a", "application/force-download", "text/plain"),
        (b"\0", "a", "", ""),
    ],
    ids=["mark", "name", "declared", "looks", "unknown"],
)
def test_the_kind_is_what_tells_most(tmp_path: Path, head: bytes, name: str, declared: str, kind: str) -> None:
    file = tmp_path / "file"
    file.write_bytes(head)
    assert media_type(file, name=name, declared=declared) == kind
