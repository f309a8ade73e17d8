"""The token of the Ray clusters that tests start; without one in the environment, Ray leaves one in the home folder."""

from __future__ import annotations

import secrets

RAY_TOKEN = secrets.token_hex(16)
"""For `RAY_AUTH_TOKEN`. One for all tests: a process reads it once, however many clusters it starts."""
