"""The command line, as a person or a script meets it: what it prints where, and how it ends."""

from __future__ import annotations

import json
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import psutil
import pytest
from aiohttp import web

from tests.agent.command import running, speccache
from tests.endpoints.scripted import Fail, Rubbish, Say, ScriptedEndpoint
from tests.processes import is_browser
from tests.website import Website


async def attachment(_: web.Request) -> web.Response:
    return web.Response(body=b"PK", headers={"Content-Disposition": "attachment; filename=data.zip"})


async def loop(_: web.Request) -> web.Response:
    raise web.HTTPFound("/loop")


async def broken(_: web.Request) -> web.Response:
    return web.Response(status=500, text="<h1>Sorry</h1>", content_type="text/html")


PAGES = {
    "/": "<title>Depot</title><h1>Depot</h1><p>The depot opens at 7 o'clock.</p><a href='/tram'>Trams</a>",
    "/tram": "<title>Trams</title><h1>Trams</h1><p>The oldest tram was built in 1908.</p>",
    "/empty": "",
    "/zip": attachment,
    "/loop": loop,
    "/broken": broken,
    "/dialog": "<p>after the question</p><script>alert('are you there?')</script>",
}


@pytest.fixture
async def site() -> AsyncIterator[Website]:
    async with Website(PAGES) as website:
        yield website


async def test_fetch_prints_the_page_on_stdout(site: Website, tmp_path: Path) -> None:
    result = await speccache("fetch", site.url + "/", cwd=tmp_path)
    assert result.code == 0
    assert "# Depot" in result.out
    assert "[Trams][1]" in result.out
    assert "1 links" in result.err


async def test_fetch_as_json(site: Website, tmp_path: Path) -> None:
    result = await speccache("fetch", site.url + "/", "--json", cwd=tmp_path)
    document = json.loads(result.out)["document"]
    assert (document["title"], document["status"]) == ("Depot", 200)
    assert document["links"][0]["url"] == site.url + "/tram"


async def test_fetch_tells_of_a_dialog(site: Website, tmp_path: Path) -> None:
    result = await speccache("fetch", site.url + "/dialog", cwd=tmp_path)
    assert (result.code, "after the question" in result.out) == (0, True)
    assert "are you there?" in result.err


@pytest.mark.parametrize(
    ("path", "says"),
    [
        ("/missing", "HTTP 404"),
        ("/broken", "HTTP 500"),
        ("/zip", "is a file, not a page: data.zip"),
        ("/loop", "redirect"),
        ("http://127.0.0.1:1/", "127.0.0.1"),
        ("http://no-such-host.invalid/", "no-such-host.invalid"),
    ],
)
async def test_a_page_that_is_not_there_is_told_of(site: Website, tmp_path: Path, path: str, says: str) -> None:
    result = await speccache("fetch", path if ":" in path else site.url + path, cwd=tmp_path)
    assert result.code == 1
    assert result.err.startswith("error:") or "\nerror:" in result.err
    assert says in result.err


async def test_an_empty_page_says_so(site: Website, tmp_path: Path) -> None:
    result = await speccache("fetch", site.url + "/empty", cwd=tmp_path)
    assert "no visible text" in result.out + result.err


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (["fetch", "file:///etc/hostname"], 2, "only http and https"),
        (["fetch", "chrome://version"], 2, "only http and https"),
        (["fetch", "http://exa mple/"], 2, "exa mple"),
        (["fetch", "--part", "0", "x"], 2, "--part"),
        (["fetch", "--colour", "x"], 2, "--colour"),
        (["ask", "what?"], 2, "--url"),
        (["ask", "what?", "--url", "http://127.0.0.1:1/", "--pool-size", "0"], 2, "pool_size"),
        (["ask", "what?", "--url", "http://127.0.0.1:1/", "--trace", "/dev/null/x"], 2, "--trace"),
        (["ask", "what?", "--url", "http://127.0.0.1:1/", "--base-url", "http://127.0.0.1:1/v1"], 2, "--target"),
        (["fetch", "http://127.0.0.1:1/", "--browser", "/no/such/chromium"], 3, "/no/such/chromium"),
        (["sing"], 2, "sing"),
    ],
)
async def test_wrong_usage_is_told_of(tmp_path: Path, words: list[str], code: int, says: str) -> None:
    result = await speccache(*words, cwd=tmp_path)
    assert (result.code, result.out) == (code, "")
    assert says in result.err


async def test_ask_quotes_a_page_where_no_model_is_configured(site: Website, tmp_path: Path) -> None:
    result = await speccache("ask", "When was the oldest tram built?", "--url", site.url + "/", cwd=tmp_path)
    assert result.code == 0
    assert "1908" in result.out
    assert f"source: {site.url}/tram" in result.out
    assert "no model configured" in result.err
    [trace] = (tmp_path / "runs").iterdir()
    events = [json.loads(line)["event"] for line in trace.read_text().splitlines()]
    assert events[:2] == ["trace", "started"]
    assert "finished" in events


async def test_ask_as_json_prints_one_object(site: Website, tmp_path: Path) -> None:
    words = ["ask", "When was the oldest tram built?", "--url", site.url + "/", "--json", "--no-trace"]
    result = await speccache(*words, cwd=tmp_path)
    shown = json.loads(result.out)
    assert (shown["status"], shown["sources"], shown["trace"]) == ("answered", [site.url + "/tram"], "")
    assert set(shown["time"]) == {"total_s", "llm_s", "web_exposed_s", "web_hidden_s", "draft_s"}
    assert set(shown["cache"]) == {"hits", "joins", "misses", "speculated", "wasted", "refused"}
    assert not (tmp_path / "runs").exists()


async def test_ask_says_when_the_first_page_is_not_there(tmp_path: Path) -> None:
    result = await speccache("ask", "what?", "--url", "http://127.0.0.1:1/", "--json", cwd=tmp_path)
    shown = json.loads(result.out)
    assert (result.code, shown["status"]) == (1, "error")
    assert "127.0.0.1:1" in shown["reason"]


async def test_ask_with_a_model_and_a_draft(site: Website, tmp_path: Path) -> None:
    def reply(body: dict[str, object]) -> Say:
        if body["model"] == "draft":
            return Say("1\n")
        if "1908" in json.dumps(body):
            return Say('{"action": "answer", "answer": "In 1908"}')
        return Say('{"action": "visit", "target": "1"}')

    async with ScriptedEndpoint(reply, model=None) as endpoint:
        words = [
            "ask",
            "How old?",
            "--url",
            site.url,
            "--base-url",
            endpoint.base_url,
            "--target",
            "m",
            "--draft",
            "draft",
        ]
        result = await speccache(*words, "--json", cwd=tmp_path, variables={"SPECCACHE_API_KEY": "sk-scripted"})
    shown = json.loads(result.out)
    assert (result.code, shown["answer"], shown["turns"]) == (0, "In 1908", 2)
    assert shown["tokens"]["target"]["in"] > 0
    assert shown["calls"]["target"]["requests"] == shown["calls"]["target"]["answered"] > 0
    assert shown["cost"]["usd"] is None, "nobody knows what this endpoint costs"
    assert "sk-scripted" not in result.out + result.err + "".join(p.read_text() for p in (tmp_path / "runs").iterdir())


@pytest.mark.parametrize(
    ("entry", "code", "says"),
    [
        (Fail(status=401, message="bad key"), 2, "key"),
        (Fail(status=404, message="no such model", code="model_not_found"), 2, "model"),
        (Rubbish(body="<html>login</html>", content_type="text/html"), 3, "m"),
    ],
)
async def test_a_model_that_fails_ends_with_a_clear_error(
    site: Website, tmp_path: Path, entry: Fail | Rubbish, code: int, says: str
) -> None:
    async with ScriptedEndpoint([entry] * 4, model=None) as endpoint:
        words = ["ask", "How old?", "--url", site.url, "--base-url", endpoint.base_url, "--target", "m"]
        result = await speccache(*words, cwd=tmp_path, variables={"SPECCACHE_API_KEY": "sk-scripted"})
    assert (result.code, result.out) == (code, "")
    assert "error:" in result.err
    assert "hint:" in result.err
    assert says in result.err
    assert f"read: {site.url}" in result.err, "what was seen until then is told"


async def test_a_model_that_is_away_is_told_of(site: Website, tmp_path: Path) -> None:
    words = ["ask", "How old?", "--url", site.url, "--base-url", "http://127.0.0.1:1/v1", "--target", "m"]
    result = await speccache(*words, cwd=tmp_path, variables={"SPECCACHE_API_KEY": "sk-scripted"})
    assert result.code == 3
    assert "127.0.0.1:1" in result.err


@pytest.mark.parametrize(
    ("number", "code"),
    [
        pytest.param(signal.SIGINT, 130, id="40-SIGINT"),
        pytest.param(signal.SIGTERM, 143, id="40-SIGTERM"),
        pytest.param(signal.SIGKILL, -9, id="40-SIGKILL"),
    ],
)
async def test_an_interrupted_command_leaves_no_browser(
    site: Website, tmp_path: Path, number: signal.Signals, code: int
) -> None:
    site.shut("/")
    async with running("ask", "what?", "--url", site.url + "/", cwd=tmp_path) as command:
        await site.arrived("/")
        family = psutil.Process(command.process.pid).children(recursive=True)
        assert any(is_browser(process) for process in family)
        command.process.send_signal(number)
        result = await command.result()
        assert result.code == code
    _, alive = psutil.wait_procs(family, timeout=10)
    assert alive == []
    if number is not signal.SIGKILL:
        [trace] = (tmp_path / "runs").iterdir()
        finished = [json.loads(line) for line in trace.read_text().splitlines()]
        assert "interrupted" in [event.get("status") for event in finished]


async def test_a_killed_browser_does_not_cost_the_answer(site: Website, tmp_path: Path) -> None:
    gate = site.shut("/tram")
    words = ["ask", "When was the oldest tram built?", "--url", site.url + "/", "--no-speculation"]
    async with running(*words, cwd=tmp_path) as command:
        await site.arrived("/tram")
        killed = command.browsers()
        assert killed
        for process in killed:
            process.kill()
        gate.set()
        result = await command.result()
    assert result.code == 0
    assert "1908" in result.out


async def test_doctor_says_what_works(tmp_path: Path) -> None:
    result = await speccache("doctor", cwd=tmp_path)
    assert result.code == 0
    assert "browser:" in result.out
    assert {line.split()[0] for line in result.out.splitlines()} <= {"ok", "warn", "hint:"}
    checks = json.loads((await speccache("doctor", "--json", cwd=tmp_path)).out)
    assert {"name", "status", "detail", "hint"} == set(checks[0])


async def test_install_browser_leaves_what_is_there(tmp_path: Path) -> None:
    result = await speccache("install-browser", cwd=tmp_path)
    assert (result.code, result.out) == (0, "")
    assert result.err
