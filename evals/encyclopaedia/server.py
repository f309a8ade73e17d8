"""Serves the encyclopaedia on loopback, with its search in three shapes.

Invariant: a search takes as long as a sub-page, in whichever shape it is asked for.
"""

from __future__ import annotations

import asyncio

from aiohttp import web

from evals.encyclopaedia.article import LANG, MAIN_PAGE
from evals.encyclopaedia.encyclopaedia import Encyclopaedia
from evals.encyclopaedia.results import (
    SEARCH_PATH,
    mediawiki_results,
    path_asked,
    results_page,
    results_path,
    searxng_results,
)
from evals.site import LatencyModel, Site, SiteServer
from evals.site.page import Page
from evals.site.server import read_static

MEDIAWIKI_PATH = "/w/api.php"


class EncyclopaediaServer(SiteServer):
    """Serves an encyclopaedia: `async with EncyclopaediaServer(encyclopaedia) as server: … server.url`.

    Searching: `/search?q=` is a page, `/search?q=&format=json` SearXNG's JSON, and `/w/api.php` MediaWiki's API.

    Resource handling: as its base does.
    """

    def __init__(self, encyclopaedia: Encyclopaedia, *, time_scale: float = 0.1, port: int = 0) -> None:
        site = Site(
            seed=encyclopaedia.seed, pages=encyclopaedia.pages, frames={LANG: encyclopaedia.frame}, questions=()
        )
        latency = LatencyModel(time_scale=time_scale, seed=encyclopaedia.seed, roots=frozenset({MAIN_PAGE}))
        super().__init__(site, latency=latency, port=port)
        self._encyclopaedia = encyclopaedia
        self._home = MAIN_PAGE
        self._static |= read_static(__package__)

    async def _document(self, request: web.Request) -> web.StreamResponse:
        path = self._path_of(request)
        if request.path == MEDIAWIKI_PATH:
            return await self._mediawiki(request)
        if request.path == SEARCH_PATH and request.query.get("format") == "json":
            return await self._searxng(request)
        await asyncio.sleep(self._latency.document_seconds(path))
        is_there = request.path == SEARCH_PATH or path in self._encyclopaedia.pages
        return self._shell(self._encyclopaedia.frame, status=200 if is_there else 404)

    async def _mediawiki(self, request: web.Request) -> web.Response:
        query = request.query.get("srsearch") or request.query.get("gsrsearch", "")
        await asyncio.sleep(self._latency.page_seconds(results_path(query)))
        answer = mediawiki_results(self._encyclopaedia.index, request.query, origin=_origin(request))
        return web.json_response(answer, headers={"Cache-Control": "private, must-revalidate, max-age=0"})

    async def _searxng(self, request: web.Request) -> web.Response:
        await asyncio.sleep(self._latency.page_seconds(results_path(request.query.get("q", ""))))
        return web.json_response(searxng_results(self._encyclopaedia.index, request.query, origin=_origin(request)))

    def _path_of(self, request: web.Request) -> str:
        path = super()._path_of(request)
        return path_asked(request.query) if path == SEARCH_PATH else path

    def _find(self, request: web.Request) -> Page:
        if super()._path_of(request) == SEARCH_PATH:
            return results_page(self._encyclopaedia.index, request.query)
        return super()._find(request)


def _origin(request: web.Request) -> str:
    return f"{request.scheme}://{request.host}"
