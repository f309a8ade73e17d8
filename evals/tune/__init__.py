"""`speccache tune`: which pool size and how many guesses a turn suit a machine and a site, found by measuring."""

from evals.tune.recommendation import Recommendation, recommend
from evals.tune.sample import LoadSample, QuestionSample
from evals.tune.settings_file import write_settings
from evals.tune.subject import Pace, Subject, Task
from evals.tune.sweep import Plan, Sweep

__all__ = [
    "LoadSample",
    "Pace",
    "Plan",
    "QuestionSample",
    "Recommendation",
    "Subject",
    "Sweep",
    "Task",
    "recommend",
    "write_settings",
]
