"""An agent that answers questions from web sites: targets that decide, predictors that guess, and the loop between.

`Agent` is the way in from Python; `agent.cli` is the command line.
"""

from agent.agent import Agent, Question, Run
from agent.outcome import Outcome
from agent.settings import Settings, load_settings

__all__ = ["Agent", "Outcome", "Question", "Run", "Settings", "load_settings"]
