"""The command line's flags, once, for every command that takes them.

Invariant: a flag that is not given is None, so that environment, file and default decide (see `agent.settings`). A flag
of a group below has the name of the setting it sets.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import copy
from functools import wraps
from inspect import Parameter, signature
from pathlib import Path
from typing import Annotated, Any

import typer

Flags = Mapping[str, Any]
"""Settings by name, as a command line gave them; None: not given."""

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
        "--speculation/--no-speculation", help="Load likely next pages while the target thinks.  \\[default: on]"
    ),
]
Predictor = Annotated[
    str | None,
    typer.Option(
        "--predictor",
        help="What guesses: 'rank' (free ranker), 'draft' (draft model), 'default' (both), 'first' or 'random' (links"
        " of the page), 'none' (only visited pages are kept).  \\[default: default]",
    ),
]
Act = Annotated[
    bool | None,
    typer.Option("--act/--no-act", help="Let the model click, type and choose, not only read.  \\[default: off]"),
]
MaxGuesses = Annotated[int | None, typer.Option("--max-guesses", help="Guesses taken up a turn.  \\[default: 3]")]
PoolSize = Annotated[int | None, typer.Option("--pool-size", help="Pages that may load ahead at once.  \\[default: 4]")]
MaxTurns = Annotated[int | None, typer.Option("--max-turns", help="Decisions at most.  \\[default: 10]")]
Strategy = Annotated[
    str | None,
    typer.Option(
        "--strategy",
        help="How a model thinks: 'reflexion' (takes notes, and a critic says when they answer), 'react' (one call a"
        " turn).  \\[default: reflexion]",
    ),
]
SchemaFile = Annotated[
    Path | None, typer.Option("--schema", help="File with a JSON schema that the answer is to keep; needs a model.")
]
ContextTokens = Annotated[
    int | None,
    typer.Option("--context-tokens", help="What one request to the target holds at most.  \\[default: 24000]"),
]
Think = Annotated[
    float | None,
    typer.Option("--think", help="Mean seconds of simulated thinking a turn, for a target that decides at once."),
]
Browser = Annotated[Path | None, typer.Option("--browser", help="The Chromium to use.  \\[default: the first found]")]
Shelf = Annotated[
    Path | None,
    typer.Option(
        "--shelf",
        help="File that keeps public pages, for as long as their servers allow, so that a later run starts warm.",
    ),
]
AllowHosts = Annotated[
    list[str] | None, typer.Option("--allow-host", help="A private host that may be visited, beside the start's own.")
]
AllowDomains = Annotated[
    list[str] | None, typer.Option("--allow-domain", help="The only domains that are reached, with all below them.")
]
DenyDomains = Annotated[
    list[str] | None, typer.Option("--deny-domain", help="Domains that are never reached, nor any below them.")
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object on standard output.")]
Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="Show every guess and every load; tracebacks, too.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Only the answer, and errors.")]
TraceFile = Annotated[
    Path | None,
    typer.Option("--trace", help="Where the run's trace is written.  \\[default: runs/TIME-QUESTION.jsonl]"),
]
NoTrace = Annotated[bool, typer.Option("--no-trace", help="Write no trace.")]

THINKING: Flags = {
    "target": Target,
    "draft": Draft,
    "base_url": BaseUrl,
    "strategy": Strategy,
    "schema_file": SchemaFile,
    "max_turns": MaxTurns,
    "context_tokens": ContextTokens,
    "think": Think,
}
"""What decides, and for how long."""
SPECULATING: Flags = {
    "speculation": Speculation,
    "predictor": Predictor,
    "max_guesses": MaxGuesses,
    "pool_size": PoolSize,
    "shelf": Shelf,
}
"""What is loaded ahead, and where it is kept."""
BROWSING: Flags = {"browser": Browser}
"""The browser, and who it is to the sites it visits."""
REACHING: Flags = {"allow_hosts": AllowHosts, "allow_domains": AllowDomains, "deny_domains": DenyDomains}
"""Where it may go."""
PERMITTING: Flags = {"act": Act, **REACHING}
"""What may be done, and where."""


def takes(**groups: Flags) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command the flags of these groups, in a panel of its help for each.

    Args:
        groups: A panel's title, words joined by underscores, and its flags.

    Returns:
        A decorator for a command that takes what was given of them as `given`.
    """
    added = {
        name: Parameter(name, Parameter.KEYWORD_ONLY, default=None, annotation=_in_panel(flag, title.replace("_", " ")))
        for title, flags in groups.items()
        for name, flag in flags.items()
    }

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        shape = signature(command, eval_str=True)
        own = [parameter for name, parameter in shape.parameters.items() if name != "given"]

        @wraps(command)
        def with_flags(**values: Any) -> None:
            command(**values | {"given": {name: values.pop(name) for name in added}})

        vars(with_flags)["__signature__"] = shape.replace(parameters=[*own, *added.values()])
        return with_flags

    return decorate


def _in_panel(flag: Any, title: str) -> Any:
    (option,) = flag.__metadata__
    shown = copy(option)
    shown.rich_help_panel = title.capitalize()
    return Annotated[flag.__origin__, shown]
