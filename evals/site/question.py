"""A question whose answer is known, and files of them.

Invariant: the fields are those of the JSON Lines files that questions over other sites come in.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evals.site.errors import QuestionsInvalid


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One question about a site. The answer is for measuring only; nothing that answers may see it.

    Attributes:
        id: Unique within its site.
        site: The site's name.
        question: What is asked.
        answer: The expected answer.
        answer_tokens: Texts that all occur on the page with the answer.
        root_path: Where to start.
        golden_path: The links to follow from there; each is a rendered link of the page before.
        hops: How many they are.
        lang: `en` or `zh`.
    """

    id: str
    site: str
    question: str
    answer: str
    answer_tokens: tuple[str, ...]
    root_path: str
    golden_path: tuple[str, ...]
    hops: int
    lang: str = "en"


_TEXTS = ("id", "site", "question", "answer", "root_path")
_LISTS = ("answer_tokens", "golden_path")


def load_questions(path: Path) -> tuple[Question, ...]:
    """Read questions from a JSON Lines file; blank lines are skipped, unknown fields ignored.

    Raises:
        QuestionsInvalid: The file cannot be read or holds no question, or a line is none; the message names the line.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise QuestionsInvalid(f"cannot read questions from {path}: {error}") from error
    questions = tuple(_parse(line, f"{path}:{number}") for number, line in enumerate(lines, 1) if line.strip())
    if not questions:
        raise QuestionsInvalid(f"{path} holds no question", hint="Write one JSON object per line.")
    return questions


def _parse(line: str, where: str) -> Question:
    try:
        raw = json.loads(line)
    except json.JSONDecodeError as error:
        raise QuestionsInvalid(f"{where}: no JSON: {error}") from error
    if not isinstance(raw, dict):
        raise QuestionsInvalid(f"{where}: expected a JSON object, found {type(raw).__name__}")
    if problem := _problem(raw):
        raise QuestionsInvalid(f"{where}: {problem}")
    return Question(
        **{name: raw[name] for name in _TEXTS},
        answer_tokens=tuple(raw["answer_tokens"]),
        golden_path=tuple(raw["golden_path"]),
        hops=raw["hops"],
        lang=raw.get("lang", "en"),
    )


def _problem(raw: dict[str, Any]) -> str:
    missing = [name for name in (*_TEXTS, *_LISTS, "hops") if name not in raw]
    if missing:
        return f"fields are missing: {', '.join(missing)}"
    for name in _TEXTS:
        if not isinstance(raw[name], str) or not raw[name]:
            return f"{name} must be a text that is not empty"
    for name in _LISTS:
        if not isinstance(raw[name], list) or not all(isinstance(item, str) for item in raw[name]):
            return f"{name} must be a list of texts"
    if not isinstance(raw.get("lang", "en"), str):
        return "lang must be a text"
    if raw["hops"] != len(raw["golden_path"]):
        return f"hops is {raw['hops']}, but golden_path has {len(raw['golden_path'])} links"
    return ""
