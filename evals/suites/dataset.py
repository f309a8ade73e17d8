"""The datasets that have a name here: where each one's file is, and what reads it.

Invariant: nothing of a dataset is part of this project; its file comes from the hub or from the person who asks.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from evals.suites.errors import DatasetUnavailable
from evals.suites.frames import load_frames
from evals.suites.hub import HubFile, fetch
from evals.suites.item import Item
from evals.suites.webwalkerqa import load_webwalkerqa


@dataclass(frozen=True, slots=True, kw_only=True)
class Dataset:
    """A dataset.

    Attributes:
        source: Its file on the hub.
        load: Reads such a file.
    """

    source: HubFile
    load: Callable[[Path], tuple[Item, ...]]


_WEBWALKERQA = "callanwu/WebWalkerQA"

DATASETS: Mapping[str, Dataset] = MappingProxyType(
    {
        "webwalkerqa": Dataset(
            source=HubFile(repository=_WEBWALKERQA, file="data/main-00000-of-00001.jsonl"), load=load_webwalkerqa
        ),
        "webwalkerqa-silver": Dataset(
            source=HubFile(repository=_WEBWALKERQA, file="data/silver-00000-of-00001.jsonl"), load=load_webwalkerqa
        ),
        "frames": Dataset(
            source=HubFile(
                repository="google/frames-benchmark",
                file="test.tsv",
                revision="58d9fb6330f3ab1316d1eca12e5e8ef23dcc22ef",
                sha256="4255093c93b595b5b04c7c8dde290b48ec87d72ca0fb0b760d9dd02740d669ff",
            ),
            load=load_frames,
        ),
    }
)


def load_dataset(name: str, path: Path | None = None) -> tuple[Item, ...]:
    """Read a dataset from a file, or from the hub where none is given. Blocks while it downloads.

    Raises:
        DatasetUnavailable: There is no such dataset, or it could not be had.
        ItemsInvalid: Its file cannot be read, or a row of it is no question.
    """
    if name not in DATASETS:
        raise DatasetUnavailable(f"there is no dataset {name!r}", hint=f"Use one of {', '.join(DATASETS)}.")
    dataset = DATASETS[name]
    return dataset.load(fetch(dataset.source) if path is None else path)
