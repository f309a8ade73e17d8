"""What a container leaves of the machine: control groups of both versions, as files in a folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from browser.engine.container import Container

GIB = 2**30


@pytest.mark.parametrize(
    ("files", "cores", "free"),
    [
        ({}, None, None),
        ({"cpu.max": "150000 100000"}, 1.5, None),
        ({"cpu.max": "max 100000", "memory.max": "max", "memory.current": "1"}, None, None),
        (
            {
                "memory.max": f"{3 * GIB}",
                "memory.current": f"{2 * GIB}",
                "memory.stat": f"anon 5\ninactive_file {GIB}\nactive_file 7",
            },
            None,
            2 * GIB,
        ),
        ({"memory.max": f"{GIB}", "memory.current": f"{2 * GIB}"}, None, 0),
        (
            {
                "cpu/cpu.cfs_quota_us": "50000",
                "cpu/cpu.cfs_period_us": "100000",
                "memory/memory.limit_in_bytes": f"{3 * GIB}",
                "memory/memory.usage_in_bytes": f"{GIB}",
                "memory/memory.stat": f"inactive_file 9\ntotal_inactive_file {GIB // 2}",
            },
            0.5,
            2 * GIB + GIB // 2,
        ),
        ({"cpu/cpu.cfs_quota_us": "-1", "cpu/cpu.cfs_period_us": "100000"}, None, None),
    ],
    ids=["none", "v2 quota", "v2 unlimited", "v2 memory", "v2 over", "v1", "v1 unlimited"],
)
def test_limits_are_read(tmp_path: Path, files: dict[str, str], cores: float | None, free: int | None) -> None:
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(f"{text}\n", encoding="utf-8")
    container = Container(root=tmp_path)
    assert (container.cores(), container.free_bytes()) == (cores, free)
