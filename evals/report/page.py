"""The figures of a suite as one HTML page that needs nothing else: no server, no network, no script.

Invariant: nothing of a record is markup. The template escapes every text, and the page's security policy lets no script
run and nothing be fetched.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from evals.report.card import cards
from evals.report.figures import Figures, figures
from evals.report.grid import grids
from evals.report.query_charts import query_charts
from evals.report.question_row import differing_ways, question_rows
from evals.report.ratio_chart import ratio_chart
from evals.report.step_charts import step_charts
from evals.report.svg import Chart, drawing
from evals.report.wording import pairing_notes, setting
from evals.runs.conditions import Conditions
from evals.runs.record import Record
from evals.runs.whole_file import write_whole

_UNWRITABLE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff]")
"""Pages may hold these, halves of characters among them, and UTF-8 or HTML may not."""

_OPEN_ROWS = 50
"""Questions up to which their table stands open."""


def write_html(path: Path, records: Sequence[Record], conditions: Conditions) -> None:
    """Write the page, whole or not at all.

    Raises:
        OSError: The file cannot be written.
    """
    write_whole(path, report_page(records, conditions))


def report_page(records: Sequence[Record], conditions: Conditions) -> str:
    """Return the page that shows these records."""
    found = figures(records)
    templates = Environment(
        loader=PackageLoader("evals.report", ""), autoescape=True, undefined=StrictUndefined, trim_blocks=True
    )
    rows = question_rows(found)
    page = templates.get_template("report.html").render(
        style=_trusted(templates.get_template("report.css").render()),
        suite=conditions.suite,
        main=found.main.mode if found.main else "",
        caveats=conditions.caveats(),
        setting=setting(conditions),
        notes=pairing_notes(found.pairing),
        cards=cards(found),
        charts=[(chart, _trusted(chart.svg)) for chart in _charts(found, conditions)],
        grids=grids(found),
        ways=differing_ways(found),
        modes=tuple(found.modes),
        rows=rows,
        is_open=len(rows) <= _OPEN_ROWS,
        conditions=json.dumps(conditions.as_json(), ensure_ascii=False, indent=2),
    )
    return _UNWRITABLE.sub("\N{REPLACEMENT CHARACTER}", page)


def _trusted(text: str) -> Markup:
    """Let what this package made itself, and escaped where that was due, be markup."""
    return Markup(text)  # noqa: S704


def _charts(found: Figures, conditions: Conditions) -> list[Chart]:
    if not found.modes:
        return []
    with drawing():
        compared = ratio_chart(found)
        return [*query_charts(found), *([compared] if compared else []), *step_charts(found, conditions)]
