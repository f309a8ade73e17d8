"""The result goes into a person's settings, and nothing else in there changes."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.errors import ConfigurationError
from evals.tune.settings_file import write_settings

VALUES = {"pool_size": 6, "max_guesses": 2}


def written(folder: Path, before: str | None) -> str:
    path = folder / "speccache.toml"
    if before is not None:
        path.write_bytes(before.encode())
    write_settings(path, VALUES)
    assert [entry.name for entry in folder.iterdir()] == ["speccache.toml"]
    return path.read_bytes().decode()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (None, "pool_size = 6\nmax_guesses = 2\n"),
        ("", "pool_size = 6\nmax_guesses = 2\n"),
        ("act = true # yes", "act = true # yes\npool_size = 6\nmax_guesses = 2\n"),
        ("# mine\nmax_guesses=3   # why\n\n# end\n", "# mine\nmax_guesses=2   # why\n\n# end\npool_size = 6\n"),
        ('pool_size = "auto" # ask the machine\n', "pool_size = 6 # ask the machine\nmax_guesses = 2\n"),
    ],
)
def test_only_the_written_values_change(tmp_path: Path, before: str | None, after: str) -> None:
    assert written(tmp_path, before) == after


def test_written_again_it_stays_the_same(tmp_path: Path) -> None:
    once = written(tmp_path, "# mine\nthink = 1.5\n")
    assert written(tmp_path, once) == once


@given(
    lines=st.lists(
        st.sampled_from(["# a", "", "think = 1.5", "pool_size = 3", "act = false  # no", "  # b"]), unique=True
    )
)
def test_every_other_line_stays(tmp_path_factory: pytest.TempPathFactory, lines: list[str]) -> None:
    after = written(tmp_path_factory.mktemp("settings"), "\n".join(lines)).splitlines()
    kept = [line for line in lines if line and not line.startswith("pool_size")]
    assert [line for line in after if line in kept] == kept
    assert {"pool_size = 6", "max_guesses = 2"} <= set(after)


def test_a_link_stays_a_link_and_permissions_stay(tmp_path: Path) -> None:
    real, link = tmp_path / "real.toml", tmp_path / "speccache.toml"
    real.write_text("act = true\n")
    real.chmod(0o600)
    link.symlink_to(real)
    write_settings(link, VALUES)
    assert link.is_symlink()
    assert (real.stat().st_mode & 0o777, "pool_size = 6" in real.read_text()) == (0o600, True)


@pytest.mark.parametrize("content", [b"act = \n", b"\xff\xfe", b"act = true\nact = false\n"])
def test_a_file_that_cannot_be_read_is_left_alone(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "speccache.toml"
    path.write_bytes(content)
    with pytest.raises(ConfigurationError, match=r"speccache\.toml cannot be changed"):
        write_settings(path, VALUES)
    assert path.read_bytes() == content


def test_a_folder_in_its_place_is_told_of(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError):
        write_settings(tmp_path, VALUES)
