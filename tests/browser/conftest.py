"""One real browser for all tests of a file; each test has a fresh context, and a site of its own."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from playwright.async_api import Browser, Page, async_playwright

from browser.engine.chromium import find_chromium
from browser.page import INIT_SCRIPT
from browser.session.identity import VIEWPORT, Identity
from browser.slots.surface import Surface
from tests.browser.pages import Site


@pytest.fixture(scope="module")
async def browser() -> AsyncIterator[Browser]:
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=find_chromium().executable, args=["--blink-settings=imagesEnabled=false"]
        )
        yield browser
        await browser.close()


@pytest.fixture
async def page(browser: Browser) -> AsyncIterator[Page]:
    context = await browser.new_context(accept_downloads=False, **Identity().context_arguments())
    await context.add_init_script(INIT_SCRIPT)
    page = await context.new_page()
    await Surface.shrink(page, VIEWPORT)
    yield page
    await context.close()


@pytest.fixture
async def site() -> AsyncIterator[Site]:
    async with Site().serving() as site:
        yield site
