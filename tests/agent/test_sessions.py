"""Sessions on the command line: what a run begins with, what it leaves, and that its secrets stay its own."""

from __future__ import annotations

import json
import re
import sqlite3
import stat
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from aiohttp import web

from agent.console import exit_code
from agent.errors import ConfigurationError
from agent.keeper import Keeper
from agent.settings import load_settings
from browser.errors import SessionUnusable
from tests.agent.command import running, speccache
from tests.website import Website

TOKEN = "tok-3f9a61c2"


async def home(request: web.Request) -> web.Response:
    """Say who is there and what was sent; give a cookie, and count visits in storage."""
    headers = {name: request.headers.get(name, "none") for name in ("Authorization", "Accept-Language", "User-Agent")}
    text = f"""<title>Home</title><p>member {request.cookies.get("member", "none")}</p><p id=n></p>
        <p>{json.dumps(headers)}</p><p>The oldest tram was built in 1908.</p>
        <script>localStorage.n = 1 + Number(localStorage.n ?? 0); n.textContent = "visit " + localStorage.n;</script>"""
    response = web.Response(text=text, content_type="text/html")
    response.set_cookie("member", "yes")
    return response


@pytest.fixture
async def site() -> AsyncIterator[Website]:
    async with Website({"/": home}) as website:
        yield website


async def test_a_session_is_saved_and_gone_on_with(site: Website, tmp_path: Path) -> None:
    first = await speccache("fetch", site.url, "--save-storage-state", "kept/state.json", cwd=tmp_path)
    assert ("member none" in first.out, "visit 1" in first.out) == (True, True), first.err
    path = tmp_path / "kept" / "state.json"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    variables = {"SPECCACHE_STORAGE_STATE": "kept/state.json"}
    words = ("ask", "When was the oldest tram built?", "--url", site.url, "--target", "embedded", "--json")
    second = await speccache(*words, "--save-storage-state", "next.json", cwd=tmp_path, variables=variables)
    assert "1908" in json.loads(second.out)["answer"]
    [trace] = (tmp_path / "runs").iterdir()
    assert ("member yes" in trace.read_text(), "visit 2" in trace.read_text()) == (True, True)
    saved = json.loads((tmp_path / "next.json").read_text())
    assert saved["origins"][0]["localStorage"] == [{"name": "n", "value": "2"}]


async def test_case_39_a_profile_is_kept_between_runs_and_held_by_one(site: Website, tmp_path: Path) -> None:
    variables = {"XDG_DATA_HOME": str(tmp_path / "data"), "SPECCACHE_PROFILE": "work"}
    first = await speccache("fetch", site.url, cwd=tmp_path, variables=variables)
    assert "member none" in first.out
    gate = site.shut("/")
    async with running("fetch", site.url, cwd=tmp_path, variables=variables) as command:
        await site.arrived("/", count=2)
        other = await speccache("fetch", site.url, cwd=tmp_path, variables=variables)
        assert (other.code, other.out) == (2, "")
        assert "profiles/work is in use by another run" in other.err
        assert "hint:" in other.err
        gate.set()
        second = await command.result()
    assert ("member yes" in second.out, "visit 2" in second.out) == (True, True)
    assert [path.name for path in (tmp_path / "data" / "speccache" / "profiles").iterdir()] == ["work"]


async def test_a_header_goes_along_and_is_masked(site: Website, tmp_path: Path) -> None:
    words = ("--header", f"Authorization: Bearer {TOKEN}", "--locale", "de-AT", "--user-agent", "Reader/1.0")
    asked = ("ask", f"When was the oldest tram built? {TOKEN}", "--url", site.url, "--target", "embedded", "--verbose")
    result = await speccache(*asked, *words, "--shelf", "shelf", cwd=tmp_path)
    assert (result.code, "1908" in result.out) == (0, True), result.err
    sent = [asked.headers for asked in site.asked if asked.path == "/"]
    assert {headers["Authorization"] for headers in sent} == {f"Bearer {TOKEN}"}
    assert sent[0]["User-Agent"] == "Reader/1.0"
    assert sent[0]["Accept-Language"].startswith("de-AT")
    [trace] = (tmp_path / "runs").iterdir()
    left = [result.out, result.err, trace.name, trace.read_text()]
    assert [text for text in left if TOKEN in text] == []
    assert "[hidden]" in left[-1]
    with sqlite3.connect(tmp_path / "shelf") as shelf:
        assert shelf.execute("SELECT * FROM page").fetchall() == [], "nobody else is shown it"


@pytest.mark.parametrize(
    ("given", "says", "flag"),
    [
        ({"storage_state": "gone.json"}, "gone.json cannot be read", "--save-storage-state"),
        ({"storage_state": "wrong.json"}, "no JSON", "--save-storage-state"),
        ({"save_storage_state": "wrong.json/x"}, "cannot be saved", ""),
        ({"profile": "a b"}, "profile is wrong", "--profile"),
        ({"profile": "work", "storage_state": "wrong.json"}, "not with both", "--profile"),
        ({"headers": ["Authorization"]}, "Name: value", "--header,"),
        ({"headers": ["Cookie: secret-value"]}, "--storage-state", "--header,"),
        ({"proxy": "ftp://me:secret-value@x"}, "SCHEME://", "--proxy"),
        ({"locale": "english"}, "no language tag", "--locale"),
        ({"viewport": "large"}, "no size", "--viewport"),
        ({"user_agent": ""}, "user_agent", "--user-agent"),
        ({"pool_size": "some"}, "from 1 to 64, or 'auto'", "--pool-size"),
    ],
)
def test_what_is_wrong_is_told_before_anything_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: dict[str, object], says: str, flag: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("wrong.json").write_text("{")
    with pytest.raises((ConfigurationError, SessionUnusable), match=re.escape(says)) as error:
        Keeper(load_settings(**given)).__enter__()
    assert exit_code(error.value) == 2
    assert flag in error.value.hint != ""
    assert "secret-value" not in f"{error.value} {error.value.hint}"


def test_the_pools_size_may_be_automatic(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert load_settings(pool_size="auto").pool_size == "auto"
    assert load_settings(pool_size="6").pool_size == 6
    (tmp_path / "speccache.toml").write_text('pool_size = "auto"\nlocale = "de"\nheaders = ["X-Key: abc"]\n')
    settings = load_settings()
    assert (settings.pool_size, settings.locale) == ("auto", "de")
    assert "abc" not in repr(settings)
