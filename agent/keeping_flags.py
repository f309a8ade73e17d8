"""The command line's flags for where pages are kept beyond a run.

Invariant: as in `agent.flags`, of which they are a part.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

Shelf = Annotated[
    Path | None,
    typer.Option(
        "--shelf",
        help="File that keeps public pages, for as long as their servers allow, so that a later run starts warm.",
    ),
]
SharedCache = Annotated[
    str | None,
    typer.Option(
        "--shared-cache",
        metavar="URL",
        help="Redis or Valkey that keeps public pages for several workers, redis://HOST:PORT/NUMBER; a password is"
        " better off in SPECCACHE_SHARED_CACHE, since others see a flag in the process list.",
    ),
]

KEEPING: Mapping[str, Any] = {"shelf": Shelf, "shared_cache": SharedCache}
"""Where pages are kept."""
