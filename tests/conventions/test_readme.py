"""The README's first screen is true: its example runs, and its table of commands is the command line's own."""

from __future__ import annotations

import asyncio
import re
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from tests.agent.command import SPECCACHE, speccache

README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
PORT = "8765"


@asynccontextmanager
async def demo_site() -> AsyncIterator[str]:
    """Run `python -m evals.site` on any free port; gives the address it prints."""
    words = ["-m", "evals.site", "--port", "0", "--time-scale", "0.01"]
    process = await asyncio.create_subprocess_exec(sys.executable, *words, stderr=asyncio.subprocess.PIPE)
    assert process.stderr is not None
    try:
        yield (await process.stderr.readline()).decode().strip()
    finally:
        process.terminate()
        await process.communicate()


async def test_the_example_gives_what_it_shows(tmp_path: Path) -> None:
    example = next(
        block for block in re.findall(r"```\n(.*?)```", README, re.DOTALL) if "$ .venv/bin/speccache" in block
    )
    commands = [line for line in example.splitlines() if line.startswith("$ ")]
    assert commands[0] == "$ .venv/bin/python -m evals.site &"
    assert commands[1].split()[1] == f".venv/bin/{SPECCACHE.name}"
    question = re.search(r'"(.*?)"', commands[1])
    assert question is not None
    shown = example.partition(commands[1])[2].strip()
    async with demo_site() as url:
        words = ["ask", question[1], "--url", url, *commands[1].split()[-1:], "--no-trace"]
        result = await speccache(*words, cwd=tmp_path)
        port = url.rpartition(":")[2].partition("/")[0]
    assert (result.out + result.err).strip().replace(port, PORT) == shown


async def test_the_table_of_commands_is_complete(tmp_path: Path) -> None:
    table = set(re.findall(r"^\| `speccache ([\w-]+)", README, re.MULTILINE))
    shown = await speccache("--help", cwd=tmp_path)
    assert shown.code == 0
    assert set(re.findall(r"^│ ([\w-]+) {2,}\S", shown.out, re.MULTILINE)) - {"--help"} == table
    for command in sorted(table):
        help_text = await speccache(command, "--help", cwd=tmp_path)
        assert (help_text.code, "Usage:" in help_text.out) == (0, True)


def test_linked_files_are_there() -> None:
    root = Path(__file__).parents[2]
    linked = [link for link in re.findall(r"\]\(([^)#]+)\)", README) if "://" not in link]
    assert linked
    assert [link for link in linked if not (root / link).exists()] == []
