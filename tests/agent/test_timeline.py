"""The page of a trace, in a real browser: drawn, filtered, zoomed and walked through, without any network."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from playwright.async_api import Browser, BrowserContext, Page, async_playwright

from agent.timeline.page import MAX_TEXT_CHARS, timeline_page
from agent.timeline.trace_reader import read_trace
from browser.engine.chromium import find_chromium
from tests.agent.traces import MARKUP, Line, decided, example, observed, thinking, write


@pytest.fixture(scope="module")
async def browser() -> AsyncIterator[Browser]:
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=find_chromium().executable)
        yield browser
        await browser.close()


@pytest.fixture
async def context(browser: Browser) -> AsyncIterator[BrowserContext]:
    context = await browser.new_context(viewport={"width": 1000, "height": 800}, reduced_motion="reduce")
    context.set_default_timeout(10_000)
    yield context
    await context.close()


class Shown:
    """A page that is shown, and what it said and asked for."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.said: list[str] = []
        self.requests: list[str] = []
        page.on("console", lambda message: self.said.append(message.text))
        page.on("pageerror", lambda error: self.said.append(str(error)))
        page.on("request", lambda request: self.requests.append(request.url))

    async def kinds(self) -> Counter[str]:
        """How many bars of each kind are in sight."""
        script = "bars => bars.filter(bar => bar.style.display !== 'none').map(bar => bar.classList[1])"
        return Counter(await self.page.locator(".bar").evaluate_all(script))

    async def focused(self) -> str:
        """What the element in focus is called."""
        return str(await self.page.evaluate("document.activeElement.getAttribute('aria-label')"))

    async def width(self, kind: str) -> float:
        box = await self.page.locator(f".bar.{kind} .body").first.bounding_box()
        assert box is not None
        return box["width"]

    async def press(self, *keys: str) -> None:
        """Press keys, and wait until what they did is drawn."""
        for key in keys:
            await self.page.keyboard.press(key)
        await self.page.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")


@pytest.fixture
async def shown(context: BrowserContext, tmp_path: Path) -> Shown:
    return await show(context, tmp_path, example())


async def show(context: BrowserContext, tmp_path: Path, *traces: list[Line]) -> Shown:
    files = [write(tmp_path / f"{number}.jsonl", lines) for number, lines in enumerate(traces)]
    html = tmp_path / "page.html"
    html.write_text(timeline_page([run for file in files for run in read_trace(file)]), encoding="utf-8")
    shown = Shown(await context.new_page())
    await shown.page.goto(html.as_uri())
    return shown


async def frame(page: Page) -> None:
    """Wait until the next picture; to wait for a function, the page's own policy forbids."""
    await page.evaluate("new Promise(requestAnimationFrame)")


async def test_it_shows_the_run_and_asks_for_nothing(shown: Shown) -> None:
    page = shown.page
    assert await page.locator("h1").inner_text() == f"What? {MARKUP}"
    assert await page.title() == f"What? {MARKUP} · SpecCache"
    assert await page.locator("svg .name").all_text_contents() == [
        "target",
        "draft requests",
        "draft:small",
        "rank",
        "foreground",
        "ahead 1",
        "ahead 2",
    ]
    assert await shown.kinds() == {
        "think": 3, "request": 1, "finish": 1, "predict": 2, "refused": 1, "miss": 1, "join": 1, "hit": 1, "hidden": 2,
        "unused": 1, "dropped": 1,
    }  # fmt: skip
    assert await page.locator("svg .band").count() == 2, "the miss and the join were waited for"
    assert "50 % one after the other" in await page.locator("#figures").inner_text()
    assert await page.locator("#answer p").all_inner_texts() == [
        "that",
        "source: https://site.test/d",
        "No page that was read says this in these words.",
    ]
    assert (shown.said, shown.requests) == ([], [page.url])


async def test_what_stands_in_a_trace_is_never_markup(shown: Shown) -> None:
    page = shown.page
    assert MARKUP in await page.locator("#turns > li").first.inner_text()
    assert await page.locator("img").count() == 0
    assert await page.locator("script").count() == 2
    await page.evaluate(
        "document.body.append(Object.assign(document.createElement('script'), {text: 'window.ran = 1'}))"
    )
    assert await page.evaluate("window.ran") is None
    assert any("Content Security Policy" in said for said in shown.said)


async def test_only_addresses_of_the_web_become_links(context: BrowserContext, tmp_path: Path) -> None:
    lines = example()
    lines[3] |= {"url": "javascript:alert(1)"}
    shown = await show(context, tmp_path, lines)
    assert "javascript:alert(1)" in await shown.page.locator("#turns > li").first.inner_text()
    links = await shown.page.locator("a").evaluate_all("links => links.map(link => link.protocol)")
    assert set(links) == {"https:"}


async def test_each_turn_is_listed(shown: Shown) -> None:
    turns = await shown.page.locator("#turns > li").all_inner_texts()
    assert [text.split("\n")[0] for text in turns] == ["Start", "1", "2", "3"]
    assert "visit 1" in turns[1]
    assert "It is visit 1, I think." in turns[1]
    assert "1,000 tokens in, 50 out" in turns[1]
    assert "join, waited 1.00 s" in turns[1]
    await shown.page.locator("#turns > li").nth(1).locator("summary").first.click()
    assert await shown.page.locator("#turns > li").nth(1).locator("pre").inner_text() == "All of a."
    await shown.page.get_by_text("2 loaded ahead").first.click()
    loads = await shown.page.locator("#turns > li").nth(1).locator("ul li").all_inner_texts()
    assert loads == ["visit https://site.test/a: used in turn 1, join", "visit https://site.test/b: not used"]


async def test_it_is_filtered_by_text_lane_and_kind(shown: Shown) -> None:
    page = shown.page
    await page.get_by_label("Find").fill("implausible")
    assert await shown.kinds() == {"dropped": 1}
    assert await page.locator("#shown").inner_text() == "1 of 15 bars, 1 of 4 turns"
    assert await page.locator("#turns > li:visible").count() == 1
    await page.get_by_label("Find").fill("")
    await page.locator("#lane").select_option("foreground")
    assert await shown.kinds() == {"miss": 1, "join": 1, "hit": 1}
    miss = page.locator("#legend").get_by_role("button", name="miss")
    await miss.click()
    assert await shown.kinds() == {"join": 1, "hit": 1}
    assert await page.locator("svg .band").count() == 1
    assert await miss.get_attribute("aria-pressed") == "false"
    await miss.click()
    await page.locator("#lane").select_option("")
    assert (await shown.kinds()).total() == 15


async def test_it_is_walked_through_by_keys(shown: Shown) -> None:
    page = shown.page
    await page.locator("#legend button").last.focus()
    await shown.press("Tab")
    assert (await shown.focused()).startswith("thinking, visit 1, turn: 1")
    assert "It is visit 1, I think." in await page.locator("#tip").inner_text()
    await shown.press("Escape")
    assert await page.locator("#tip").is_hidden()
    await shown.press("ArrowRight")
    assert "turn: 2" in await shown.focused()
    await shown.press("ArrowDown", "ArrowDown", "ArrowDown", "ArrowDown")
    assert (await shown.focused()).startswith("join, a")
    await shown.press("End", "ArrowUp", "Home")
    assert (await shown.focused()).startswith("guessing")
    await shown.press("ArrowUp", "ArrowUp", "ArrowUp", "End", "Home", "Enter")
    assert await shown.focused() == "Show turn 1 in the timeline"
    assert await page.locator("#turns > li.marked button").inner_text() == "1"
    assert await page.locator(".bar.marked").count() > 1
    await shown.press("Enter")
    assert (await shown.focused()).startswith("thinking, visit 1, turn: 1")
    assert shown.said == []


async def test_it_is_zoomed_by_keys_buttons_and_wheel(shown: Shown) -> None:
    page = shown.page
    whole = await shown.width("think")
    await page.locator("#legend button").last.focus()
    await shown.press("Tab", "+")
    assert await shown.width("think") == pytest.approx(1.5 * whole, rel=0.02)
    await shown.press("Shift+ArrowRight", "-", "0")
    assert await shown.width("think") == pytest.approx(whole, rel=0.02)
    await page.get_by_role("button", name="Zoom in").click()
    await shown.press()
    assert await shown.width("think") > 1.4 * whole
    await page.get_by_role("button", name="Whole run").click()
    await page.locator("#chart").hover()
    await page.keyboard.down("Control")
    await page.mouse.wheel(0, -300)
    await page.keyboard.up("Control")
    while await shown.width("think") <= 1.5 * whole:
        await frame(page)
    before = await page.locator("#chart > svg text").all_text_contents()
    box = await page.locator("#chart").bounding_box()
    assert box is not None
    await page.mouse.move(box["x"] + 500, box["y"] + 15)
    await page.mouse.down()
    await page.mouse.move(box["x"] + 200, box["y"] + 15)
    await page.mouse.up()
    await shown.press()
    assert await page.locator("#chart > svg text").all_text_contents() != before


async def test_one_of_several_runs_is_chosen(context: BrowserContext, tmp_path: Path) -> None:
    crashed = [*example()[:4], thinking(2.0, turn=1), {"event": "later", "at_s": 3.5, "seconds": 1.0}]
    shown = await show(context, tmp_path, example(), crashed)
    runs = shown.page.locator("#runs button")
    assert await runs.count() == 2
    await runs.nth(1).click()
    assert await runs.nth(1).get_attribute("aria-current") == "true"
    assert "not finished" in await shown.page.locator("#about").inner_text()
    assert await shown.kinds() == {"miss": 1, "think": 1, "other": 1}
    assert shown.said == []


async def test_a_run_of_two_thousand_events_is_drawn(context: BrowserContext, tmp_path: Path) -> None:
    lines = example()[:4]
    for turn in range(1, 668):
        at = 2.0 * turn
        lines += [
            thinking(at, turn=turn),
            decided(at + 1, "visit 1", turn=turn, seconds=1.0),
            observed(at + 1.5, "x", turn=turn, seconds=0.5, text="y" * 9_000),
        ]
    shown = await show(context, tmp_path, lines)
    await shown.page.get_by_role("button", name="Zoom in").click()
    await shown.press()
    assert (await shown.kinds())["think"] > 400
    cut = await shown.page.locator("pre").nth(1).text_content()
    assert cut is not None
    assert cut.endswith(f"{9_000 - MAX_TEXT_CHARS:,} more characters are in the trace")
    assert shown.said == []


async def test_dark_and_narrow_screens(shown: Shown) -> None:
    page = shown.page
    light = await page.evaluate("getComputedStyle(document.body).backgroundColor")
    await page.emulate_media(color_scheme="dark")
    assert await page.evaluate("getComputedStyle(document.body).backgroundColor") != light
    await page.set_viewport_size({"width": 360, "height": 700})
    while float(await page.locator("#chart > svg").get_attribute("width") or 0) >= 360:
        await frame(page)
    assert await page.evaluate("document.documentElement.scrollWidth") <= 360
    assert (await shown.kinds()).total() == 15
