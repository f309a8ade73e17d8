"""Which suites there are, by the names that `speccache eval` takes.

Invariant: a suite is made only when it is asked for; the live ones fetch a file, the offline ones build their sites.
"""

from __future__ import annotations

from pathlib import Path
from pkgutil import resolve_name

from evals.suites.dataset import load_dataset
from evals.suites.errors import ItemsInvalid, SelectionInvalid
from evals.suites.folders import folder_suite
from evals.suites.questions_file import load_items
from evals.suites.suite import Suite

_OFFLINE = {
    "institute": "evals.suites.institute:institute_suite",
    "walks": "evals.walks.suite:walks_suite",
    "encyclopaedia": "evals.encyclopaedia.suite:encyclopaedia_suite",
}
_LIVE = {
    "webwalkerqa": "",
    "webwalkerqa-silver": "",
    "frames": "mediawiki:https://en.wikipedia.org/w/api.php",
}
"""Datasets on the live web, and the search engine that their questions need."""

SUITES = (*_OFFLINE, *_LIVE)


def open_suite(name: str, *, data: Path | None = None, sites: Path | None = None) -> Suite:
    """Return a suite.

    Args:
        name: One of `SUITES`, or the path of a file of questions or of a folder of them.
        data: A dataset's file; None: it is fetched from the hub.
        sites: The folder with one folder for each site that the questions name; only for files of questions.

    Raises:
        SuiteError: There is no such suite, or its questions cannot be had.
    """
    if name in _OFFLINE:
        _refuse(name, "--data", data)
        _refuse(name, "--sites", sites)
        suite = resolve_name(_OFFLINE[name])()
        if not isinstance(suite, Suite):
            raise TypeError(f"{_OFFLINE[name]} gave no suite")
        return suite
    if name in _LIVE:
        _refuse(name, "--sites", sites)
        return Suite(name=name, items=load_dataset(name, data), search=_LIVE[name])
    path = Path(name)
    if not name or not path.exists():
        raise SelectionInvalid(
            f"there is no suite {name!r}, nor a file or folder of that name", hint=f"Use one of {', '.join(SUITES)}."
        )
    _refuse(name, "--data", data)
    return _of_files(path, sites)


def _of_files(path: Path, sites: Path | None) -> Suite:
    items, name = load_items(path), path.resolve().stem
    if sites is not None:
        return folder_suite(items, sites, name=name)
    homeless = next((item for item in items if item.site), None)
    if homeless is not None:
        raise ItemsInvalid(
            f"{homeless.id} of {path} is about the site {homeless.site!r}, which is not on the live web",
            hint="Name the folder that holds the sites' folders with --sites.",
        )
    return Suite(name=name, items=items)


def _refuse(name: str, flag: str, given: Path | None) -> None:
    if given is not None:
        raise SelectionInvalid(f"the suite {name} takes no {flag}", hint=f"Leave {flag} out.")
