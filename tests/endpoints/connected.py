"""The real client, connected to an endpoint of this package."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Protocol

from agent.models.model import ChatModel
from tests.endpoints.scripted import Received, Script, ScriptedEndpoint


class Endpoint(Protocol):
    """Where to connect, and the key for it."""

    @property
    def base_url(self) -> str: ...

    @property
    def api_key(self) -> str: ...


@asynccontextmanager
async def connected(endpoint: Endpoint, *, model: str = "scripted", **options: Any) -> AsyncIterator[ChatModel]:
    """Open a `ChatModel` on the endpoint; options are its own."""
    chat_model = ChatModel(model, **{"base_url": endpoint.base_url, "api_key": endpoint.api_key, **options})
    try:
        yield chat_model
    finally:
        await chat_model.aclose()


@dataclass(frozen=True, slots=True, kw_only=True)
class Wire:
    """An endpoint and a model connected to it, for any number of tests: setting up a client takes 0.1 s."""

    endpoint: ScriptedEndpoint
    model: ChatModel

    def play(self, script: Script) -> ChatModel:
        """Begin anew with a script."""
        self.endpoint.play(script)
        return self.model

    @property
    def requests(self) -> list[Received]:
        """What was received since then."""
        return self.endpoint.requests


@asynccontextmanager
async def wire() -> AsyncIterator[Wire]:
    """Open an endpoint and a model connected to it."""
    async with ScriptedEndpoint() as endpoint, connected(endpoint) as model:
        yield Wire(endpoint=endpoint, model=model)
