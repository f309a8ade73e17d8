"""The measures of the paper, on calls whose figures are known."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agent.errors import ConfigurationError
from agent.probe.measures import comparisons, latency
from agent.probe.record import Record, RecordFile


def call(seconds: float, *, day: int = 1, tier: str = "default", tokens: int = 0, error: str = "") -> Record:
    return Record(
        at=f"2025-07-{22 + day:02}T10:00:00+00:00",
        model="m",
        tier=tier,
        place="here",
        endpoint="http://localhost/v1",
        seconds=seconds,
        first_token_seconds=None if error else seconds / 2,
        output_tokens=tokens,
        error=error,
    )


def test_the_measures_of_alike_calls() -> None:
    found = latency([call(2.0, tokens=10), call(4.0, tokens=50), call(6.0), call(9.0, error="it was away")])
    assert (found.calls, found.failures) == (3, 1)
    assert (found.mean_seconds, found.p50_seconds, found.min_seconds, found.max_seconds) == (4.0, 4.0, 2.0, 6.0)
    assert (found.variation, found.spread) == (0.5, 3.0)
    assert (found.first_token_p50_seconds, found.tokens_per_second) == (2.0, 5.0)
    assert found.p95_seconds == pytest.approx(5.8)
    assert found.p50_seconds <= found.p95_seconds <= found.p99_seconds <= found.max_seconds


def test_one_call_varies_by_nothing_and_none_has_no_measures() -> None:
    assert latency([call(2.0)]).variation == 0.0
    assert latency([call(2.0, error="away")]).calls == 0
    assert latency([]).mean_seconds == 0.0
    assert latency([call(2.0)]).tokens_per_second is None


def test_tiers_and_days_are_compared_with_the_first() -> None:
    default = [call(8.0), call(12.0), call(15.0, day=2), call(25.0, day=2)]
    priority = [call(4.0, tier="priority"), call(6.0, tier="priority"), call(1.0, tier="flex", error="no such tier")]
    found = comparisons([*default, *priority])
    assert [each.what for each in found] == ["priority against default", "default, 2025-07-24 against 2025-07-23"]
    assert found[0].mean_ratio == pytest.approx(5 / 15)
    assert found[1].mean_ratio == pytest.approx(2.0)


def test_a_file_is_continued_and_a_line_cut_short_is_left_out(tmp_path: Path) -> None:
    file = RecordFile(tmp_path / "probe.jsonl")
    assert file.read() == ()
    file.append(call(1.0))
    with file.path.open("a", encoding="utf-8") as raw:
        raw.write('{"at": "2025')
    assert file.read() == (call(1.0),)
    file.mend()
    file.append(call(2.0))
    assert file.read() == (call(1.0), call(2.0))


@pytest.mark.parametrize("content", ["hello\n", "[]\n", json.dumps({"at": "today"}) + "\n", "\0\xff\n"])
def test_another_file_is_told_of(tmp_path: Path, content: str) -> None:
    path = tmp_path / "probe.jsonl"
    path.write_bytes(content.encode("latin-1"))
    with pytest.raises(ConfigurationError, match="no record of a study") as error:
        RecordFile(path).read()
    assert error.value.hint
