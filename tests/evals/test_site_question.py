from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import pytest

from evals.site import QuestionsInvalid, build_site, load_questions

GOOD = {
    "id": "manual-1",
    "site": "manual",
    "question": "What is the default port?",
    "answer": "5432",
    "answer_tokens": ["port", "5432"],
    "root_path": "/index.html",
    "golden_path": ["/config.html", "/config-connection.html"],
    "hops": 2,
}


def write(folder: Path, *lines: object) -> Path:
    path = folder / "questions.jsonl"
    path.write_text("".join(f"{line if isinstance(line, str) else json.dumps(line)}\n" for line in lines))
    return path


def test_questions_survive_a_file(tmp_path: Path) -> None:
    questions = build_site().questions
    assert load_questions(write(tmp_path, *map(asdict, questions))) == questions


def test_blank_lines_and_unknown_fields_do_not_matter(tmp_path: Path) -> None:
    (question,) = load_questions(write(tmp_path, "", GOOD | {"checked_by": "hand"}, " "))
    assert question.answer_tokens == ("port", "5432")
    assert question.lang == "en"


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("{", "no JSON"),
        ([1], "expected a JSON object, found list"),
        ({"id": "x"}, "fields are missing: site, question, answer"),
        (GOOD | {"question": ""}, "question must be a text"),
        (GOOD | {"answer_tokens": "5432"}, "answer_tokens must be a list of texts"),
        (GOOD | {"hops": 1}, "hops is 1, but golden_path has 2 links"),
        (GOOD | {"lang": 3}, "lang must be a text"),
    ],
)
def test_a_line_that_is_no_question_is_named(tmp_path: Path, line: object, problem: str) -> None:
    with pytest.raises(QuestionsInvalid, match=rf"questions\.jsonl:2: {problem}"):
        load_questions(write(tmp_path, GOOD, line))


def test_a_file_that_is_missing_empty_or_binary_is_refused(tmp_path: Path) -> None:
    with pytest.raises(QuestionsInvalid, match="cannot read questions"):
        load_questions(tmp_path / "missing.jsonl")
    with pytest.raises(QuestionsInvalid, match="holds no question"):
        load_questions(write(tmp_path, ""))
    binary = tmp_path / "binary.jsonl"
    binary.write_bytes(b"\xff\xfe")
    with pytest.raises(QuestionsInvalid, match="cannot read questions"):
        load_questions(binary)
