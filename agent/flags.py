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
from typing import Annotated, Any, TypeVar

import typer

from agent import browser_flags
from agent.keeping_flags import KEEPING
from agent.observing_flags import OBSERVING

ResultT = TypeVar("ResultT")

Flags = Mapping[str, Any]
"""Settings by name, as a command line gave them; None: not given."""

Url = Annotated[str | None, typer.Option("--url", help="Where to start; without it, with a search: see --search.")]
Target = Annotated[
    str | None,
    typer.Option(
        "--target",
        help="Model that decides: its name, with 'openai:', 'anthropic:', 'deepseek:', 'google:' or 'together:' before"
        " it, or bare for --base-url; 'embedded' (no model: quotes what it finds); 'local' (small model on this"
        " machine). Default: gpt-5-mini where there is OPENAI_API_KEY, else embedded. A model endpoint does better.",
    ),
]
Draft = Annotated[
    str | None,
    typer.Option("--draft", help="Cheap model that guesses the next pages; 'none': only the free ranker guesses."),
]
BaseUrl = Annotated[
    str | None,
    typer.Option(
        "--base-url", help="Any OpenAI-compatible endpoint, e.g. http://localhost:8000/v1; its key: SPECCACHE_API_KEY."
    ),
]
Fallback = Annotated[
    list[str] | None, typer.Option("--fallback", help="Model to ask where the target fails; may be given repeatedly.")
]
ServiceTier = Annotated[
    str | None,
    typer.Option(
        "--service-tier",
        help="'priority' (faster, dearer), 'flex' (cheaper, slow: allow it --model-seconds) or 'default', for each"
        " model whose provider offers it.",
    ),
]
Hedge = Annotated[
    float | None,
    typer.Option(
        "--hedge",
        help="Send a late request twice and take the first answer, for this share of the calls at most; 0: never."
        "  \\[default: 0.1, without a provider's name 0]",
    ),
]
FirstTokenSeconds = Annotated[
    float | None, typer.Option("--first-token-seconds", help="Give a request up that has written nothing by then.")
]
ModelSeconds = Annotated[
    float | None, typer.Option("--model-seconds", help="Give a request up after this time.  \\[default: 120]")
]
Prices = Annotated[
    Path | None, typer.Option("--prices", help="TOML file with your own prices of models, before the known ones.")
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
PoolSize = Annotated[
    str | None,
    typer.Option(
        "--pool-size", help="Pages that may load ahead at once; 'auto': as the machine bears.  \\[default: 4]"
    ),
]
MaxMemory = Annotated[
    int | None, typer.Option("--max-memory", help="MiB that all browsers may take.  \\[default: what is free]")
]
HostRate = Annotated[
    float | None, typer.Option("--host-rate", help="Loads begun at one host in a second.  \\[default: any number]")
]
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
Browser = browser_flags.Browser
EgressHost = browser_flags.EgressHost
Headed = Annotated[
    bool | None,
    typer.Option(
        "--headed/--headless", help="Show the browser's window; not that of pages loaded ahead.  \\[default: headless]"
    ),
]
Locale = Annotated[str | None, typer.Option("--locale", help="Language to ask for, e.g. de-AT.  \\[default: en-US]")]
Viewport = Annotated[
    str | None, typer.Option("--viewport", metavar="WxH", help="Size of a page's window.  \\[default: 1280x2000]")
]
UserAgent = Annotated[
    str | None, typer.Option("--user-agent", help="What the browser calls itself.  \\[default: what it is]")
]
Headers = Annotated[
    list[str] | None,
    typer.Option(
        "--header",
        metavar="'NAME: VALUE'",
        help="Header for the start page's site and --allow-host hosts, and for nobody else; repeatable.",
    ),
]
Proxy = Annotated[
    str | None,
    typer.Option(
        "--proxy",
        metavar="URL",
        help="http, https or socks5 proxy for everything, with user:password@ where it asks.  \\[default: HTTPS_PROXY]",
    ),
]
StorageState = Annotated[
    Path | None, typer.Option("--storage-state", help="File with the cookies and storage to begin with (Playwright's).")
]
SaveStorageState = Annotated[
    Path | None, typer.Option("--save-storage-state", help="File in which they are saved at the end.")
]
Profile = Annotated[
    str | None,
    typer.Option("--profile", metavar="NAME|DIR", help="Session that is kept from run to run; one run at a time."),
]
Secrets = Annotated[
    list[str] | None,
    typer.Option(
        "--secret",
        metavar="NAME[@HOST][=VALUE]",
        help="What a model may have typed on a host (the start's) but never sees. Without =VALUE, which others can see"
        " in the process list: SPECCACHE_SECRET_NAME, or the file named by SPECCACHE_SECRET_NAME_FILE. Repeatable.",
    ),
]
Files = Annotated[list[Path] | None, typer.Option("--file", help="A file that a model may upload; repeatable.")]
Downloads = Annotated[
    Path | None, typer.Option("--downloads", help="Folder for files that pages give.  \\[default: gone after the run]")
]
Search = Annotated[
    str | None,
    typer.Option("--search", help="Engine: mediawiki:URL, searxng:URL, or a site's own, https://HOST/find?q={query}"),
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
Tracebacks = Annotated[bool, typer.Option("--verbose", "-v", help="Show where an unexpected error comes from.")]
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
CALLING: Flags = {
    "fallback": Fallback,
    "service_tier": ServiceTier,
    "hedge": Hedge,
    "first_token_seconds": FirstTokenSeconds,
    "model_seconds": ModelSeconds,
    "prices": Prices,
}
"""How models are called, and what that costs."""
SPECULATING: Flags = {
    "speculation": Speculation,
    "predictor": Predictor,
    "max_guesses": MaxGuesses,
    "pool_size": PoolSize,
    "max_memory": MaxMemory,
    "host_rate": HostRate,
    **KEEPING,
}
"""What is loaded ahead, and where it is kept."""
BROWSING: Flags = {
    "browser": Browser,
    "egress_host": EgressHost,
    "headed": Headed,
    "locale": Locale,
    "viewport": Viewport,
    "user_agent": UserAgent,
    "headers": Headers,
    "proxy": Proxy,
    "storage_state": StorageState,
    "save_storage_state": SaveStorageState,
    "profile": Profile,
}
"""The browser, and who it is to the sites it visits."""
REACHING: Flags = {
    "allow_hosts": AllowHosts,
    "allow_domains": AllowDomains,
    "deny_domains": DenyDomains,
    "downloads": Downloads,
}
"""Where it may go, and where it puts what it is given there."""
PERMITTING: Flags = {"act": Act, "secrets": Secrets, "files": Files, "search": Search, **REACHING}
"""What may be done, and where."""


def flag_of(setting: str) -> str:
    """Return the flag that sets a setting, such as `--pool-size`; empty where there is none."""
    for group in (THINKING, CALLING, SPECULATING, BROWSING, PERMITTING, OBSERVING):
        if setting in group:
            (option,) = group[setting].__metadata__
            return str(option.default).partition("/")[0]
    return ""


def takes(**groups: Flags) -> Callable[[Callable[..., ResultT]], Callable[..., ResultT]]:
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

    def decorate(command: Callable[..., ResultT]) -> Callable[..., ResultT]:
        shape = signature(command, eval_str=True)
        own = [parameter for name, parameter in shape.parameters.items() if name != "given"]

        @wraps(command)
        def with_flags(**values: Any) -> ResultT:
            return command(**values | {"given": {name: values.pop(name) for name in added}})

        vars(with_flags)["__signature__"] = shape.replace(parameters=[*own, *added.values()])
        return with_flags

    return decorate


def _in_panel(flag: Any, title: str) -> Any:
    (option,) = flag.__metadata__
    shown = copy(option)
    shown.rich_help_panel = title.capitalize()
    return Annotated[flag.__origin__, shown]
