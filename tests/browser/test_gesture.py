"""Gestures on pages that make them hard: nothing is done in silence, nor to another element than the one meant."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing

import pytest

from browser import Observation, Visit
from browser.action import Action, Back, Check, Click, Press, Select, Type, WaitFor
from browser.environment import WebEnvironment
from browser.pool import BrowserPool, PoolOptions
from tests.browser.pages import Site

TOLD = "<p id=told>nothing yet</p>"
TELL = "told.textContent = 'clicked'"
CATCHES = f"addEventListener('click', (event) => {{ event.stopImmediatePropagation(); {TELL} }}, true)"
MOVES = f'<button style="position: relative; animation: m 1s" onclick="{TELL}">A</button>'
DRAW = "const draw = () => { r.innerHTML = '<button>A</button>' }; draw()"
TRAP = "document.querySelector('input').focus()"
SIGNS_IN = "opener.told.textContent = 'signed in'; close()"
BUSY = "for (const end = Date.now() + 1500; Date.now() < end;);"


@pytest.fixture(scope="module")
async def pool() -> AsyncIterator[BrowserPool]:
    async with BrowserPool(PoolOptions(speculation_slots=0)) as opened:
        yield opened


@pytest.fixture
async def web_environment(pool: BrowserPool) -> AsyncIterator[WebEnvironment]:
    async with aclosing(WebEnvironment(pool, named_hosts={"127.0.0.1", "localhost"})) as environment:
        yield environment


async def opened(environment: WebEnvironment, site: Site, html: str) -> Observation:
    site.put("/", html)
    return await environment.step(Visit(site.url("/")))


def kinds(observation: Observation) -> list[str]:
    return [event.kind for event in observation.events]


# ---- the element meant -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("html", "action", "words"),
    [
        (
            f"<div id=r></div><script>{DRAW}; addEventListener('mousemove', draw)</script>",
            Click("c1"),
            "was replaced when the pointer came near, so it was not clicked",
        ),
        (
            f'<input aria-label=A><input aria-label=B onfocus="{TRAP}">',
            Type("c2", "x"),
            "does not keep the focus, so nothing was typed",
        ),
        ("<input type=date aria-label=A>", Type("c1", "6 May 2024"), "does not take '6 May 2024': write it like 2024-"),
        ("<select disabled aria-label=A><option>x<option>y</select>", Select("c1", "y"), "It is disabled."),
    ],
    ids=["replaced", "focus", "date", "disabled"],
)
async def test_what_a_gesture_meets_is_said(
    web_environment: WebEnvironment, site: Site, html: str, action: Action, words: str
) -> None:
    await opened(web_environment, site, html)
    assert words in (await web_environment.step(action)).text


async def test_what_keeps_the_page_busy_is_not_said_to_have_failed(
    web_environment: WebEnvironment, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("browser.acting.gesture._MILLISECONDS", 500.0)
    await opened(web_environment, site, f'{TOLD}<button onclick="{BUSY} {TELL}">A</button>')
    after = await web_environment.step(Click("c1"))
    assert after.text.startswith('c1 (button "A") was used, but the page is busy with it')
    assert "clicked" in after.text


@pytest.mark.parametrize(
    "html",
    [
        f"<button onpointerdown='this.remove()'>A</button><script>onpointerdown = () => {{ {TELL} }}</script>",
        f'<button onclick="this.remove(); {TELL}">A</button>',
        f"<script>{CATCHES}</script><button>A</button>",
        f'<button id=b disabled onclick="{TELL}">A</button><script>setTimeout(() => b.disabled = 0, 600)</script>',
        f"<style>@keyframes m {{ 0% {{ left: 9em }} }}</style>{MOVES}",
    ],
    ids=["gone-on-press", "gone-on-click", "caught", "enabled-late", "comes-to-rest"],
)
async def test_a_click_that_took_effect_is_no_failure(web_environment: WebEnvironment, site: Site, html: str) -> None:
    await opened(web_environment, site, TOLD + html)
    assert (await web_environment.step(Click("c1"))).text.startswith("clicked")


async def test_a_link_whose_parts_float_out_of_it_is_clicked(web_environment: WebEnvironment, site: Site) -> None:
    site.put("/next", "<p>next page</p>")
    await opened(web_environment, site, "<a href=/next><div style='float:left'>Floating</div></a>")
    assert "next page" in (await web_environment.step(Click("1"))).text


async def test_a_box_under_its_own_label_is_set(web_environment: WebEnvironment, site: Site) -> None:
    box = (
        "<input type=checkbox style='opacity:0'><span style='position:absolute; inset:0; background:#ccc'>Agree</span>"
    )
    await opened(web_environment, site, f"<label style='position:relative; display:block'>{box}</label>")
    assert '[checkbox "Agree" checked][c1]' in (await web_environment.step(Check("c1"))).text
    assert '[checkbox "Agree"][c1]' in (await web_environment.step(Check("c1", on=False))).text


async def test_several_options_are_chosen_one_by_one(web_environment: WebEnvironment, site: Site) -> None:
    await opened(web_environment, site, "<select multiple aria-label=S><option>A<option selected>B<option>C</select>")
    assert "value: B, C;" in (await web_environment.step(Select("c1", "C"))).text
    assert "value: C;" in (await web_environment.step(Select("c1", "B"))).text
    assert "value: none;" in (await web_environment.step(Select("c1", "C"))).text


async def test_a_page_that_is_drawn_anew_without_a_change_did_not_change(
    web_environment: WebEnvironment, site: Site
) -> None:
    await opened(web_environment, site, f"<div id=r></div><script>{DRAW}; r.onclick = draw</script>")
    after = await web_environment.step(Click("c1"))
    assert after.text.startswith("Nothing on the page changed.")
    assert after.document.controls[-1].number > 1


async def test_a_form_that_is_not_sent_says_which_field_is_wrong(web_environment: WebEnvironment, site: Site) -> None:
    site.put("/sent", "<p>sent</p>")
    form = "<form action=/sent><label>Mail<input type=email name=m required></label><button>Send</button></form>"
    await opened(web_environment, site, form)
    empty = await web_environment.step(Click("c2"))
    assert empty.text.startswith('The form was not sent: "Mail" is not filled in right. Please fill')
    wrong = await web_environment.step(Type("c1", "x", submit=True))
    assert "'x' is missing an '@'" in wrong.text
    assert "not sent" not in (await web_environment.step(Type("c1", "x@y.z"))).text
    assert "sent" in (await web_environment.step(Press("Enter"))).text
    assert [path for path in site.log if path.startswith("/sent")] == ["/sent?m=x%40y.z"]


# ---- text that is waited for -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("place", ["hidden-first", "same-origin", "cross-origin"])
async def test_a_text_is_waited_for_wherever_it_comes(web_environment: WebEnvironment, site: Site, place: str) -> None:
    text = "<p hidden>late words</p><p id=p>early</p>"
    site.put("/frame", text)
    inner = {"same-origin": site.url("/frame"), "cross-origin": site.other_url("/frame")}
    await opened(web_environment, site, f"<iframe src={inner[place]}></iframe>" if place in inner else text)
    frame = (await web_environment.live()).frames[-1]
    await frame.evaluate("void setTimeout(() => { p.textContent = 'late words' }, 700)")
    assert (await web_environment.step(WaitFor("Late  words"))).text == "late words"


async def test_a_text_that_is_there_already_is_no_failure(web_environment: WebEnvironment, site: Site) -> None:
    await opened(web_environment, site, "<p>here it is</p>")
    assert (await web_environment.step(WaitFor("here"))).text == "here it is"


# ---- windows and what they say ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("signs_in", [SIGNS_IN, f"setTimeout(() => {{ {SIGNS_IN} }}, 100)"], ids=["at-once", "later"])
async def test_a_window_that_closes_itself_leads_back(
    web_environment: WebEnvironment, site: Site, signs_in: str
) -> None:
    site.put("/sign-in", f"<p>Wait.</p><script>{signs_in}</script>")
    await opened(web_environment, site, f"{TOLD}<button onclick=\"window.open('/sign-in')\">Sign in</button>")
    after = await web_environment.step(Click("c1"))
    assert kinds(after) == ["popup"]
    assert "signed in" in after.text


async def test_what_a_new_window_says_is_told(web_environment: WebEnvironment, site: Site) -> None:
    site.put("/new", "<p>new text</p><script>alert('Hello'); console.error('it broke'); null.x</script>")
    await opened(web_environment, site, "<button onclick=\"window.open('/new')\">A</button>")
    after = await web_environment.step(Click("c1"))
    assert sorted(kinds(after)) == ["console-error", "console-error", "dialog", "popup"]
    assert "which was closed: Hello" in after.text
    assert "it broke" in after.text
    assert "A script of the page failed: Cannot read properties of null" in after.text


async def test_what_other_tabs_do_is_not_told(web_environment: WebEnvironment, site: Site) -> None:
    site.put("/noisy", "<script>onmessage = () => console.error('noise')</script><p>noisy</p>")
    opens, tells = "w = window.open('/noisy')", "w.postMessage(1, '*'); told.textContent = 'told'"
    html = f'{TOLD}<button onclick="{opens}">A</button><button onclick="{tells}">B</button>'
    await opened(web_environment, site, html)
    assert "noisy" in (await web_environment.step(Click("c1"))).text
    await web_environment.step(Back())
    after = await web_environment.step(Click("c2"))
    assert after.text.startswith("told")
    assert after.events == ()


async def test_a_link_that_leads_nowhere_holds_nothing_up(web_environment: WebEnvironment, site: Site) -> None:
    site.put("/moved", "", status=302, headers={"Location": "/nothing"})
    site.put("/nothing", "", status=204)
    await opened(web_environment, site, "<p>the page</p><a href=/moved>Go</a>")
    async with asyncio.timeout(10):
        after = await web_environment.step(Click("1"))
    assert after.text.startswith("Nothing on the page changed.")


async def test_a_page_may_ask_again_and_again(web_environment: WebEnvironment, site: Site) -> None:
    asks = "for (let n = 0; n < 40; n += 1) alert(n); told.textContent = confirm('Sure?') + ' ' + prompt('Name?', 'me')"
    await opened(web_environment, site, f'{TOLD}<button onclick="{asks}">A</button>')
    after = await web_environment.step(Click("c1", accept=True))
    assert kinds(after) == ["dialog"] * 20
    assert "true me" in after.text
