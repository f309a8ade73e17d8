"""The command line's flags, once, for every command that takes them.

Invariant: a flag that is not given is None, so that environment, file and default decide (see `agent.settings`).
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Url = Annotated[str, typer.Option("--url", help="Where to start; https:// is added where no scheme is given.")]
Target = Annotated[
    str | None,
    typer.Option(
        "--target",
        help="Model that decides: a model's name, 'embedded' (no model: quotes what it finds) or 'local' (small model"
        " on this machine). Default: gpt-5-mini where there is a key, else embedded. A model endpoint does better.",
    ),
]
Draft = Annotated[
    str | None,
    typer.Option("--draft", help="Cheap model that guesses the next pages; 'none': only the free ranker guesses."),
]
BaseUrl = Annotated[
    str | None, typer.Option("--base-url", help="Any OpenAI-compatible endpoint, e.g. http://localhost:8000/v1.")
]
Speculation = Annotated[
    bool | None,
    typer.Option(
        "--speculation/--no-speculation", help="Load likely next pages while the target thinks.  [default: on]"
    ),
]
Predictor = Annotated[
    str | None,
    typer.Option(
        "--predictor",
        help="What guesses: 'rank' (free ranker), 'draft' (draft model), 'default' (both), 'first' or 'random' (links"
        " of the page), 'none' (only visited pages are kept).  [default: default]",
    ),
]
Act = Annotated[
    bool | None,
    typer.Option("--act/--no-act", help="Let the model click, type and choose, not only read.  [default: off]"),
]
MaxGuesses = Annotated[int | None, typer.Option("--max-guesses", help="Guesses taken up a turn.  [default: 3]")]
PoolSize = Annotated[int | None, typer.Option("--pool-size", help="Pages that may load ahead at once.  [default: 4]")]
MaxTurns = Annotated[int | None, typer.Option("--max-turns", help="Decisions at most.  [default: 10]")]
Think = Annotated[
    float | None,
    typer.Option("--think", help="Mean seconds of simulated thinking a turn, for a target that decides at once."),
]
Browser = Annotated[Path | None, typer.Option("--browser", help="The Chromium to use.  [default: the first found]")]
Shelf = Annotated[
    Path | None,
    typer.Option(
        "--shelf",
        help="File that keeps public pages, for as long as their servers allow, so that a later run starts warm.",
    ),
]
AllowHost = Annotated[
    list[str] | None, typer.Option("--allow-host", help="A private host that may be visited, beside the start's own.")
]
AllowDomain = Annotated[
    list[str] | None, typer.Option("--allow-domain", help="The only domains that are reached, with all below them.")
]
DenyDomain = Annotated[
    list[str] | None, typer.Option("--deny-domain", help="Domains that are never reached, nor any below them.")
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object on standard output.")]
Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="Show every guess and every load; tracebacks, too.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Only the answer, and errors.")]
TraceFile = Annotated[
    Path | None, typer.Option("--trace", help="Where the run's trace is written.  [default: runs/TIME-QUESTION.jsonl]")
]
NoTrace = Annotated[bool, typer.Option("--no-trace", help="Write no trace.")]
