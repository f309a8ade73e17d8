"""What an answer is worth: compared with the expected one, judged by a model, and found on the pages that were read."""

from evals.scoring.accuracy import ModeAccuracy, Proportion, accuracy_table
from evals.scoring.judge import Judge, Verdict
from evals.scoring.score import score
from evals.scoring.verdict_cache import VerdictCache

__all__ = ["Judge", "ModeAccuracy", "Proportion", "Verdict", "VerdictCache", "accuracy_table", "score"]
