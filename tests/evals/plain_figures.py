"""The figures of a report once more, from the lines of `runs.jsonl` alone and written as plainly as they are defined.

Invariant: nothing of `evals` is used, so that a mistake there is not made here, too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from statistics import median
from typing import Any

Row = dict[str, Any]

FLOOR = 0.001
SIDES = ("off", "lru", "random", "rank", "draft", "spec", "oracle")


def compared(rows: Iterable[Row]) -> dict[str, list[Row]]:
    """Return the rows of each mode, over the questions that every mode has without an error, in the same order."""
    last = {(row["item"], row["mode"]): row for row in rows}
    whole = {pair: row for pair, row in last.items() if row["status"] != "error" and not row["broken"]}
    modes = [mode for mode in SIDES if any(mode == other for _, other in whole)]
    items = list(dict.fromkeys(item for item, _ in last))
    items = [item for item in items if all((item, mode) in whole for mode in modes)]
    return {mode: [whole[item, mode] for item in items] for mode in modes}


def mode_figures(rows: Sequence[Row]) -> Row:
    """Return what the report says of one mode, under the names of `report.json`."""
    count = len(rows)
    steps = [step for row in rows for step in row["steps"][1:] if step["kind"] != "direct"]
    kinds = Counter(step["kind"] for step in steps)
    measured = sum(row["measured_seconds"] for row in rows)
    started, wasted = sum(row["speculated"] for row in rows), sum(row["wasted"] for row in rows)
    costs = [row["cost_dollars"] for row in rows]
    a_turn = [row["exposed_seconds"] / max(1, row["turns"]) for row in rows]
    return {
        "questions": count,
        "accuracy": sum(map(is_right, rows)) / count,
        "guessable_steps": len(steps),
        "hit1": share(sum(step["rank"] == 1 for step in steps), len(steps)),
        "hit3": share(sum(step["rank"] in (1, 2, 3) for step in steps), len(steps)),
        "hit": share(kinds["hit"], len(steps)),
        "join": share(kinds["join"], len(steps)),
        "miss": share(kinds["miss"], len(steps)),
        "hit_or_join": share(kinds["hit"] + kinds["join"], len(steps)),
        "misses": dict(Counter(step["why_missed"] or "not told" for step in steps if step["kind"] == "miss")),
        "served_by": dict(Counter(step["predictor"] or "kept from before" for step in steps if step["kind"] != "miss")),
        "statuses": dict(Counter(row["status"] for row in rows)),
        "refused": summed(row["refused"] for row in rows),
        "tokens": summed(row["tokens"] for row in rows),
        "speculated": started,
        "wasted": wasted,
        "waste": share(wasted, started),
        "wasted_bytes": sum(row["wasted_bytes"] for row in rows),
        "exposed_s_per_iteration.mean": sum(a_turn) / count,
        "exposed_s_per_iteration.median": median(a_turn),
        "exposed_s_per_iteration_without_first_page.mean": sum(map(later, rows)) / count,
        "exposed_s": sum(row["exposed_seconds"] for row in rows) / count,
        "llm_s": sum(row["llm_seconds"] for row in rows) / count,
        "end_to_end_s": sum(row["total_seconds"] for row in rows) / count,
        "bound_share": share(sum(row["bound_seconds"] for row in rows), measured),
        "turns": sum(row["turns"] for row in rows) / count,
        "cost_dollars": None if None in costs else sum(costs),
        "scores.exact": sum(row["scores"]["exact"] for row in rows) / count,
        "scores.contains": sum(row["scores"]["contains"] for row in rows) / count,
        "scores.f1": sum(row["scores"]["f1"] for row in rows) / count,
        "scores.supported": share(
            sum(row["scores"]["supported"] for row in rows if row["answer"].strip()),
            sum(bool(row["answer"].strip()) for row in rows),
        ),
        "scores.right_page": share(
            sum(row["scores"]["right_page"] is True for row in rows),
            sum(row["scores"]["right_page"] is not None for row in rows),
        ),
        "scores.unjudged": sum(
            row["scores"]["judged"] is None and not row["scores"]["exact"] and bool(row["answer"].strip())
            for row in rows
        ),
    }


def comparison(off: Sequence[Row], rows: Sequence[Row]) -> Row:
    """Return what the report says of a mode against `off`."""
    before = [row["exposed_seconds"] / max(1, row["turns"]) for row in off]
    after = [row["exposed_seconds"] / max(1, row["turns"]) for row in rows]
    ratios = [max(FLOOR, one) / max(FLOOR, other) for one, other in zip(before, after, strict=True)]
    best = max(range(len(rows)), key=ratios.__getitem__)
    return {
        "ratio": less(before, after),
        "without_first_page.ratio": less([*map(later, off)], [*map(later, rows)]),
        "end_to_end.ratio": less([row["total_seconds"] for row in off], [row["total_seconds"] for row in rows]),
        "best_query.item": rows[best]["item"],
        "best_query.ratio": ratios[best],
        "differing": [one["item"] for one, other in zip(off, rows, strict=True) if way(one) != way(other)],
    }


def counterfactual(off: Sequence[Row], rows: Sequence[Row]) -> Row:
    """Return what the published code would say of a mode, and what was measured."""
    every, rest, named = [], [], []
    for row in rows:
        every.append(sum(step["load_seconds"] for step in row["steps"]))
        rest.append(sum(step["load_seconds"] for at, step in enumerate(row["steps"]) if not at or not step["named"]))
        named += [step["named"] for step in row["steps"][1:] if step["kind"] != "direct"]
    turns = [max(1, row["turns"]) for row in rows]
    return {
        "named": share(sum(named), len(named)),
        "no_cache_s": sum(every) / len(every),
        "cache_s": sum(rest) / len(rest),
        "ratio": less(every, rest),
        "per_iteration.ratio": less(
            [one / turn for one, turn in zip(every, turns, strict=True)],
            [one / turn for one, turn in zip(rest, turns, strict=True)],
        ),
        "measured.ratio": less([row["exposed_seconds"] for row in off], [row["exposed_seconds"] for row in rows]),
    }


def is_right(row: Row) -> bool:
    scores = row["scores"]
    return bool(scores["contains"] if scores["judged"] is None else scores["judged"])


def later(row: Row) -> float:
    """Exposed web time a turn without that of the first page."""
    first = row["steps"][0]["waited_seconds"] if row["steps"] else 0.0
    return float(max(0.0, row["exposed_seconds"] - first) / max(1, row["turns"]))


def way(row: Row) -> list[str]:
    return [*(step["action"] for step in row["steps"]), row["answer"]]


def share(part: float, whole: float) -> float | None:
    return part / whole if whole else None


def less(before: Sequence[float], after: Sequence[float]) -> float:
    return max(FLOOR, sum(before) / len(before)) / max(FLOOR, sum(after) / len(after))


def summed(counted: Iterable[dict[str, int]]) -> dict[str, int]:
    total: dict[str, int] = {}
    for each in counted:
        for name, count in each.items():
            total[name] = total.get(name, 0) + count
    return total


def in_report(report: Row, path: str) -> Any:
    """Return what stands in a report under a path with dots."""
    for name in path.split("."):
        report = report[name]
    return report
