"""The web, read and rendered: a pool of headless Chromium pages, and what an agent sees of them.

Here are the plain values. What drives a browser is imported by name, so that who only handles values does not load a
driver: `browser.pool.BrowserPool`, and `browser.environment.WebEnvironment`, which walks pages and can be peeked at.
"""

from browser.action import (
    Action,
    Back,
    Check,
    Click,
    Find,
    Forward,
    Hover,
    More,
    Press,
    Scroll,
    Search,
    Select,
    SwitchTab,
    Type,
    Upload,
    Visit,
    WaitFor,
)
from browser.errors import BrowserError
from browser.observation import Control, Document, Download, Link, Observation, PageEvent, Readiness, Timings

__all__ = [
    "Action",
    "Back",
    "BrowserError",
    "Check",
    "Click",
    "Control",
    "Document",
    "Download",
    "Find",
    "Forward",
    "Hover",
    "Link",
    "More",
    "Observation",
    "PageEvent",
    "Press",
    "Readiness",
    "Scroll",
    "Search",
    "Select",
    "SwitchTab",
    "Timings",
    "Type",
    "Upload",
    "Visit",
    "WaitFor",
]
