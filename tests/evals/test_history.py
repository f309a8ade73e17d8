"""How good guesses from a client's history are: counted on a site whose right answers are plain to see."""

from __future__ import annotations

import json
from pathlib import Path

from evals.bench.history import history

PAGES = {
    "index": "<a href=/news>News</a> <a href=/jobs>Jobs</a> <a href=/press>Press</a> <a href=/trams>Trams</a>",
    "trams": "<a href=/news>News</a> <a href=/trams/oldest>The oldest</a>",
    "trams/oldest": "<p>Number 7.</p>",
}


async def test_a_goal_finds_what_history_does_not(tmp_path: Path) -> None:
    for name, text in PAGES.items():
        page = tmp_path / "depot" / f"{name}.html"
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text(text)
    asked = {"id": "1", "site": "depot", "question": "Which of the trams is the oldest?", "answer": "7", "hops": 2}
    path = {"answer_tokens": ["7"], "root_path": "/", "golden_path": ["/trams", "/trams/oldest"]}
    file = tmp_path / "depot.jsonl"
    file.write_text(json.dumps(asked | path))
    found = await history([file], tmp_path)
    assert (found.n, found.ratio) == (2, 2.0)
    assert found.parts["goal"] == {"@1": 1.0, "@3": 1.0, "@5": 1.0, "by_rank": [1.0, 0.0, 0.0, 0.0, 0.0]}
    # At first nothing is known, and links come as they stand; then those that the page before had come last.
    assert found.parts["history"] == {"@1": 0.5, "@3": 0.5, "@5": 1.0, "by_rank": [0.5, 0.0, 0.0, 0.5, 0.0]}
