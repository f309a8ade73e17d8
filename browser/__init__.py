"""The web, read and rendered: a pool of headless Chromium pages, and what an agent sees of them.

`WebEnvironment` is the way in: it walks pages and can be peeked at, so that `speccache` can run ahead of whoever walks.
"""

from browser.action import Action, Back, Find, More, Visit
from browser.environment import WebEnvironment
from browser.errors import BrowserError
from browser.observation import Control, Document, Link, Observation, Readiness, Timings
from browser.pool import BrowserPool, PoolOptions

__all__ = [
    "Action",
    "Back",
    "BrowserError",
    "BrowserPool",
    "Control",
    "Document",
    "Find",
    "Link",
    "More",
    "Observation",
    "PoolOptions",
    "Readiness",
    "Timings",
    "Visit",
    "WebEnvironment",
]
