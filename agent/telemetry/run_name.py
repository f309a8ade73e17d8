"""What one run is called wherever it is told of: in spans, in logs.

Invariant: a run's id is made once, so that its spans and its log lines name the same one.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from uuid import uuid4


@dataclass(frozen=True, slots=True, kw_only=True)
class RunName:
    """Names a run.

    Attributes:
        run: An id that no other run has.
        question: The question's id in its suite; empty: it has none.
        mode: The suite's mode; empty: none.
    """

    run: str = field(default_factory=lambda: uuid4().hex)
    question: str = ""
    mode: str = ""
