"""The flags that say which browsers are used.

Invariant: as for all of `agent.flags`, a flag that is not given is None.
"""

from __future__ import annotations

from typing import Annotated

import typer

Browser = Annotated[
    list[str] | None,
    typer.Option(
        "--browser",
        metavar="PATH|URL",
        help="The Chromium to use, or remote ones: ws://HOST:PORT (Playwright server), http://HOST:PORT (debugging"
        " port); repeatable, #weight=2 behind one for twice the pages.  \\[default: the first found here]",
    ),
]
EgressHost = Annotated[
    str | None,
    typer.Option(
        "--egress-host",
        metavar="ADDRESS",
        help="This machine's address for remote browsers, which go out through its proxy.  \\[default: loopback]",
    ),
]
