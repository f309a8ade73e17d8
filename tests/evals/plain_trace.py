"""What a trace says of a run, worked out from its lines alone: what the run's record must say, too.

Invariant: nothing of `evals` is used, so that a mistake there is not made here, too.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

Line = dict[str, Any]

_TAKEN = ("hit", "join", "miss", "direct")


def read(path: Path) -> list[Line]:
    """Return the lines of a trace."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def facts(lines: list[Line]) -> Line:
    """Return a run's figures, under the names of its record."""
    cache = [line for line in lines if line["event"] == "event"]
    observed = [line for line in lines if line["event"] == "observed"]
    began, ended = (next(line["at_s"] for line in lines if line["event"] == name) for name in ("started", "finished"))
    return {
        "total_seconds": ended - began,
        "llm_seconds": sum(line["seconds"] for line in lines if line["event"] in ("decided", "concluded")),
        "exposed_seconds": sum(line["seconds"] for line in observed),
        "turns": sum(line["event"] == "decided" for line in lines),
        "speculated": sum(line["kind"] == "launch" for line in cache),
        "wasted": _wasted(cache),
        "refused": dict(Counter(line["reason"] for line in cache if line["kind"] == "refuse")),
    }


def _wasted(cache: list[Line]) -> int:
    """Count the loads that no step used; one load serves one step."""
    unused: Counter[str] = Counter()
    for line in cache:
        if line["kind"] == "launch":
            unused[line["key"]] += 1
        elif line["kind"] in ("hit", "join") and unused[line["key"]]:
            unused[line["key"]] -= 1
    return unused.total()


def steps(lines: list[Line]) -> list[Line]:
    """Return a run's steps: how each page came, how long it was waited for, and which guess of its turn it was."""
    found: list[Line] = []
    guessed: list[str] = []
    named: set[str] = set()
    taken: Line = {}
    for line in lines:
        kind = line.get("kind", "")
        if line["event"] == "observed":
            key = taken.get("key", "")
            place = guessed.index(key) + 1 if key in guessed else 0
            found.append(
                {"waited_seconds": line["seconds"], "kind": taken.get("kind"), "rank": place, "named": key in named}
            )
            guessed, taken = [], {}
        elif line["event"] == "event" and kind in _TAKEN:
            taken = line
        elif line["event"] == "event" and kind in ("launch", "known"):
            named.add(line["key"])
            guessed += [line["key"]] if line["depth"] == 0 else []
    return found
