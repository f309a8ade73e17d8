"""Sessions as values and files: what is read, what is refused, what is merged, and who may hold a profile."""

from __future__ import annotations

import asyncio
import json
import signal
import stat
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest
from yarl import URL

from browser.engine.chromium import find_chromium
from browser.errors import BrowserNotFound, SessionUnusable
from browser.session.cookies import give_cookies
from browser.session.identity import Identity, Viewport, parse_locale, parse_viewport
from browser.session.profile_folder import Profile, profile_folder
from browser.session.session import Session
from browser.session.site_headers import Header, SiteHeaders, parse_header
from browser.session.storage_state import StorageState, check_writable, load_state, save_state
from browser.session.web_storage import WebStorage
from browser.slots.slot import Slot

COOKIE = {"name": "id", "value": "1", "domain": "example.org", "path": "/"}
STATE = {
    "cookies": [COOKIE],
    "origins": [{"origin": "https://example.org", "localStorage": [{"name": "k", "value": "v"}]}],
}


def test_a_storage_state_is_read_and_written(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    path.write_text(json.dumps({**STATE, "more": 1}))
    session = Session(state=load_state(path))
    assert session.storage("https://example.org") == WebStorage(origin="https://example.org", local={"k": "v"})
    assert session.storage("https://other.org").name == ""
    path.chmod(0o644)
    save_state(path, session.state())
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert load_state(path) == load_state(path)
    assert Session(state=load_state(path)).state() == session.state()
    assert list(tmp_path.iterdir()) == [path], "no temporary file is left"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("{", "no JSON"),
        ("[]", "no storage state"),
        ("{}", "cookies: Field required"),
        ('{"cookies": [{"name": "id", "value": "hunter2"}], "origins": []}', "cookies.0.domain"),
        (json.dumps({**STATE, "cookies": [{**COOKIE, "sameSite": "hunter2"}]}), "cookies.0.sameSite"),
        ('{"cookies": [], "origins": [{"localStorage": "hunter2"}]}', "origins.0.origin"),
        (b"\xff\xfe\x00", "no text"),
        (None, "cannot be read"),
    ],
)
def test_what_is_no_storage_state_is_told_of(tmp_path: Path, text: str | bytes | None, says: str) -> None:
    path = tmp_path / "state.json"
    if text is not None:
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(SessionUnusable, match=says) as error:
        load_state(path)
    assert error.value.hint
    assert "hunter2" not in str(error.value)


def test_a_place_that_cannot_be_written_is_told_of_before(tmp_path: Path) -> None:
    check_writable(tmp_path / "new" / "state.json")
    (tmp_path / "file").write_text("")
    for place in (tmp_path, tmp_path / "file" / "state.json"):
        with pytest.raises(SessionUnusable, match="cannot be saved"):
            check_writable(place)
    with pytest.raises(SessionUnusable, match="could not be saved"):
        save_state(tmp_path / "gone" / "state.json", StorageState(cookies=[], origins=[]))


def test_what_several_changed_is_merged() -> None:
    session = Session()
    before = session.cookies
    session.learn_cookies(before=before, after=[{**COOKIE, "name": "a"}])
    session.learn_cookies(before=before, after=[{**COOKIE, "name": "b"}])
    assert sorted(cookie["name"] for cookie in session.cookies) == ["a", "b"]
    both, name = session.cookies, session.name
    session.learn_cookies(before=[*both], after=[*reversed(both)])
    assert session.cookies is both, "the order does not matter"
    session.learn_cookies(before=both, after=[{**COOKIE, "name": "a", "value": "2"}])
    assert [(cookie["name"], cookie["value"]) for cookie in session.cookies] == [("a", "2")]
    assert session.name != name


async def test_a_slot_whose_cookies_were_being_changed_is_of_no_use() -> None:
    begun = asyncio.Event()

    class Context:
        async def clear_cookies(self) -> None:
            begun.set()
            await asyncio.Event().wait()

    slot = SimpleNamespace(context=Context(), cookies=(), crashed=False)
    giving = asyncio.create_task(give_cookies(cast(Slot, slot), [COOKIE]))
    await begun.wait()
    giving.cancel()
    await asyncio.wait([giving])
    assert (slot.cookies, slot.crashed) == (None, True)


def test_only_an_anonymous_session_is_called_so() -> None:
    assert Session().name == "anonymous"
    assert Session(personal=True).name != "anonymous"
    assert Session(state=StorageState(cookies=[], origins=[])).name != "anonymous"


def test_a_profile_is_for_one_at_a_time(tmp_path: Path) -> None:
    folder = tmp_path / "profile"
    with Profile(folder) as profile:
        assert profile.load() is None
        save_state(profile.path, StorageState(cookies=[COOKIE], origins=[]))
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        with pytest.raises(SessionUnusable, match="in use by another run") as error, Profile(folder):
            pass
        assert "--profile" in error.value.hint
    with Profile(folder) as profile:
        assert (profile.load() or {})["cookies"][0]["name"] == "id"
    (tmp_path / "file").write_text("")
    with pytest.raises(SessionUnusable, match="cannot be used"), Profile(tmp_path / "file" / "x"):
        pass


async def test_a_killed_run_leaves_its_profile_free(tmp_path: Path) -> None:
    code = (
        "import sys, signal, pathlib\nfrom browser.session.profile_folder import Profile\n"
        "with Profile(pathlib.Path(sys.argv[1])):\n    print('held', flush=True)\n    signal.pause()"
    )
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", code, str(tmp_path), stdout=asyncio.subprocess.PIPE
    )
    assert process.stdout is not None
    assert await process.stdout.readline() == b"held\n"
    with pytest.raises(SessionUnusable, match="in use"), Profile(tmp_path):
        pass
    process.send_signal(signal.SIGKILL)
    await process.wait()
    with Profile(tmp_path) as profile:
        assert profile.load() is None


def test_a_profile_has_a_name_or_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert profile_folder("work") == tmp_path / "speccache" / "profiles" / "work"
    assert profile_folder("./work") == Path("work")
    assert profile_folder("~/work") == Path.home() / "work"
    for wrong in ("", "a b", "a:b", "x" * 80):
        with pytest.raises(ValueError, match="neither"):
            profile_folder(wrong)


@pytest.mark.parametrize("text", ["en", "de-AT", "zh-Hant-TW", "es-419", "ca-ES-valencia", "sr-Latn"])
def test_a_language_tag(text: str) -> None:
    assert parse_locale(text) == text


@pytest.mark.parametrize("text", ["", "english", "de_AT", "de-", "d", "de AT", "de-AT; x"])
def test_what_is_no_language_tag(text: str) -> None:
    with pytest.raises(ValueError, match="no language tag"):
        parse_locale(text)


def test_the_size_of_a_window() -> None:
    assert parse_viewport("1280x720") == parse_viewport(" 1280X720 ") == Viewport(width=1280, height=720)
    for wrong in ("", "1280", "x720", "1280x", "0x0", "99999x20", "12.5x100", "-1x100"):
        with pytest.raises(ValueError, match="no size"):
            parse_viewport(wrong)


def test_a_header() -> None:
    header = parse_header("Authorization:  Bearer abc:defgh ")
    assert (header.name, header.value) == ("Authorization", "Bearer abc:defgh")
    assert header.secrets == {"Bearer abc:defgh", "abc:defgh"}
    assert "abc" not in repr(header)
    assert parse_header("Accept: application/json").secrets == frozenset()
    for wrong in ("", "X", "X:", "X Y: z", "X: a\r\nY: b", "X: é世"):
        with pytest.raises(ValueError, match="Name: value"):
            parse_header(wrong)
    for taken, advice in (("Cookie: a=secret", "--storage-state"), ("user-agent: x", "--user-agent"), ("Host: x", "")):
        with pytest.raises(ValueError, match=f"own.*{advice}") as error:
            parse_header(taken)
        assert "secret" not in str(error.value)


@pytest.mark.parametrize(
    ("url", "go"),
    [
        ("https://example.org/", True),
        ("https://api.example.org/x", True),
        ("http://example.org/", False),
        ("https://example.org.evil.test/", False),
        ("https://named.test:8443/", True),
        ("https://notexample.org/", False),
        ("data:,x", False),
        ("https://[", False),
    ],
)
def test_where_headers_go(url: str, *, go: bool) -> None:
    headers = SiteHeaders(headers=(), url="https://example.org/start", hosts=frozenset({"named.test"}))
    assert headers.go_to(url) is go


def test_an_identity_is_named_by_what_it_shows() -> None:
    headers = SiteHeaders(headers=(Header(name="X-Key", value="secret"),))
    names = [Identity(), Identity(locale="de"), Identity(user_agent="x"), Identity(headers=headers)]
    assert len({identity.name for identity in names}) == 4
    assert Identity().name == "1280x2000 en-US"
    assert "secret" not in f"{names[-1].name} {names[-1]}"
    assert URL(headers.url) == URL("")


def test_a_window_needs_a_browser_that_has_one(tmp_path: Path) -> None:
    shell = tmp_path / "chrome-headless-shell"
    shell.write_bytes(b"\x7fELF")
    shell.chmod(0o755)
    assert find_chromium(shell).executable == shell
    with pytest.raises(BrowserNotFound, match="no window") as error:
        find_chromium(shell, headed=True)
    assert "--headed" in error.value.hint
