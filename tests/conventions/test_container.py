"""The files that make the container, as far as they can be checked without building it."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

from tests.conventions.sources import ROOT

BIN = Path(sys.executable).parent
DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8")


def checked(*command: str | Path) -> None:
    """Run a linter, which is to find nothing."""
    outcome = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr


def test_the_dockerfile_is_well_made() -> None:
    checked(BIN / "hadolint", "--failure-threshold", "info", "Dockerfile")


def test_the_compose_file_keeps_to_its_schema() -> None:
    checked(BIN / "check-jsonschema", "--builtin-schema", "vendor.compose-spec", "compose.yaml")


def test_the_commands_it_starts_with_exist() -> None:
    compose = (ROOT / "compose.yaml").read_text(encoding="utf-8")
    (started,) = re.findall(r"^CMD (\[.*\])$", DOCKERFILE, re.MULTILINE)
    (composed,) = re.findall(r"command: \[(mcp, .*)\]$", compose, re.MULTILINE)
    for arguments in (json.loads(started), [part.strip('"') for part in composed.split(", ")]):
        checked(BIN / "speccache", *arguments, "--help")  # an option that is not known fails before help is shown


def test_all_that_the_project_is_built_from_gets_into_the_image() -> None:
    let_in = set(re.findall(r"^!(.+)$", (ROOT / ".dockerignore").read_text(encoding="utf-8"), re.MULTILINE))
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    packages = re.search(r'^packages = \["(.*)"\]$', project, re.MULTILINE)
    assert packages
    assert let_in == {*packages[1].split('", "'), "pyproject.toml", "README.md", "LICENSE"}


def test_it_runs_as_a_user_without_rights_below_an_init_process() -> None:
    user = re.findall(r"^USER (\d+):(\d+)$", DOCKERFILE, re.MULTILINE)
    assert user == [("10001", "10001")]
    assert 'ENTRYPOINT ["tini", "--", "speccache"]' in DOCKERFILE
    assert "--no-sandbox" not in DOCKERFILE
    compose = (ROOT / "compose.yaml").read_text(encoding="utf-8")
    assert (
        compose.count("read_only: true") == compose.count("cap_drop: [ALL]") == compose.count("no-new-privileges") == 2
    )
    assert "privileged: true" not in compose


def test_the_seccomp_profile_leaves_what_chromium_makes_its_sandbox_with() -> None:
    profile = json.loads((ROOT / "container" / "seccomp.json").read_text(encoding="utf-8"))
    denied = {name for rule in profile["syscalls"] for name in rule["names"]}
    assert {rule["action"] for rule in profile["syscalls"]} == {"SCMP_ACT_ERRNO"}
    assert denied.isdisjoint({"clone", "clone3", "unshare", "chroot", "seccomp", "prctl"})
    assert {"mount", "move_mount", "setns", "ptrace", "bpf", "keyctl", "io_uring_setup"} <= denied
