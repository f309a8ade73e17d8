"""Observations as bytes, for the places that keep them beyond a run.

Invariant: reading runs nothing and makes nothing of unbounded size. JSON and zlib, not pickle: bytes that somebody else
has written may show a wrong page, but no more than that.
"""

from __future__ import annotations

import zlib

from pydantic import TypeAdapter

from browser.observation import Observation

_OBSERVATIONS = TypeAdapter(Observation)
# A few kilobytes of zlib can stand for gigabytes.
_MAX_TEXT_BYTES = 64 * 1024 * 1024


class Unreadable(ValueError):
    """Bytes that are no observation, or an observation that cannot be written as bytes."""


def encode(observation: Observation) -> bytes:
    """Return an observation as compressed bytes.

    Raises:
        Unreadable: A text in it is no valid Unicode, as pages' scripts can make it.
    """
    try:
        return zlib.compress(_OBSERVATIONS.dump_json(observation))
    except ValueError as error:
        raise Unreadable("it is no valid Unicode") from error


def decode(body: bytes) -> Observation:
    """Return the observation that bytes stand for.

    Raises:
        Unreadable: They stand for none.
    """
    try:
        unpacking = zlib.decompressobj()
        text = unpacking.decompress(body, _MAX_TEXT_BYTES)
        if unpacking.eof:
            return _OBSERVATIONS.validate_json(text)
    except (zlib.error, ValueError) as error:
        raise Unreadable("it is no observation") from error
    raise Unreadable("it is cut short, or too long")
