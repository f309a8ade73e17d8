"""The figures of a suite for programs: the object that `speccache eval --json` prints.

Invariant: every number is finite or null, so that any JSON reader takes it; seconds end in `_s`, shares are 0 to 1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import mean, median
from typing import Any

from evals.report.counterfactual import Counterfactual
from evals.report.figures import Comparison, Figures, ModeFigures, figures
from evals.report.paired import Ratio
from evals.runs.conditions import Conditions
from evals.runs.record import Record
from evals.scoring.accuracy import ModeAccuracy, Proportion


def report_json(records: Sequence[Record], conditions: Conditions) -> dict[str, Any]:
    """Return the figures of the records, by mode and against `off`."""
    found = figures(records)
    pairing = found.pairing
    return {
        "suite": conditions.suite,
        "conditions": conditions.as_json(),
        "caveats": list(conditions.caveats()),
        "questions": {
            "compared": len(pairing.items),
            "left_out": dict(pairing.reasons),
            "failed": dict(pairing.failed),
            "modes_not_compared": list(pairing.unusable),
            "not_side_by_side": dict(pairing.apart),
        },
        "modes": {mode: _mode(each, found) for mode, each in found.modes.items()},
        "compared": {mode: _comparison(each) for mode, each in found.compared.items()},
        "counterfactual": {
            mode: _counterfactual(each, found.measured.get(mode)) for mode, each in found.counterfactual.items()
        },
    }


def _mode(each: ModeFigures, found: Figures) -> dict[str, Any]:
    versus = found.compared.get(each.mode)
    return {
        "questions": each.questions,
        "statuses": dict(each.statuses),
        "accuracy": _round(each.accuracy),
        "scores": _scores(found.accuracy[each.mode]),
        "guessable_steps": each.guessable,
        "hit1": _round(each.hit1),
        "hit3": _round(each.hit3),
        "hit": _round(each.hit),
        "join": _round(each.join),
        "miss": _round(each.miss),
        "hit_or_join": _round(each.served),
        "served_by": dict(each.served_by),
        "misses": dict(each.missed),
        "refused": dict(each.refused),
        "speculated": each.speculated,
        "wasted": each.wasted,
        "waste": _round(each.waste),
        "wasted_bytes": each.wasted_bytes,
        "exposed_s_per_iteration": {
            "mean": _round(mean(each.exposed_seconds)),
            "median": _round(median(each.exposed_seconds)),
            "best_query": versus and _best(versus, each, found),
        },
        "exposed_s_per_iteration_without_first_page": {"mean": _round(mean(each.later_seconds))},
        "exposed_s": _round(mean(each.web_seconds)),
        "llm_s": _round(mean(each.llm_seconds)),
        "end_to_end_s": _round(mean(each.total_seconds)),
        "bound_share": _round(each.bound_share),
        "same_trajectory": None if versus is None else not versus.differing,
        "differing": [] if versus is None else list(versus.differing),
        "turns": _round(each.turns),
        "tokens": dict(each.tokens),
        "cost_dollars": None if each.cost_dollars is None else round(each.cost_dollars, 6),
    }


def _scores(found: ModeAccuracy) -> dict[str, Any]:
    return {
        "interval": [_round(found.overall.low), _round(found.overall.high)],
        "exact": _round(found.exact.share),
        "contains": _round(found.contains.share),
        "f1": _round(found.mean_f1),
        "supported": _round(found.supported.share),
        "right_page": _round(found.right_page.share),
        "unjudged": found.unjudged,
        "by_kind_and_difficulty": {kind: _groups(cells) for kind, cells in found.by_kind_and_difficulty.items()},
        "by_language": _groups(found.by_lang),
        "by_domain": _groups(found.by_domain),
    }


def _groups(found: Mapping[str, Proportion]) -> dict[str, Any]:
    return {label: {"right": each.count, "n": each.n} for label, each in found.items()}


def _best(versus: Comparison, each: ModeFigures, found: Figures) -> dict[str, Any]:
    place = found.pairing.items.index(versus.best_item)
    return {
        "item": versus.best_item,
        "ratio": _round(versus.best_ratio),
        "s": _round(each.exposed_seconds[place]),
        "off_s": _round(found.modes["off"].exposed_seconds[place]),
    }


def _comparison(versus: Comparison) -> dict[str, Any]:
    """Return the ratio of exposed web time a turn, and beside it those of the other times."""
    return _ratio(versus.exposed) | {
        "unit": "exposed web seconds per iteration, off over this mode, ratio of means",
        "best_query": {"item": versus.best_item, "ratio": _round(versus.best_ratio)},
        "without_first_page": _ratio(versus.later),
        "end_to_end": _ratio(versus.total),
        "differing": list(versus.differing),
    }


def _counterfactual(each: Counterfactual, measured: Ratio | None) -> dict[str, Any]:
    return _ratio(each.speedup) | {
        "unit": "web seconds per question, all pages over those nobody named, ratio of means; computed, not measured",
        "named": _round(each.named),
        "no_cache_s": _round(each.all_seconds),
        "cache_s": _round(each.rest_seconds),
        "per_iteration": _ratio(each.a_turn),
        "measured": measured and _ratio(measured),
    }


def _ratio(ratio: Ratio) -> dict[str, Any]:
    interval = None if ratio.interval is None else [_round(end) for end in ratio.interval]
    return {"ratio": _round(ratio.ratio), "interval": interval, "n": ratio.n}


def _round(figure: float | None) -> float | None:
    return None if figure is None else round(figure, 4)
