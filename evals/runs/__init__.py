"""Asking the questions of a suite in several modes, and what is kept of it."""

from evals.runs.conditions import Conditions
from evals.runs.record import PageStep, Record, Scores

__all__ = ["Conditions", "PageStep", "Record", "Scores"]
