"""A small language model that runs in this process: no key, no network but loopback.

llama.cpp's own OpenAI-compatible server is started on loopback, so that the model is used like any other. Invariant:
the server takes no key but its own, made for this start unless one is given, and is gone when its block is left.
"""

from __future__ import annotations

import os
import secrets
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agent.errors import ConfigurationError, LocalModelMissing
from agent.models.model import CallLimits, ChatModel
from agent.targets.weights import find_weights
from browser.engine.machine import this_machine

CONTEXT_TOKENS = 4096
BATCH_TOKENS = 128
"""How much of a prompt is read in one go; a request that is given up ends with the batch (3 s on one core)."""
MAX_THREADS = 4
TIMEOUT_SECONDS = 600.0

# At temperature 0 the words depend on the prompt alone, unless part of it is taken from an earlier request.
PARAMETERS = {"temperature": 0, "seed": 0, "max_tokens": 64, "cache_prompt": False}


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalEndpoint:
    """Where the server listens, and the only key it takes."""

    base_url: str
    api_key: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerOptions:
    """How the server runs.

    Attributes:
        port: Where it listens; 0: a free port.
        api_key: The only key it takes; None: one made for this start.
        at_once: Requests answered side by side. With more than one, the words may depend on what else is asked
            meanwhile, though rarely: numbers are summed up in another order.
        context_tokens: What a request and its reply hold at most.
        max_reply_tokens: What a reply holds at most, where its request does not say; -1: no limit of its own.
    """

    port: int = 0
    api_key: str | None = None
    at_once: int = 1
    context_tokens: int = CONTEXT_TOKENS
    max_reply_tokens: int = -1


@asynccontextmanager
async def open_local_model(weights: Path | None = None) -> AsyncIterator[ChatModel]:
    """Start the local model, named `local`.

    Args:
        weights: Where its file lies; by default in the user's data folder.

    Raises:
        LocalModelMissing: It is not installed.
    """
    async with serve(await find_weights(weights)) as endpoint:
        model = ChatModel(
            "local",
            base_url=endpoint.base_url,
            api_key=endpoint.api_key,
            limits=CallLimits(total_seconds=TIMEOUT_SECONDS),
            parameters=PARAMETERS,
        )
        try:
            yield model
        finally:
            await model.aclose()


@asynccontextmanager
async def serve(weights: Path, options: ServerOptions | None = None) -> AsyncIterator[LocalEndpoint]:
    """Run the server on loopback.

    Args:
        weights: The model's file.
        options: How; None: as `ServerOptions()` says.

    Resource handling: takes about twice the file's size in memory (2 GB) and gives it back. Starting blocks the event
    loop while the file is read (2 to 5 s), stopping for up to 0.3 s: the library holds the interpreter's lock, so a
    thread would not help. Answering blocks nothing.

    Raises:
        ConfigurationError: The port is taken.
        LocalModelMissing: What runs the model is not installed, or cannot read the file.
    """
    options = options or ServerOptions()
    api_key = options.api_key or secrets.token_urlsafe(32)
    _check_port(options.port)
    server = _start(weights, api_key, options)
    try:
        yield LocalEndpoint(base_url=f"{server.listening_address}/v1", api_key=api_key)
    finally:
        # Its destructor stops the server, and waits for that.
        del server


def _check_port(port: int) -> None:
    """Try it first: of a port that is taken, llama.cpp says no more than that something is wrong."""
    try:
        with socket.create_server(("127.0.0.1", port)):
            pass
    except OSError as error:
        raise ConfigurationError(
            f"cannot listen on 127.0.0.1:{port}: {os.strerror(error.errno or 0)}",
            hint="Choose another port, or 0 for any free one.",
        ) from error


def _start(weights: Path, api_key: str, options: ServerOptions) -> Any:
    try:
        import xllamacpp  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise LocalModelMissing(
            "What runs the local model is not installed.", hint="Install it: pip install 'speccache[local]'"
        ) from error
    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(weights)
    parameters.hostnames = ["127.0.0.1"]
    parameters.port = options.port
    parameters.api_keys = [api_key]
    parameters.n_ctx = options.context_tokens * options.at_once  # llama.cpp shares it out
    parameters.n_batch = parameters.n_ubatch = BATCH_TOKENS
    parameters.n_parallel = options.at_once
    parameters.n_predict = options.max_reply_tokens
    # Where a request does not say otherwise: the words depend on its prompt alone.
    parameters.sampling.temp = 0.0
    parameters.cache_prompt = False
    for threads in (parameters.cpuparams, parameters.cpuparams_batch):
        threads.n_threads = threads_for(this_machine().cores)
        # Threads that wait spinning collapse (1 token/s for 27) as soon as something else wants their core.
        threads.poll = 0
    parameters.warmup = False
    parameters.verbosity = -1
    parameters.endpoint_metrics = True
    try:
        server = xllamacpp.Server(parameters)
    except RuntimeError as error:
        raise LocalModelMissing(
            f"llama.cpp cannot load {weights}: {error}", hint="Get the file again: speccache install-model"
        ) from error
    # Its loop may not run yet, and a server that is stopped before it does never ends. The loop answers this.
    server.handle_metrics()
    return server


def threads_for(cores: float) -> int:
    """Return how many threads compute: one core is left to the browsers."""
    return max(1, min(MAX_THREADS, int(cores) - 1))
