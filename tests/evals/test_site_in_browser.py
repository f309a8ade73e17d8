from __future__ import annotations

import time
from collections.abc import AsyncIterator

import pytest
from playwright.async_api import Browser, Page, async_playwright

from browser.engine.chromium import find_chromium
from evals.site import LatencyModel, Question, SiteServer, build_site

SITE = build_site()


def sample() -> list[Question]:
    """One question of every depth and language, and one each through the hash-routed area."""
    chosen = {(question.lang, question.hops): question for question in SITE.questions}
    hashed = {question.lang: question for question in SITE.questions if "#" in question.golden_path[-1]}
    return [*chosen.values(), *hashed.values()]


@pytest.fixture(scope="module")
async def chromium() -> AsyncIterator[Browser]:
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=find_chromium().executable)
        yield browser
        await browser.close()


@pytest.fixture(scope="module")
async def server() -> AsyncIterator[SiteServer]:
    async with SiteServer(SITE, latency=LatencyModel(time_scale=0)) as server:
        yield server


@pytest.fixture
async def page(chromium: Browser, server: SiteServer) -> AsyncIterator[Page]:
    server.requests.clear()
    context = await chromium.new_context(base_url=server.url)
    page = await context.new_page()
    problems: list[str] = []
    page.on("pageerror", lambda error: problems.append(str(error)))
    yield page
    await page.close()
    await context.close()
    assert problems == []


async def settled(page: Page, path: str) -> str:
    """Wait until the client shows this page entirely, and return the text of the page."""
    title = SITE.pages[path].title
    await page.wait_for_function(
        """title => document.querySelector('h1')?.textContent === title
            && document.getElementById('content').getAttribute('aria-busy') === 'false'""",
        arg=title,
    )
    return await page.inner_text("body")


async def link_addresses(page: Page, server: SiteServer) -> list[str]:
    """Return where the visible links lead, without the server's address, in document order."""
    addresses: list[str] = await page.eval_on_selector_all(
        "a[href]", "links => links.filter(link => link.checkVisibility()).map(link => link.href)"
    )
    return [address.removeprefix(server.url) for address in addresses]


@pytest.mark.parametrize("lang", ["en", "zh"])
async def test_the_rendered_root_has_exactly_the_links_of_the_content(
    page: Page, server: SiteServer, lang: str
) -> None:
    await page.goto(f"/{lang}")
    await settled(page, f"/{lang}")
    assert sorted(await link_addresses(page, server)) == sorted(link.path for link in SITE.links(f"/{lang}"))
    assert await page.evaluate("document.documentElement.lang") == lang


@pytest.mark.parametrize("question", sample(), ids=lambda question: question.id)
async def test_a_golden_path_can_be_opened_link_by_link(page: Page, server: SiteServer, question: Question) -> None:
    await page.goto(question.root_path)
    text = await settled(page, question.root_path)
    for step in question.golden_path:
        assert step in await link_addresses(page, server)
        await page.goto("about:blank")
        await page.goto(step)
        text = await settled(page, step)
    assert all(token in text for token in question.answer_tokens)
    assert server.data_loads() == dict.fromkeys((question.root_path, *question.golden_path), 1)
    assert server.trap_requests() == ()


@pytest.mark.parametrize("question", sample(), ids=lambda question: question.id)
async def test_a_golden_path_can_be_clicked_without_another_document(
    page: Page, server: SiteServer, question: Question
) -> None:
    await page.goto(question.root_path)
    text = await settled(page, question.root_path)
    for step in question.golden_path:
        short = step[step.index("#") :] if "#" in step else step
        await page.locator(f'a[href="{step}"], a[href="{short}"]').first.click()
        text = await settled(page, step)
        assert page.url == server.url + step
    assert all(token in text for token in question.answer_tokens)
    assert server.page_loads() == {question.root_path: 1}


async def test_back_and_forward_show_the_pages_again(page: Page) -> None:
    chapter = "/en/handbook#/chapter/travel"
    await page.goto("/en")
    await settled(page, "/en")
    await page.locator('a[href="/en/handbook"]').first.click()
    await settled(page, "/en/handbook")
    await page.locator('a[href="#/chapter/travel"]').click()
    await settled(page, chapter)
    await page.go_back()
    await settled(page, "/en/handbook")
    await page.go_back()
    await settled(page, "/en")
    await page.go_forward()
    await page.go_forward()
    await settled(page, chapter)


async def test_a_page_that_does_not_exist_says_so(page: Page) -> None:
    response = await page.goto("/en/nowhere")
    assert response is not None
    assert response.status == 404
    await page.get_by_text("There is no such page.").wait_for()


@pytest.mark.parametrize("path", ["/en", "/en/visit/canteen", "/en/handbook#/chapter/travel"])
async def test_a_load_takes_what_the_latency_model_says(chromium: Browser, path: str) -> None:
    latency = LatencyModel(time_scale=0.05)
    async with SiteServer(SITE, latency=latency) as server:
        page = await chromium.new_page()
        started = time.monotonic()
        await page.goto(server.url + path)
        await settled(page, path)
        took = time.monotonic() - started
        await page.close()
    assert took >= latency.page_seconds(path)


async def test_assets_and_frame_are_fetched_once_per_visitor(page: Page, server: SiteServer) -> None:
    for path in ("/en", "/en/team", "/en/news"):
        await page.goto(path)
        await settled(page, path)
    assert sorted(record.path for record in server.requests if record.kind in ("static", "frame")) == [
        "/api/frames/en",
        "/static/app.js",
        "/static/data.js",
        "/static/render.js",
        "/static/route.js",
        "/static/site.css",
    ]
