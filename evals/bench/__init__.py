"""Benchmarks: each compares with its alternative in the same run, interleaved, and prints a ratio with its interval.

Run one as `python -m evals.bench NAME [--json]`.
"""

from evals.bench.result import Result, compare

__all__ = ["Result", "compare"]
