"""Serves the demo site on loopback, inside the caller's event loop.

Invariant: every request is recorded before it is answered, so what a browser asked for can be counted even where the
answer was never awaited.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from html import escape
from importlib.resources import files
from types import TracebackType
from typing import Literal, Self

from aiohttp import web

from evals.site.content import Site
from evals.site.errors import PortUnavailable
from evals.site.latency import LatencyModel
from evals.site.page import Frame, Page
from evals.site.payload import collection_payload, frame_payload, has_collections, page_payload
from evals.site.traps import DOWNLOAD, LANGUAGE, LOGOUT, PDF, is_trap

RequestKind = Literal["document", "page", "collection", "frame", "static", "trap", "other"]

_RECORDED_HEADERS = ("cookie", "purpose", "referer", "sec-fetch-dest", "sec-purpose", "user-agent")
_SHUTDOWN_SECONDS = 0.2
_STATIC_TYPES = {"js": "text/javascript", "css": "text/css"}
_CACHEABLE = {"Cache-Control": "public, max-age=3600"}
_FRESH = {"Cache-Control": "no-cache"}
_ROBOTS = "User-agent: *\nDisallow: /members/\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestRecord:
    """One request as it arrived.

    Attributes:
        method: The HTTP method.
        path: Path and query as sent.
        kind: What was asked for; `page` and `collection` are the data fetched by the client.
        page: The page it belongs to, with its hash route where the request tells it; empty for other kinds.
        at_seconds: When, since the server started.
        headers: The recorded headers that were sent, by lower-case name.
    """

    method: str
    path: str
    kind: RequestKind
    page: str
    at_seconds: float
    headers: Mapping[str, str] = field(default_factory=dict)


class SiteServer:
    """Serves a site: `async with SiteServer(site) as server: … server.url`.

    Resource handling: leaving the block closes the port and every connection, open requests included, within a second.

    Attributes:
        requests: Every request so far, in order of arrival.
    """

    def __init__(
        self,
        site: Site,
        *,
        latency: LatencyModel | None = None,
        host: str = "127.0.0.1",
        port: int = 0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.requests: list[RequestRecord] = []
        self._site = site
        self._latency = latency or LatencyModel()
        self._host = host
        self._port = port
        self._clock = clock
        self._started = clock()
        self._static = read_static(__package__)
        self._home = f"/{next(iter(site.frames))}"
        self._documents = {path.partition("#")[0] for path in site.pages}
        self._runner: web.AppRunner | None = None

    def __repr__(self) -> str:
        state = self.url if self._runner else "closed"
        return f"<SiteServer {state}, {len(self.requests)} requests>"

    @property
    def url(self) -> str:
        """Address of the server, without a path; the root of each language, such as `/en`, is below it."""
        host = f"[{self._host}]" if ":" in self._host else self._host
        return f"http://{host}:{self._port}"

    def page_loads(self) -> Counter[str]:
        """Count the documents asked for, by path."""
        return self._count("document")

    def data_loads(self) -> Counter[str]:
        """Count the pages whose data were asked for, by path with hash route; one per page shown."""
        return self._count("page")

    def trap_requests(self) -> tuple[RequestRecord, ...]:
        """Return the requests that a careful reader would not have made."""
        return tuple(record for record in self.requests if record.kind == "trap")

    async def __aenter__(self) -> Self:
        """Start listening.

        Raises:
            PortUnavailable: The address cannot be listened on.
        """
        # A browser that gives up a load ends its handler, and so its delay.
        runner = web.AppRunner(
            self._application(), access_log=None, handler_cancellation=True, shutdown_timeout=_SHUTDOWN_SECONDS
        )
        await runner.setup()
        try:
            await web.TCPSite(runner, self._host, self._port).start()
        except OSError as error:
            await runner.cleanup()
            raise PortUnavailable(
                f"cannot listen on {self._host}:{self._port}: {error.strerror or error}",
                hint="Choose another port, or 0 for any free one.",
            ) from error
        self._port = runner.addresses[0][1]
        self._runner = runner
        self._started = self._clock()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None, /
    ) -> None:
        runner, self._runner = self._runner, None
        if runner is not None:
            await runner.cleanup()

    def _application(self) -> web.Application:
        app = web.Application(middlewares=[self._record])
        app.add_routes(
            [
                web.get("/", self._entrance),
                web.get("/robots.txt", self._robots),
                web.get("/static/{name}", self._asset),
                web.get("/api/frames/{lang}", self._frame),
                web.get(r"/api/pages/{path:.+}", self._page),
                web.get(r"/api/collections/{number:\d{1,4}}/{path:.+}", self._collection),
                web.get("/{path:.+}", self._document),
            ]
        )
        return app

    def _count(self, kind: RequestKind) -> Counter[str]:
        return Counter(record.page for record in self.requests if record.kind == kind)

    @web.middleware
    async def _record(
        self, request: web.Request, handler: Callable[[web.Request], Awaitable[web.StreamResponse]]
    ) -> web.StreamResponse:
        kind = _kind(request.path)
        self.requests.append(
            RequestRecord(
                method=request.method,
                path=request.path_qs,
                kind=kind,
                page=self._path_of(request) if kind in ("document", "page", "collection") else "",
                at_seconds=self._clock() - self._started,
                headers={name: request.headers[name] for name in _RECORDED_HEADERS if name in request.headers},
            )
        )
        return await handler(request)

    async def _entrance(self, _request: web.Request) -> web.StreamResponse:
        raise web.HTTPFound(self._home)

    async def _robots(self, _request: web.Request) -> web.StreamResponse:
        return web.Response(text=_ROBOTS, headers=_CACHEABLE)

    async def _asset(self, request: web.Request) -> web.StreamResponse:
        name = request.match_info["name"]
        content_type = _STATIC_TYPES.get(name.rpartition(".")[2])
        if content_type is None or name not in self._static:
            raise web.HTTPNotFound
        return web.Response(text=self._static[name], content_type=content_type, headers=_CACHEABLE)

    async def _document(self, request: web.Request) -> web.StreamResponse:
        if is_trap(request.path):
            return self._spring(request.path)
        path = self._path_of(request)
        lang = path.split("/")[1]
        frame = self._site.frames.get(lang)
        if frame is None:
            raise web.HTTPNotFound
        await asyncio.sleep(self._latency.document_seconds(path))
        return self._shell(frame, status=200 if path in self._documents else 404)

    def _shell(self, frame: Frame, *, status: int) -> web.Response:
        shell = self._static["shell.html"].replace("{lang}", frame.lang).replace("{name}", escape(frame.name))
        return web.Response(text=shell, status=status, content_type="text/html", headers=_FRESH)

    def _spring(self, path: str) -> web.Response:
        """Do what following a trap does."""
        if path == DOWNLOAD:
            headers = {"Content-Disposition": 'attachment; filename="annual-report.pdf"'}
            return web.Response(body=PDF, content_type="application/pdf", headers=headers)
        if path.startswith(LANGUAGE):
            lang = "zh" if path == f"{LANGUAGE}zh" else "en"
            return _leave(f"/{lang}", cookie="language", value=lang)
        if path == LOGOUT:
            return _leave(self._home, cookie="session", value="ended")
        return web.Response(text="Done.", headers={"Cache-Control": "no-store"})

    async def _frame(self, request: web.Request) -> web.StreamResponse:
        frame = self._site.frames.get(request.match_info["lang"])
        if frame is None:
            raise web.HTTPNotFound
        return _json(frame_payload(frame), headers=_CACHEABLE)

    async def _page(self, request: web.Request) -> web.StreamResponse:
        page = self._find(request)
        await asyncio.sleep(self._request_seconds(page))
        return _json(page_payload(page), headers=_FRESH)

    async def _collection(self, request: web.Request) -> web.StreamResponse:
        page = self._find(request)
        payload = collection_payload(page, int(request.match_info["number"]))
        if payload is None:
            raise web.HTTPNotFound
        await asyncio.sleep(self._request_seconds(page))
        return _json(payload, headers=_FRESH)

    def _path_of(self, request: web.Request) -> str:
        """Return the path of the page that a request belongs to, with its hash route where the request tells it."""
        path = "/" + request.match_info.get("path", "").rstrip("/")
        route = request.query.get("route", "") if request.path.startswith("/api/") else ""
        return f"{path}#{route}" if route else path

    def _find(self, request: web.Request) -> Page:
        page = self._site.pages.get(self._path_of(request))
        if page is None:
            raise web.HTTPNotFound
        return page

    def _request_seconds(self, page: Page) -> float:
        """Return the delay of one data request: collections are fetched at once, but only after the page itself."""
        steps = 2 if has_collections(page) else 1
        return self._latency.data_seconds(page.path) / steps


def _kind(path: str) -> RequestKind:
    if is_trap(path):
        return "trap"
    match path.split("/")[1:3]:
        case ["static", *_]:
            return "static"
        case ["api", "frames"]:
            return "frame"
        case ["api", "pages"]:
            return "page"
        case ["api", "collections"]:
            return "collection"
        case ["" | "robots.txt" | "favicon.ico", *_]:
            return "other"
    return "document"


def _leave(location: str, *, cookie: str, value: str) -> web.Response:
    response = web.Response(status=303, headers={"Location": location, "Cache-Control": "no-store"})
    response.set_cookie(cookie, value, httponly=True, samesite="Lax")
    return response


def _json(payload: object, *, headers: Mapping[str, str]) -> web.Response:
    return web.json_response(payload, headers=headers, dumps=lambda value: json.dumps(value, ensure_ascii=False))


def read_static(package: str) -> dict[str, str]:
    """Return the files of a package's folder `static` by name."""
    folder = files(package) / "static"
    return {file.name: file.read_text(encoding="utf-8") for file in folder.iterdir() if file.is_file()}
