"""Secrets, end to end: a model types one by its name, and its value leaves to no one but the site it is for."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from html import escape
from pathlib import Path
from urllib.parse import quote, quote_plus, urlencode

import pytest
from aiohttp import web

from agent.errors import ConfigurationError
from agent.keeper import Keeper
from agent.secret_source import parse_secret
from agent.settings import load_settings
from tests.agent.command import Result, speccache
from tests.endpoints.scripted import Body, Say, ScriptedEndpoint
from tests.website import Website

VALUE = "p&ss wörd'<1>\"%"
WRITTEN = (VALUE, quote(VALUE), quote(VALUE, safe=""), quote_plus(VALUE), escape(VALUE), json.dumps(VALUE)[1:-1])


class Login:
    """A login form, and a page behind it that says the password in every way it can."""

    def __init__(self) -> None:
        self.given: list[str] = []

    async def post(self, request: web.Request) -> web.Response:
        word = str((await request.post())["password"])
        self.given.append(word)
        raise web.HTTPFound(f"/home?{urlencode({'p': word, 'next': '/x?' + urlencode({'p': word})})}")

    async def home(self, request: web.Request) -> web.Response:
        word = request.query["p"]
        shown = escape(word)
        page = f"""<title>{shown}</title><p>Welcome. Your password is {shown}, in HTML {escape(shown)},
            in an address {quote(word)} or {quote_plus(word)}.</p><input aria-label="{shown}" value="{shown}">
            <a href="/next?{urlencode({"p": word})}">Go on</a> <a href=/vault>Vault</a>
            <script>console.error({json.dumps(word)} + 'x'.repeat(400)); alert({json.dumps(word)});
            console.error('y'.repeat(275) + {json.dumps(word)})</script>"""
        return web.Response(text=page, content_type="text/html")


@pytest.fixture
async def login() -> Login:
    return Login()


@pytest.fixture
async def site(login: Login) -> AsyncIterator[Website]:
    form = "<form method=post action=/login><input type=password name=password aria-label=Password></form>"
    pages = {
        "/": form,
        "/login": login.post,
        "/home": login.home,
        "/vault": "<title>Vault</title><p>The code of the vault is 4711.</p>",
    }
    async with Website(pages) as website:
        yield website


def decide(body: Body) -> Say:
    """Log in, open the vault, and answer; a request says how far the run is."""
    told = json.dumps(body, ensure_ascii=False)
    if "4711" in told:
        return Say('The vault says it. {"action": "answer", "answer": "4711"}')
    if "Welcome" in told:
        return Say('{"action": "visit", "target": "Vault"}')
    return Say('I type {{PASSWORD}}. {"action": "type", "field": "c1", "text": "{{PASSWORD}}", "submit": true}')


async def ask(site: Website, endpoint: ScriptedEndpoint, folder: Path, *words: str) -> Result:
    return await speccache(
        "ask",
        f"What is the code of the vault? My password is {VALUE}.",
        *("--url", site.url, "--base-url", endpoint.base_url, "--target", "m", "--strategy", "react", "--act"),
        *words,
        cwd=folder,
        variables={"SPECCACHE_API_KEY": "sk-scripted", "SPECCACHE_SECRET_PASSWORD": VALUE},
    )


async def test_case_42_a_secret_is_typed_and_seen_nowhere(site: Website, login: Login, tmp_path: Path) -> None:
    async with ScriptedEndpoint(decide, model=None) as endpoint:
        result = await ask(site, endpoint, tmp_path, "--secret", "PASSWORD", "--verbose", "--json")
    assert (result.code, "4711" in result.out) == (0, True), result.err
    assert login.given == [VALUE]
    [trace] = (tmp_path / "runs").iterdir()
    left = {
        "requests": json.dumps([received.body for received in endpoint.requests], ensure_ascii=False),
        "stdout": result.out,
        "stderr": result.err,
        "trace": trace.name + trace.read_text(encoding="utf-8"),
        "addresses": str([asked.path for asked in site.asked if not asked.path.startswith("/home")]),
    }
    assert {place: text for place, text in left.items() if any(written in text for written in WRITTEN)} == {}
    assert {place for place, text in left.items() if "p&ss" in text or "p%26ss" in text or "p&amp;ss" in text} == set()
    assert "{{PASSWORD}} on 127.0.0.1" in left["requests"]
    assert "Your password is {{PASSWORD}}, in HTML {{PASSWORD}}" in left["requests"]
    assert [asked.path for asked in site.asked if asked.path.startswith("/next")] == []


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"secrets": ["PIN"]}, "PIN has no value"),
        ({"secrets": ["PASSWORD=abc"]}, "too short"),
        ({"secrets": ["PASS WORD=hunter2!"]}, "NAME@HOST=VALUE"),
        ({"secrets": ["A@http://x=hunter2!"]}, "NAME@HOST=VALUE"),
        ({"secrets": ["A=hunter2!", "A=hunter3!"]}, "two secrets"),
        ({"files": ["no-such-file"]}, "no file no-such-file"),
    ],
)
def test_what_is_missing_or_wrong_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: dict[str, object], says: str
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigurationError, match=says) as error, Keeper(load_settings(**given)) as keeper:
        keeper.visitor("https://example.org/")
    told = f"{error.value} {error.value.hint}"
    assert error.value.hint
    assert not any(value in told for value in ("hunter2", "hunter3", "abc"))


def test_where_a_secret_comes_from(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "pin").write_text("73910\n")
    monkeypatch.setenv("SPECCACHE_SECRET_PIN_FILE", str(tmp_path / "pin"))
    monkeypatch.delenv("SPECCACHE_SECRET_PIN", raising=False)
    url = "https://www.example.org/login"
    given = parse_secret("PIN@Example.org=a=b@c").secret(url)
    assert (given.name, given.host, given.value, given.secure) == ("PIN", "example.org", "a=b@c", True)
    read = parse_secret("PIN").secret(url)
    assert (read.host, read.value) == ("www.example.org", "73910")
    monkeypatch.setenv("SPECCACHE_SECRET_PIN", "24680")
    assert parse_secret("PIN@example.org").secret("http://example.org").value == "24680"
    monkeypatch.delenv("SPECCACHE_SECRET_PIN")
    (tmp_path / "pin").unlink()
    with pytest.raises(ConfigurationError, match="cannot be read from"):
        parse_secret("PIN").secret(url)
    assert "a=b@c" not in repr(parse_secret("PIN=a=b@c"))


def test_a_settings_file_does_not_decide_where_secrets_and_files_go(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    for line in ('secrets = ["PIN@evil.test"]', 'files = ["/etc/hostname"]'):
        Path("speccache.toml").write_text(line)
        with pytest.raises(ConfigurationError, match="not read from a file"):
            load_settings()
