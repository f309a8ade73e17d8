"""Traces, written by hand: what happened is known to the millisecond."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

HEADING = {"event": "trace", "version": 1, "at_s": 0.0, "started_at": "2026-01-02T03:04:05+00:00"}
SITE = "https://site.test"
MARKUP = "</script><img src=x onerror=alert(1)>"

Line = dict[str, Any]


def cache(kind: str, at: float, page: str, *, turn: int, **facts: Any) -> Line:
    """What happens in the cache, of a page."""
    action, key = f"visit {SITE}/{page}", f"{SITE}/{page} anonymous"
    return {"event": "event", "kind": kind, "at_s": at, "turn": turn, "action": action, "key": key, **facts}


def observed(at: float, page: str, *, turn: int, seconds: float, **facts: Any) -> Line:
    """A page is in hand."""
    seen = {
        "url": f"{SITE}/{page}",
        "title": f"About {page}",
        "status": 200,
        "text": f"All of {page}.",
        "problem": None,
    }
    return {
        "event": "observed",
        "at_s": at,
        "turn": turn,
        "action": f"visit {page}",
        "seconds": seconds,
        **seen,
        **facts,
    }


def thinking(at: float, *, turn: int) -> Line:
    """The target begins to decide."""
    return {"event": "thinking", "at_s": at, "turn": turn}


def decided(at: float, action: str, *, turn: int, seconds: float, **facts: Any) -> Line:
    """It decided."""
    usage = {"input_tokens": 1000, "output_tokens": 50}
    thought = f"It is {action}, I think."
    return {"event": "decided", "at_s": at, "turn": turn, "action": action, "thought": thought, "seconds": seconds} | {
        "usage": usage,
        **facts,
    }


def example() -> list[Line]:
    """A run of three turns: a miss, a join, a hit, and the answer; of four loads ahead two are used.

    It takes 10 s: 6 s of thinking, 3 s of waiting, 1 s of something else; 3 s of loading were hidden.
    """
    rank, draft = {"predictor": "rank"}, {"predictor": "draft:small"}
    return [
        HEADING,
        {"event": "started", "at_s": 0.0, "question": f"What? {MARKUP}", "url": f"visit {SITE}/", "target": "large"},
        cache("miss", 2.0, "", turn=0, waited_seconds=2.0),
        observed(2.0, "", turn=0, seconds=2.0, title=MARKUP),
        thinking(2.0, turn=1),
        cache("launch", 2.1, "a", turn=1, rank=1, **rank),
        {**cache("predict", 2.2, "", turn=1, seconds=0.2, **rank), "action": "predict", "key": ""},
        cache("launch", 2.5, "b", turn=1, rank=1, **draft),
        cache("refuse", 2.6, "c", turn=1, rank=2, reason="over-cap", **draft),
        {**cache("predict", 3.0, "", turn=1, seconds=1.0, **draft), "action": "predict", "key": ""},
        {"event": "call", "kind": "reply", "at_s": 3.0, "role": "draft", "model": "small", "seconds": 0.9},
        decided(4.0, "visit 1", turn=1, seconds=2.0),
        cache("load", 5.0, "a", turn=1, seconds=2.9, size_bytes=2000, **rank),
        cache("join", 5.0, "a", turn=1, seconds=2.9, waited_seconds=1.0, thought_seconds=2.0),
        observed(5.0, "a", turn=1, seconds=1.0),
        thinking(5.0, turn=2),
        cache("launch", 5.1, "d", turn=2, rank=1, **rank),
        cache("load", 5.5, "b", turn=2, seconds=3.0, size_bytes=3000, **draft),
        cache("launch", 5.6, "e", turn=2, rank=2, **rank),
        cache("load", 6.2, "d", turn=2, seconds=1.1, size_bytes=1000, **rank),
        decided(7.0, "visit 4", turn=2, seconds=2.0),
        cache("hit", 7.0, "d", turn=2, seconds=1.1, thought_seconds=2.0),
        observed(7.0, "d", turn=2, seconds=0.0),
        cache("cancel", 7.1, "e", turn=3, reason="implausible", **rank),
        thinking(7.5, turn=3),
        decided(9.5, "answer 'that'", turn=3, seconds=2.0),
        {"event": "finished", "at_s": 10.0, "status": "answered", "answer": "that", "sources": [f"{SITE}/d"]}
        | {"reason": ""},
    ]


def write(path: Path, lines: list[Line]) -> Path:
    """Write a trace."""
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path
