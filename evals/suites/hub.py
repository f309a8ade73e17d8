"""Fetches a dataset's file from the Hugging Face hub.

Invariant: a path that is handed out leads to the expected file: the one with the given SHA-256, or else the one the hub
announced. It lies in the cache of the hub's client, and what lies there is not asked for again; a file that is not as
expected is removed.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from evals.suites.errors import DatasetUnavailable

DEFAULT_ENDPOINT = "https://huggingface.co"

_SHA256 = re.compile("[0-9a-f]{64}")
_GIT_BLOB = re.compile("[0-9a-f]{40}")


@dataclass(frozen=True, slots=True, kw_only=True)
class HubFile:
    """A file of a dataset on the hub.

    Attributes:
        repository: The dataset's repository.
        file: The file's path in it.
        revision: Branch or commit.
        sha256: The file's digest, in hexadecimal; empty: not known.
    """

    repository: str
    file: str
    revision: str = "main"
    sha256: str = ""


def fetch(wanted: HubFile, *, cache: Path | None = None) -> Path:
    """Return the file's path, downloading it unless the cache has it. Blocks while it does.

    Honours what the hub's client does: `HF_ENDPOINT` for a mirror, `HF_TOKEN`, `HF_HOME`, `HF_HUB_OFFLINE`.

    Args:
        wanted: Which file.
        cache: The cache's folder; by default the user's own.

    Raises:
        DatasetUnavailable: The client is not installed, the hub cannot be reached or refuses, or another file came.
    """
    try:
        from huggingface_hub import hf_hub_download  # noqa: PLC0415 (an extra)
        from huggingface_hub.errors import HfHubHTTPError, LocalEntryNotFoundError  # noqa: PLC0415
    except ImportError as error:
        raise DatasetUnavailable(
            "fetching a dataset needs the hub's client, which is not installed",
            hint=f"Install it with: pip install 'speccache[hub]'. {_by_hand(wanted)}",
        ) from error
    # The client reads this variable once, when it is imported.
    endpoint = os.environ.get("HF_ENDPOINT") or DEFAULT_ENDPOINT
    download = partial(
        hf_hub_download,
        wanted.repository,
        wanted.file,
        repo_type="dataset",
        revision=wanted.revision,
        cache_dir=cache,
        endpoint=endpoint,
    )
    try:
        path = Path(_cached_or_sent(download, LocalEntryNotFoundError))
    except LocalEntryNotFoundError as error:
        raise DatasetUnavailable(
            f"{wanted.file} of {wanted.repository} was not fetched before, and {endpoint} cannot be reached",
            hint=f"Connect to the network, or name a mirror with HF_ENDPOINT. {_by_hand(wanted)}",
        ) from error
    except (HfHubHTTPError, OSError) as error:
        raise DatasetUnavailable(
            f"{wanted.file} of {wanted.repository} could not be had from {endpoint}: {_first_line(error)}",
            hint=_by_hand(wanted),
        ) from error
    _check(path, wanted, endpoint)
    return path


def _cached_or_sent(download: Callable[..., str], not_cached: type[Exception]) -> str:
    try:
        return download(local_files_only=True)
    except not_cached:
        return download()


def _check(path: Path, wanted: HubFile, endpoint: str) -> None:
    # The cache names each file by the digest that the hub announced, and links to it.
    stored = path.resolve()
    expected = wanted.sha256 or stored.name
    if _digest(stored, expected) == expected:
        return
    path.unlink()
    stored.unlink(missing_ok=True)
    raise DatasetUnavailable(
        f"what {endpoint} sent is not the expected {wanted.file} of {wanted.repository}: its digest is another",
        hint=f"Run again; if it stays so, the dataset or the mirror has changed. {_by_hand(wanted)}",
    )


def _digest(path: Path, expected: str) -> str:
    """Compute the kind of digest that is expected; hand back what is expected where it is none."""
    content = path.read_bytes()
    if _SHA256.fullmatch(expected):
        return hashlib.sha256(content).hexdigest()
    if _GIT_BLOB.fullmatch(expected):
        blob = b"blob %d\0%b" % (len(content), content)
        return hashlib.sha1(blob, usedforsecurity=False).hexdigest()
    return expected


def _first_line(error: Exception) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0].rstrip(".")


def _by_hand(wanted: HubFile) -> str:
    return f"Or download {wanted.file} of the dataset {wanted.repository} by hand, and give the file."
