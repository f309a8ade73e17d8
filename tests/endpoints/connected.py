"""The real client, connected to an endpoint of this package."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Protocol

from agent.model import ChatModel


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
