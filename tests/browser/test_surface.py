"""What a page sees of its window, and what can be done in it, while almost nothing of it is drawn."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from typing import Any

import pytest
from playwright.async_api import Page

from browser import Visit
from browser.action import Click, Type
from browser.environment import WebEnvironment
from browser.pool import BrowserPool, PoolOptions, Slot
from browser.session.identity import VIEWPORT, Identity, Viewport
from tests.browser.pages import Site

# Elements that begin just within the window and just below it; sizes as the window, its screen and style sheets tell.
EDGE = "<style>body { margin: 0 } i { position: absolute; width: 9px; height: 9px }</style><i></i><i></i><p>Text.</p>"
SIGHT = """async ([width, height]) => {
  const marks = [...document.querySelectorAll("i")];
  marks.forEach((mark, index) => { mark.style.top = `${height - 5 + 10 * index}px`; });
  const seen = await Promise.all(marks.map((mark) => new Promise((tell) => {
    new IntersectionObserver(([entry]) => tell(entry.isIntersecting)).observe(mark);
  })));
  const media = `(width: ${width}px) and (height: ${height}px) and (device-width: ${width}px)`;
  return { seen, media: matchMedia(media).matches, outer: [outerWidth, outerHeight], inner: [innerWidth, innerHeight] };
}"""


@pytest.fixture(scope="module")
async def pool() -> AsyncIterator[BrowserPool]:
    async with BrowserPool(PoolOptions(speculation_slots=1)) as opened:
        opened.egress.rule.allow({"127.0.0.1", "localhost"})
        yield opened


async def sight(page: Page, size: Viewport) -> dict[str, Any]:
    seen: dict[str, Any] = await page.evaluate(SIGHT, [size.width, size.height])
    return seen


async def drawn(page: Page) -> tuple[int, int]:
    session = await page.context.new_cdp_session(page)
    bounds = (await session.send("Browser.getWindowForTarget"))["bounds"]
    await session.detach()
    return bounds["width"], bounds["height"]


@pytest.mark.parametrize("size", [VIEWPORT, Viewport(width=600, height=900)], ids=str)
@pytest.mark.parametrize("ahead", [False, True])
async def test_a_page_sees_the_window_of_its_identity(
    pool: BrowserPool, site: Site, ahead: bool, size: Viewport
) -> None:
    site.put("/", EDGE)
    identity, stack = Identity(viewport=size), AsyncExitStack()
    async with stack:
        slot: Slot
        if ahead:
            slot = await stack.enter_async_context(pool.speculation("me", identity=identity))
        else:
            slot = await pool.foreground(identity=identity)
            stack.push_async_callback(pool.discard, slot)
        for url in (site.url("/"), site.other_url("/")):  # the second in a process of its own
            if slot.guard is not None:
                slot.guard.arm(url)
            await slot.page.goto(url)
            whole = [size.width, size.height]
            assert await sight(slot.page, size) == {
                "seen": [True, False],
                "media": True,
                "outer": whole,
                "inner": whole,
            }
        assert await drawn(slot.page) == (320, 200)


async def test_a_frame_of_another_site_is_clicked_wherever_it_stands(pool: BrowserPool, site: Site) -> None:
    inner = "<button onclick='this.textContent = `Done`'>Do</button><input aria-label=Name>"
    resized = "<script>onresize = () => document.body.append('resized')</script>"
    site.put("/", f"<iframe src={site.other_url('/inner')} style='margin: 1500px 800px 0'></iframe>{resized}")
    site.put("/inner", inner)
    environment = WebEnvironment(pool, named_hosts={"127.0.0.1", "localhost"})
    try:
        await environment.step(Visit(site.url("/")))
        assert "Done" in (await environment.step(Click('[button "Do"][c1]'))).text
        typed = (await environment.step(Type('[textbox "Name"][c2]', "Ada"))).text
        assert "value: Ada" in typed
        assert "resized" not in typed
    finally:
        await environment.aclose()


async def test_a_window_that_a_page_opens_is_of_the_same_size(pool: BrowserPool, site: Site) -> None:
    site.put("/", EDGE)
    slot = await pool.foreground()
    try:
        await slot.page.goto(site.url("/"))
        async with slot.context.expect_page() as opening:
            await slot.page.evaluate("void open('/')")
        page = await opening.value
        await page.wait_for_load_state()
        seen = await sight(page, VIEWPORT)
        assert (seen["seen"], seen["inner"]) == ([True, False], [VIEWPORT.width, VIEWPORT.height])
    finally:
        await pool.discard(slot)
