"""What may be told of an address, an action or a model to whoever watches.

Invariant: without leave nothing of a question's or a page's words is in it: of an address its query's values are left
out, of an action everything but its first word.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from urllib.parse import SplitResult, urlsplit

from agent.events import Call
from agent.telemetry.instruments import OPERATION, PROVIDER, REQUEST_MODEL, SERVER_ADDRESS, SERVER_PORT

CAPTURE_VARIABLE = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
REDACTED = "REDACTED"
"""What the conventions put in the place of what is left out."""
_CAPTURING = ("true", "span_only", "span_and_event")
_SIGNATURES = ("AWSAccessKeyId", "Signature", "sig", "X-Goog-Signature")
"""Parameters that the conventions leave out of every address, with leave or without."""
_WELL_KNOWN = {"google": "gcp.gemini"}
_COMPATIBLE = "openai"
"""What the conventions call an endpoint that speaks OpenAI's protocol and is not known by another name."""


def captures_content(environment: Mapping[str, str] = os.environ) -> bool:
    """Tell whether questions, answers and the like may be recorded in spans, which is off unless the user says so."""
    return environment.get(CAPTURE_VARIABLE, "").strip().lower() in _CAPTURING


def shown_address(url: str, *, content: bool = False) -> str:
    """Return an address as it may be told; empty where it is none.

    Args:
        url: The address.
        content: Whether its query's values, which often repeat the question, may be told, too.
    """
    try:
        parts = urlsplit(url)
        host = parts.hostname
    except ValueError:
        return ""
    if parts.scheme not in ("http", "https") or not host:
        return ""
    server = parts.netloc.rpartition("@")[2]
    user = f"{REDACTED}:{REDACTED}@" if "@" in parts.netloc else ""
    query = "&".join(_parameter(each, content=content) for each in parts.query.split("&")) if parts.query else ""
    return SplitResult(parts.scheme, user + server, parts.path, query, parts.fragment if content else "").geturl()


def _parameter(text: str, *, content: bool) -> str:
    name, equals, _ = text.partition("=")
    if content and name not in _SIGNATURES:
        return text
    # A query without names, such as `?alpha`, is a value itself.
    return f"{name}={REDACTED}" if equals else REDACTED


def action_kind(action: str) -> str:
    """Return what kind of action it is, such as `visit`; what it is done with or typed is left out."""
    return action.partition(" ")[0].partition("(")[0].lower()


def call_attributes(call: Call) -> dict[str, str | int]:
    """Return what the conventions say of a request to a model: the operation, the provider, the model, the server."""
    provider, colon, model = call.model.partition(":")
    known = bool(colon) and provider in ("openai", "anthropic", "deepseek", "google", "together")
    host, _, port = call.server.rpartition(":")
    attributes: dict[str, str | int] = {
        OPERATION: "chat",
        PROVIDER: _WELL_KNOWN.get(provider, provider) if known else _COMPATIBLE,
        REQUEST_MODEL: model if known else call.model,
    }
    return attributes | ({SERVER_ADDRESS: host.strip("[]"), SERVER_PORT: int(port)} if host else {})
