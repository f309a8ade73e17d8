"""What a worker opens once and then works with, and what of this machine's environment it needs for that.

Invariant: keys of models and secrets travel from this process to the worker's and nowhere else: not in Ray's runtime
environment, which is logged and shown, nor in an actor's constructor, which Ray's head node keeps.
"""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from typing import TypeVar

from agent.models.providers import BASE_URL_VARIABLE, OWN_KEY_VARIABLE, PROVIDERS

TaskT = TypeVar("TaskT")
ResultT = TypeVar("ResultT")

Work = Callable[[TaskT], Awaitable[ResultT]]
"""Does one task."""

Opening = Callable[[], AbstractAsyncContextManager[Work[TaskT, ResultT]]]
"""Opens, in the worker's process, all that its tasks share, such as a pool of browsers. It must be picklable."""

_SECRETS = "SPECCACHE_SECRET_"


def carried_variables() -> Mapping[str, str]:
    """Return the variables of this process that a worker must have as well: keys, and secrets that sites ask for."""
    keys = {name for provider in PROVIDERS.values() for name in provider.key_variables}
    keys |= {BASE_URL_VARIABLE, OWN_KEY_VARIABLE}
    return {name: value for name, value in os.environ.items() if name in keys or name.startswith(_SECRETS)}
