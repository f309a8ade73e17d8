"""The one edge where the `openai` client's exceptions become this package's errors.

Invariant: no message or hint carries a key. What an endpoint says about a refused key is not repeated at all, since
some repeat the key. Only what another attempt may mend becomes `ModelUnreachable`.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

import openai

from agent.errors import ModelError, ModelLate, ModelRefused, ModelUnreachable, ModelUnreadable
from agent.models.reply import excerpt
from browser.speculation.freshness import http_date_seconds

_TOO_LONG = re.compile(
    r"context.{0,20}(length|size|window)|(prompt|input|request).{0,40}too (long|large)|input token count", re.IGNORECASE
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelEdge:
    """Maps whatever goes wrong between here and one model.

    Attributes:
        model: The model's name.
        endpoint: Its address, without credentials.
        key: The API key, to be blanked wherever an endpoint repeats it.
        key_variable: Where the key is set, for the hint that it is wrong.
        total_seconds: How long a request may take, for the message that it took longer.
    """

    model: str
    endpoint: str
    key: str = field(repr=False)
    key_variable: str
    total_seconds: float

    def __str__(self) -> str:
        return f"{self.model} at {self.endpoint}"

    @contextmanager
    def mapped(self, *, late: str = "") -> Iterator[None]:
        """Raise `ModelError`s in place of what the client raises; `late` says what was waited for in vain."""
        try:
            yield
        except TimeoutError as error:
            raise self._late(late or f"did not answer within {self.total_seconds:g} s") from error
        except openai.OpenAIError as error:
            raise self._error(error) from error
        except (json.JSONDecodeError, UnicodeDecodeError) as error:
            raise self.unreadable(f"its JSON is broken ({error})") from error

    def unreadable(self, reason: str) -> ModelUnreadable:
        """Describe an answer that is no reply of a chat model."""
        return ModelUnreadable(
            f"{self} answered, but not as a chat model does: {excerpt(self._blanked(reason))}",
            hint="Check that the base URL is that of an OpenAI-compatible API; most end in /v1.",
        )

    def _late(self, what: str) -> ModelLate:
        return ModelLate(f"{self} {what}.", hint="Try again, choose a faster model, or allow it more time.")

    def _error(self, error: openai.OpenAIError) -> ModelError:
        match error:
            case openai.APITimeoutError():
                return self._late("did not answer in time")
            case openai.APIConnectionError():
                return ModelUnreachable(
                    f"No connection to {self}, or it broke off: {excerpt(str(error.__cause__ or error))}",
                    hint="Check that the endpoint runs and that its address is right.",
                )
            case openai.APIStatusError():
                return self._status(error, excerpt(self._blanked(error.message)))
            case _:
                # An error event within a stream: there is no status to tell what kind.
                return ModelUnreachable(
                    f"{self} broke off: {excerpt(self._blanked(str(error)))}", hint="Try again, or use another model."
                )

    def _status(self, error: openai.APIStatusError, said: str) -> ModelError:
        match error.status_code:
            case 401 | 403:
                return ModelRefused(
                    f"{self} refused the API key (HTTP {error.status_code}).",
                    hint=f"Set {self.key_variable} to a key that this endpoint accepts for this model.",
                )
            case 404:
                return ModelRefused(
                    f"{self} was not found: {said}",
                    hint="Check the model's name and the base URL; most base URLs end in /v1.",
                )
            case 429 if error.code == "insufficient_quota":
                return ModelRefused(f"The quota for {self} is used up.", hint="Check the account's plan and billing.")
            case 429:
                return ModelUnreachable(
                    f"{self} limits the rate: {said}",
                    hint="Wait a little, then try again.",
                    retry_after_seconds=retry_after_seconds(error.response.headers),
                )
            case status if status >= 500 or status in {408, 409}:
                return ModelUnreachable(
                    f"{self} failed: {said}",
                    hint="Try again later.",
                    retry_after_seconds=retry_after_seconds(error.response.headers),
                )
            case _ if error.code == "context_length_exceeded" or _TOO_LONG.search(said):
                return ModelRefused(
                    f"The prompt is too long for {self}: {said}",
                    hint="Use a model with a longer context, or lower --context-tokens.",
                )
            case _:
                return ModelRefused(f"{self} refused the request: {said}")

    def _blanked(self, text: str) -> str:
        return text.replace(self.key, "…") if self.key else text


def retry_after_seconds(headers: Mapping[str, str], *, now_seconds: float | None = None) -> float | None:
    """Return for how long an answer asks to be left alone; None where it does not say.

    `Retry-After` (RFC 9110, 10.2.3) holds seconds, which OpenAI writes with decimals too, or a date; OpenAI and Azure
    add `retry-after-ms`.
    """
    milliseconds, value = headers.get("retry-after-ms", ""), headers.get("retry-after", "").strip()
    for number, unit in ((milliseconds, 0.001), (value, 1.0)):
        if re.fullmatch(r"\d{1,9}(\.\d{1,9})?", number):
            return float(number) * unit
    moment = http_date_seconds(value)
    if moment is None:
        return None
    return max(0.0, moment - (time.time() if now_seconds is None else now_seconds))
