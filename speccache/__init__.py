"""Speculation for slow environments: run the likely next actions while the decision is still being made.

Wrap any environment that can be peeked at in a `SpeculativeEnvironment`, give it predictors, and `step` as before; wrap
async functions in `SpeculativeTools`, and call them as before. This package knows nothing of the web, of browsers or of
models, and needs only the standard library.
"""

from speccache.account import Account
from speccache.call_patterns import CallPatterns
from speccache.environment import Environment, Speculable, Step
from speccache.errors import InvalidCall, SpecCacheError, Unspeculable
from speccache.events import Event, EventKind, Listener
from speccache.flight import Flights
from speccache.function_predictor import FunctionPredictor
from speccache.options import SpeculationOptions
from speccache.predictor import Guess, Predictor
from speccache.read_environment import ReadEnvironment
from speccache.second_level import Found, SecondLevel, SharedLevel
from speccache.speculative_environment import SpeculativeEnvironment
from speccache.store import Lifetime, Store
from speccache.tool_environment import ToolCall, ToolEnvironment
from speccache.tools import SpeculativeTools, ToolOptions

__all__ = [
    "Account",
    "CallPatterns",
    "Environment",
    "Event",
    "EventKind",
    "Flights",
    "Found",
    "FunctionPredictor",
    "Guess",
    "InvalidCall",
    "Lifetime",
    "Listener",
    "Predictor",
    "ReadEnvironment",
    "SecondLevel",
    "SharedLevel",
    "SpecCacheError",
    "Speculable",
    "SpeculationOptions",
    "SpeculativeEnvironment",
    "SpeculativeTools",
    "Step",
    "Store",
    "ToolCall",
    "ToolEnvironment",
    "ToolOptions",
    "Unspeculable",
]
