"""Serves a long run's figures to Prometheus at `/metrics`.

Invariant: it listens on this machine only, unless the user names another interface.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from aiohttp import web

from agent.errors import ConfigurationError

if TYPE_CHECKING:
    from agent.telemetry.prometheus import Metrics

PATH = "/metrics"
_PLACE = re.compile(r"(?:(?P<host>[^:\s]+|\[[0-9a-fA-F:.]+\]):)?(?P<port>\d{1,5})")
_LOCAL = "127.0.0.1"


@asynccontextmanager
async def serve_metrics(metrics: Metrics, place: str) -> AsyncIterator[str]:
    """Serve figures while the block runs.

    Args:
        metrics: The figures.
        place: Where to listen, as `[HOST:]PORT`; port 0: any that is free.

    Yields:
        The address they are at.

    Raises:
        ConfigurationError: That is no such place, or it cannot be listened on.
    """
    from agent.telemetry.prometheus import CONTENT_TYPE  # noqa: PLC0415 - needs the extra `metrics`

    found = _PLACE.fullmatch(place)
    if found is None or int(found["port"]) > 65_535:
        raise ConfigurationError(
            f"metrics cannot be served at {place!r}", hint="Name a port, or HOST:PORT: --metrics 9464"
        )
    host = found["host"] or _LOCAL

    async def answer(_: web.Request) -> web.Response:
        return web.Response(body=metrics.text(), headers={"Content-Type": CONTENT_TYPE})

    application = web.Application()
    application.router.add_get(PATH, answer)
    runner = web.AppRunner(application, access_log=None, shutdown_timeout=0.5)
    await runner.setup()
    try:
        try:
            await web.TCPSite(runner, host.strip("[]"), int(found["port"])).start()
        except OSError as error:
            raise ConfigurationError(
                f"cannot listen on {host}:{found['port']}: {error.strerror or error}",
                hint="Choose another port for --metrics, or end what listens there.",
            ) from error
        yield f"http://{host}:{runner.addresses[0][1]}{PATH}"
    finally:
        await runner.cleanup()
