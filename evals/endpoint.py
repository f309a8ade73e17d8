"""Serves a small model for evaluations: `python -m evals.endpoint [--weights FILE.gguf]`; Ctrl-C ends it.

Invariant: it listens on loopback alone, to the holder of its key, and the same prompt gets the same words, so that a
target behind it takes the same path in every mode; with requests side by side that holds but for rare ties.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Annotated

import typer

from agent.console import run, tell
from agent.targets.local_model import LocalEndpoint, ServerOptions, serve
from agent.targets.weights import find_weights

CONTEXT_TOKENS = 8192
"""Enough for the draft model's prompt with one part of a page."""
MAX_REPLY_TOKENS = 512
"""A small model that has lost its way writes without end."""
_TARGET_SHARE = 0.8


def endpoint(
    weights: Annotated[
        Path | None,
        typer.Option(
            "--weights",
            envvar="SPECCACHE_WEIGHTS",
            exists=True,
            dir_okay=False,
            help="A GGUF file.  \\[default: that of install-model]",
        ),
    ] = None,
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="0: any free one.")] = 0,
    api_key: Annotated[
        str | None, typer.Option("--api-key", envvar="SPECCACHE_API_KEY", help="Its key.  \\[default: a new one]")
    ] = None,
    at_once: Annotated[
        int, typer.Option("--at-once", min=1, help="Requests answered side by side: 2 for a target and a draft.")
    ] = 2,
    context_tokens: Annotated[
        int, typer.Option("--context-tokens", min=1024, help="What a request and its reply hold at most.")
    ] = CONTEXT_TOKENS,
    max_reply_tokens: Annotated[
        int, typer.Option("--max-reply-tokens", min=16, help="What a reply holds at most.")
    ] = MAX_REPLY_TOKENS,
) -> None:
    """Serve a small model over the OpenAI protocol on loopback until interrupted; prints its base URL."""

    async def work() -> None:
        file = weights or await find_weights()
        options = ServerOptions(
            port=port,
            api_key=api_key,
            at_once=at_once,
            context_tokens=context_tokens,
            max_reply_tokens=max_reply_tokens,
        )
        async with serve(file, options) as running:
            typer.echo(running.base_url)
            tell(usage(running, file.stem, context_tokens=context_tokens))
            await asyncio.Event().wait()

    run(work())


def usage(running: LocalEndpoint, name: str, *, context_tokens: int) -> str:
    """Say how an evaluation uses the endpoint; any name of a model will do."""
    return (
        f"export SPECCACHE_API_KEY={running.api_key}\n"
        f"speccache eval SUITE --base-url {running.base_url} --target {name} --draft {name}"
        f" --context-tokens {int(_TARGET_SHARE * context_tokens)}"
    )


if __name__ == "__main__":
    typer.run(endpoint)
