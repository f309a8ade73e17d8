"""Where files go that pages gave: under which name, and for how long."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from browser.downloads.quarantine import Quarantine, safe_name
from browser.errors import BrowserError


@pytest.mark.parametrize(
    ("name", "safe"),
    [
        ("report.pdf", "report.pdf"),
        ("Jahresbericht 世界.csv", "Jahresbericht 世界.csv"),
        ("../../etc/passwd", "passwd"),
        ("C:\\folder\\run.exe", "run.exe"),
        ("..", "file"),
        (".profile", "profile"),
        ("--force.txt", "force.txt"),
        ("nul.txt", "_nul.txt"),
        ("a\u202efdp.exe", "a_fdp.exe"),
        ("a\nb\0c:d.txt", "a_b_c_d.txt"),
    ],
)
def test_a_name_has_no_meaning_but_its_own(name: str, safe: str) -> None:
    assert safe_name(name) == safe


@given(st.text(max_size=400))
def test_any_name_is_a_plain_file_in_its_folder(name: str) -> None:
    safe = safe_name(name)
    assert Path("folder", safe).parent == Path("folder")
    assert Path("folder", safe).name == safe
    assert 0 < len(safe.encode()) <= 255 - len(" (1000)")
    assert not safe.startswith((".", "-"))
    assert safe_name(safe) == safe


async def test_files_of_one_name_lie_side_by_side_and_may_not_be_run(tmp_path: Path) -> None:
    async with Quarantine(parent=tmp_path) as quarantine:
        places = []
        for text in ("one", "two", "three"):
            file = tmp_path / "arrived"
            file.write_text(text)
            file.chmod(0o755)
            places.append(quarantine.admit(file, "../run.sh"))
        assert [place.name for place in places] == ["run.sh", "run (2).sh", "run (3).sh"]
        assert [place.read_text() for place in places] == ["one", "two", "three"]
        assert {place.stat().st_mode & 0o777 for place in places} == {0o600}
        assert {place.parent for place in places} == {quarantine.folder}
    assert await asyncio.to_thread(lambda: list(tmp_path.iterdir())) == []
    with pytest.raises(BrowserError):
        _ = quarantine.folder


async def test_a_folder_of_the_users_own_is_left_as_it_is(tmp_path: Path) -> None:
    kept = tmp_path / "deep" / "kept"
    async with Quarantine(kept) as quarantine:
        file = tmp_path / "arrived"
        file.write_text("one")
        await asyncio.to_thread(quarantine.admit, file, "a.txt")
    assert (kept / "a.txt").read_text() == "one"


async def test_a_folder_that_cannot_be_made_says_so(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(BrowserError, match="the folder for downloads cannot be made"):
        async with Quarantine(tmp_path / "file" / "kept"):
            pass
