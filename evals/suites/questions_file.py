"""Files of questions: our own format, and that of questions over one site.

Invariant: what `write_items` wrote, `load_items` reads back unchanged; a field that it does not know is refused, since
one that is misspelt would be lost in silence.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import fields
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from evals.site.errors import QuestionsInvalid
from evals.site.question import Question, load_questions
from evals.suites.errors import ItemsInvalid
from evals.suites.item import Item
from evals.suites.row import Row, read_rows

_NAMES = tuple(field.name for field in fields(Item))
_REQUIRED = ("id", "question", "answer")
_LISTS = ("answer_tokens", "sources")
# What only the format of questions over one site has.
_SITE_NAMES = ("root_path", "golden_path")


def load_items(path: Path) -> tuple[Item, ...]:
    """Read questions from a JSON Lines file, or from all of a folder in the order of their names.

    A file is of one format: objects with the fields of `Item`, or those that `evals.site.load_questions` reads.

    Raises:
        ItemsInvalid: A file cannot be read, a line is no question, two have the same id, or there is none.
    """
    files = sorted(path.glob("*.jsonl")) if path.is_dir() else [path]
    if not files:
        raise ItemsInvalid(f"{path} holds no file that ends with .jsonl", hint="Name a file, or another folder.")
    items: dict[str, Item] = {}
    for file in files:
        for item in _of_file(file):
            if item.id in items:
                raise ItemsInvalid(
                    f"{file}: the id {item.id!r} was taken before", hint="Give each question its own id."
                )
            items[item.id] = item
    return tuple(items.values())


def write_items(path: Path, items: Iterable[Item]) -> None:
    """Write questions as JSON lines.

    Raises:
        OSError: The file cannot be written.
    """
    lines = (f"{json.dumps(item.as_json(), ensure_ascii=False)}\n" for item in items)
    path.write_text("".join(lines), encoding="utf-8", newline="\n")


def _of_file(file: Path) -> tuple[Item, ...]:
    rows = read_rows(file)
    if not any(name in rows[0].fields for name in _SITE_NAMES):
        return tuple(map(_item, rows))
    try:
        return tuple(map(_on_site, load_questions(file)))
    except QuestionsInvalid as error:
        raise ItemsInvalid(str(error), hint=error.hint) from error


def _on_site(question: Question) -> Item:
    return Item(
        id=question.id,
        question=question.question,
        answer=question.answer,
        url=question.root_path,
        site=question.site,
        answer_tokens=question.answer_tokens,
        golden=(question.golden_path,),
        sources=(question.golden_path[-1] if question.golden_path else question.root_path,),
        lang=question.lang,
    )


def _item(row: Row) -> Item:
    for name in row.fields:
        if name not in _NAMES:
            raise _unknown(row, name)
    for name in _REQUIRED:
        row.text(name)
    if "url" not in row.fields and "site" not in row.fields:
        raise row.invalid("url or site", 'where to start ("url": "" starts with a search)', None)
    return Item(**{name: _value(row, name) for name in row.fields})


def _unknown(row: Row, name: str) -> ItemsInvalid:
    near = get_close_matches(name, _NAMES, n=1)
    meant = f"; did you mean {near[0]!r}?" if near else ""
    return ItemsInvalid(f"{row.where}: there is no field {name!r}{meant}", hint=f"The fields are {', '.join(_NAMES)}.")


def _value(row: Row, name: str) -> Any:
    value = row.fields[name]
    if name == "golden":
        if not isinstance(value, list) or not all(map(_is_texts, value)):
            raise row.invalid(name, "a list of lists of texts", value)
        return tuple(map(tuple, value))
    if name in _LISTS:
        if not _is_texts(value):
            raise row.invalid(name, "a list of texts", value)
        return tuple(value)
    if not isinstance(value, str):
        raise row.invalid(name, "a text", value)
    return value


def _is_texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(each, str) for each in value)
