"""Simulated targets: they follow a known way, so that runs measure the environment and not a model."""

from evals.targets.gold import GoldTarget

__all__ = ["GoldTarget"]
