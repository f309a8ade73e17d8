"""Speculation for slow environments: run the likely next actions while the decision is still being made.

Wrap any environment that can be peeked at in a `SpeculativeEnvironment`, give it predictors, and `step` as before. This
package knows nothing of the web, of browsers or of models, and needs only the standard library.
"""

from speccache.account import Account
from speccache.environment import Environment, Speculable, Step
from speccache.errors import SpecCacheError, Unspeculable
from speccache.events import Event, EventKind, Listener
from speccache.flight import Flights
from speccache.options import SpeculationOptions
from speccache.predictor import Guess, Predictor
from speccache.read_environment import ReadEnvironment
from speccache.second_level import Found, SecondLevel, SharedLevel
from speccache.speculative_environment import SpeculativeEnvironment
from speccache.store import Lifetime, Store

__all__ = [
    "Account",
    "Environment",
    "Event",
    "EventKind",
    "Flights",
    "Found",
    "Guess",
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
    "Step",
    "Store",
    "Unspeculable",
]
