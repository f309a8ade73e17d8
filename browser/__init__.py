"""The web, read and rendered: a pool of headless Chromium pages, and what an agent sees of them.

Here are the plain values. What drives a browser is imported by name, so that who only handles values does not load a
driver: `browser.pool.BrowserPool`, and `browser.environment.WebEnvironment`, which walks pages and can be peeked at.
"""

from browser.action import Action, Back, Find, More, Visit
from browser.errors import BrowserError
from browser.observation import Control, Document, Link, Observation, Readiness, Timings

__all__ = [
    "Action",
    "Back",
    "BrowserError",
    "Control",
    "Document",
    "Find",
    "Link",
    "More",
    "Observation",
    "Readiness",
    "Timings",
    "Visit",
]
