"""Datasets from a hub that is a real server on loopback."""

from __future__ import annotations

import asyncio
import hashlib
import json
import sys
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
from aiohttp import web
from huggingface_hub import constants

from evals.suites.dataset import DATASETS, load_dataset
from evals.suites.errors import DatasetUnavailable
from evals.suites.hub import HubFile, fetch

ROW = {"question": "Which?", "answer": "This", "root_url": "https://a.example/", "info": {"lang": "en"}}
CONTENT = f"{json.dumps(ROW)}\n".encode()
SHA256 = hashlib.sha256(CONTENT).hexdigest()
GIT_BLOB = hashlib.sha1(b"blob %d\0%b" % (len(CONTENT), CONTENT)).hexdigest()
FILE = HubFile(repository="Someone/Questions", file="data/main.jsonl")
COMMIT = "0" * 40


class Hub:
    """Serves one file of any dataset as the Hugging Face hub does.

    Attributes:
        content: What it serves.
        etag: The digest it announces.
        requests: What was asked for.
    """

    def __init__(self) -> None:
        self.content = CONTENT
        self.etag = SHA256
        self.requests: list[str] = []

    async def answer(self, request: web.Request) -> web.Response:
        self.requests.append(f"{request.method} {request.path}")
        if "missing" in request.path:
            return web.Response(status=404, headers={"X-Error-Code": "EntryNotFound"})
        headers = {"ETag": f'"{self.etag}"', "X-Repo-Commit": COMMIT}
        return web.Response(body=self.content, headers=headers)


@pytest.fixture
async def hub(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Hub]:
    server = Hub()
    application = web.Application()
    application.router.add_get("/datasets/{path:.*}", server.answer)
    runner = web.AppRunner(application, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{runner.addresses[0][1]}")
    yield server
    await runner.cleanup()


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.rglob("*")}


async def get(wanted: HubFile, cache: Path) -> Path:
    return await asyncio.to_thread(fetch, wanted, cache=cache)


async def test_a_file_is_fetched_once(hub: Hub, tmp_path: Path) -> None:
    path = await get(FILE, tmp_path)
    assert path.read_bytes() == CONTENT
    assert path.suffix == ".jsonl"
    assert "GET /datasets/Someone/Questions/resolve/main/data/main.jsonl" in hub.requests
    hub.requests.clear()
    assert await get(FILE, tmp_path) == path
    assert hub.requests == []


@pytest.mark.parametrize("etag", [SHA256, GIT_BLOB, "of-no-known-kind"])
async def test_the_digest_that_the_hub_announces_is_checked(hub: Hub, tmp_path: Path, etag: str) -> None:
    hub.etag = etag
    assert (await get(FILE, tmp_path)).read_bytes() == CONTENT


@pytest.mark.parametrize("etag", [SHA256, GIT_BLOB])
async def test_a_file_with_another_digest_is_not_kept(hub: Hub, tmp_path: Path, etag: str) -> None:
    hub.etag, hub.content = etag, CONTENT[::-1]
    with pytest.raises(
        DatasetUnavailable, match=r"is not the expected data/main\.jsonl of Someone/Questions"
    ) as caught:
        await get(FILE, tmp_path)
    assert "Run again" in caught.value.hint
    assert names(tmp_path) & {etag, "main.jsonl"} == set()
    hub.content = CONTENT
    assert (await get(FILE, tmp_path)).read_bytes() == CONTENT


async def test_a_known_digest_counts_whatever_the_hub_announces(hub: Hub, tmp_path: Path) -> None:
    with pytest.raises(DatasetUnavailable, match="its digest is another"):
        await get(replace(FILE, sha256="0" * 64), tmp_path)
    assert (await get(replace(FILE, sha256=SHA256), tmp_path)).read_bytes() == CONTENT


async def test_a_file_that_the_hub_does_not_have_is_named(hub: Hub, tmp_path: Path) -> None:
    with pytest.raises(
        DatasetUnavailable, match=r"missing\.tsv of Someone/Questions could not be had from http"
    ) as caught:
        await get(replace(FILE, file="missing.tsv"), tmp_path)
    assert "by hand" in caught.value.hint


async def test_without_a_network_what_was_fetched_is_used(
    hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = await get(FILE, tmp_path)
    # A refused connection is tried for half a minute; this one is refused by the client itself.
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    assert await get(FILE, tmp_path) == path
    with pytest.raises(DatasetUnavailable, match=r"other\.tsv .* not fetched before, .* cannot be reached") as caught:
        await get(replace(FILE, file="other.tsv"), tmp_path)
    assert "HF_ENDPOINT" in caught.value.hint
    assert "by hand" in caught.value.hint


async def test_a_cache_that_cannot_be_written_is_said(hub: Hub, tmp_path: Path) -> None:
    place = tmp_path / "file"
    place.touch()
    with pytest.raises(DatasetUnavailable, match=r"could not be had from .*: .*Not a directory"):
        await get(FILE, place / "cache")


def test_without_the_extra_the_command_that_installs_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(DatasetUnavailable, match="not installed") as caught:
        fetch(FILE)
    assert "pip install 'speccache[hub]'" in caught.value.hint


async def test_a_dataset_is_read_by_its_name(hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "copy.jsonl"
    path.write_bytes(CONTENT)
    (item,) = load_dataset("webwalkerqa", path)
    assert item.question == "Which?"
    assert hub.requests == []


def test_a_dataset_that_does_not_exist_is_refused() -> None:
    with pytest.raises(DatasetUnavailable, match="there is no dataset 'webwalker'") as caught:
        load_dataset("webwalker")
    assert caught.value.hint == f"Use one of {', '.join(DATASETS)}."


def test_every_dataset_has_a_place_on_the_hub() -> None:
    for dataset in DATASETS.values():
        assert dataset.source.repository.count("/") == 1
        assert Path(dataset.source.file).suffix in {".jsonl", ".tsv"}
