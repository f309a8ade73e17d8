"""The documentation is true: its examples run, its commands and flags exist, and its links lead somewhere."""

from __future__ import annotations

import asyncio
import os
import re
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.conventions.pages import PAGES, Exchange, blocks, exchanges, text_of
from tests.conventions.sources import ROOT
from tests.conventions.test_readme import PORT, demo_site
from tests.reference.command_line import commands, flags

SITE = "python -m evals.site &"
RUNNABLE = [page for page in PAGES if page.startswith("docs/") and exchanges(page)]
_OWN = ("OPENAI_", "SPECCACHE_")


@pytest.fixture(scope="module")
async def site() -> AsyncIterator[str]:
    async with demo_site() as url:
        yield url


@pytest.mark.parametrize("page", RUNNABLE)
async def test_its_examples_give_what_they_show(page: str, site: str, tmp_path: Path) -> None:
    port = site.rpartition(":")[2].partition("/")[0]
    folder = tmp_path / "work"
    folder.mkdir()
    for exchange in exchanges(page):
        if exchange.command == SITE:
            assert exchange.agrees(site.replace(port, PORT))
            continue
        output = await _run(exchange.command.replace(f":{PORT}/", f":{port}/"), folder, home=tmp_path)
        assert exchange.agrees(output.replace(port, PORT)), f"{exchange.command}\n{output}"


async def _run(command: str, folder: Path, *, home: Path) -> str:
    """Run a line in a shell, as a person does: with no setting of ours, and both streams in one."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(_OWN)}
    process = await asyncio.create_subprocess_exec(
        *("sh", "-c", command),
        cwd=folder,
        env={
            **{name: value for name, value in kept.items() if not name.startswith("XDG_")},
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
            "HOME": str(home),
            "NO_COLOR": "1",
        },
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    output, _ = await process.communicate()
    return output.decode()


def test_some_examples_are_run() -> None:
    assert {"docs/first-question.md", "docs/logged-in-sites.md"} <= set(RUNNABLE)


def test_an_ellipsis_stands_for_anything_and_nothing_else_does() -> None:
    exchange = Exchange(command="", shown="took … s\n(done)\n…\n")
    assert exchange.agrees("took 1.2 s\n(done)\nmore\nlines\n")
    assert not exchange.agrees("took 1.2 s\ndone\nmore\n")


@pytest.mark.parametrize("page", PAGES)
def test_its_commands_and_flags_exist(page: str) -> None:
    known = {name: flags(command) for name, command in commands().items()}
    wrong = []
    for line in _command_lines(page):
        words = re.split(r"\s+", line.strip())
        name = words[1] if len(words) > 1 else ""
        given = {word.partition("=")[0] for word in words[2:] if re.match(r"--?[a-z]", word)}
        if name not in known or given - known[name]:
            wrong.append(line)
    assert wrong == []


def _command_lines(page: str) -> list[str]:
    """Calls of `speccache` in shell blocks, up to a pipe, a remark or a semicolon."""
    text = "\n".join(block.text for block in blocks(page) if block.language in ("", "sh", "console"))
    lines = text.replace("\\\n", " ").splitlines()
    called = [re.search(r"(?:^|[\s/;])(speccache [a-z][^#|;&>]*)", line) for line in lines]
    return [match[1] for match in called if match and not re.search(r"docker|pip|claude", match.string)]


@pytest.mark.parametrize("page", PAGES)
def test_its_links_lead_somewhere(page: str) -> None:
    broken = []
    for link in re.findall(r"\]\(([^)\s]+)\)", re.sub(r"`[^`\n]*`", "", text_of(page))):
        path, _, heading = link.partition("#")
        target = (ROOT / page).parent / path if path else ROOT / page
        if "://" not in link and not (target.exists() and (not heading or heading in _anchors(target))):
            broken.append(link)
    assert broken == []


def _anchors(path: Path) -> set[str]:
    """Where GitHub lets links lead on a page: its headings in lower case, without punctuation."""
    headings = re.findall(r"^#+ (.+)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_every_page_is_in_the_index() -> None:
    index = text_of("docs/README.md")
    pages = [page.removeprefix("docs/") for page in PAGES if page.startswith("docs/") and page != "docs/README.md"]
    assert [page for page in pages if f"]({page})" not in index] == []
