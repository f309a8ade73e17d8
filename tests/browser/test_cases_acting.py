"""Faults that users reported of browser agents, as far as they are about acting; numbers are those of the reports."""

from __future__ import annotations

from collections.abc import AsyncIterator
from html import escape
from pathlib import Path
from urllib.parse import quote, quote_plus, urlencode

import pytest
from aiohttp import web

from browser import Observation, Visit
from browser.acting.allowance import Allowance, Secret
from browser.action import Back, Check, Click, Find, Select, Type, Upload
from browser.environment import WebEnvironment
from browser.pool import BrowserPool, PoolOptions
from tests.browser.pages import Site
from tests.browser.pdf_files import pdf

FILE = Path(__file__)
SECRET = Secret(name="PASSWORD", value="hunter 2&", host="127.0.0.1")


@pytest.fixture(scope="module")
async def pool() -> AsyncIterator[BrowserPool]:
    async with BrowserPool(PoolOptions(speculation_slots=1)) as opened:
        yield opened


@pytest.fixture
async def web_environment(pool: BrowserPool) -> AsyncIterator[WebEnvironment]:
    environment = WebEnvironment(
        pool, named_hosts={"127.0.0.1", "localhost"}, allowance=Allowance(files=[FILE], secrets=[SECRET])
    )
    yield environment
    await environment.aclose()


def reference(observation: Observation, name: str) -> str:
    """Return how the one control of that name is referred to."""
    (number,) = [control.number for control in observation.document.controls if control.name == name]
    return f"c{number}"


def state(observation: Observation, name: str) -> str:
    (found,) = [control.state for control in observation.document.controls if control.name == name]
    return found


_CLICK_TELLS = "onclick=\"document.querySelector('#told').textContent = 'handler ran'\""
_SHADOW = """<p id=told>nothing yet</p><div id=outer></div><script>
const inner = document.createElement("div");
outer.attachShadow({mode: "open"}).append(inner);
const button = document.createElement("button");
button.textContent = "Deep";
button.addEventListener("click", () => { told.textContent = "handler ran"; });
inner.attachShadow({mode: "open"}).append(button);
</script>"""


@pytest.mark.parametrize("place", ["page", "frame"], ids=["shadow", "shadow-in-frame"])
async def test_case_01_a_button_in_nested_shadow_roots_is_clicked(
    web_environment: WebEnvironment, site: Site, place: str
) -> None:
    site.put("/shadow", _SHADOW)
    frame = "<iframe src=/shadow style='margin:333px 222px 0; width:500px; height:300px'></iframe>"
    site.put("/", _SHADOW if place == "page" else frame)
    seen = await web_environment.step(Visit(site.url("/")))
    after = await web_environment.step(Click(reference(seen, "Deep")))
    assert "handler ran" in after.text


async def test_case_02_an_option_is_chosen_by_its_label(web_environment: WebEnvironment, site: Site) -> None:
    site.put(
        "/",
        """<label>Size <select oninput="inputs.textContent = 'input ' + value"
        onchange="changes.textContent = 'change ' + value">
        <option disabled selected value="">Choose</option><option value=s>Small</option>
        <option value=l>Large one</option></select></label><p id=inputs></p><p id=changes></p>""",
    )
    seen = await web_environment.step(Visit(site.url("/")))
    assert "options: Choose (disabled), Small, Large one" in state(seen, "Size")
    after = await web_environment.step(Select(reference(seen, "Size"), "Large  one"))
    assert "input l" in after.text
    assert "change l" in after.text
    assert "value: Large one" in state(after, "Size")
    refused = await web_environment.step(Select(reference(after, "Size"), "Choose"))
    assert 'has its option "Choose" disabled' in refused.text
    unknown = await web_environment.step(Select(reference(after, "Size"), "Huge"))
    assert 'has no options "Huge"' in unknown.text


@pytest.mark.parametrize(
    "opener",
    [
        "<a href=/new target=_blank>Open</a>",
        "<a href=/new target=_blank rel=noopener>Open</a>",
        "<button onclick=\"window.open('/new')\">Open</button>",
    ],
    ids=["link", "noopener", "window-open"],
)
async def test_case_03_a_new_tab_is_followed_and_the_old_one_kept(
    web_environment: WebEnvironment, site: Site, opener: str
) -> None:
    site.put("/", f"<title>Old</title><input aria-label=Note>{opener}")
    site.put("/new", "<title>New</title><p>new text</p>", delay_seconds=0.2)
    seen = await web_environment.step(Visit(site.url("/")))
    await web_environment.step(Type(reference(seen, "Note"), "kept"))
    after = await web_environment.step(Click("1" if seen.links else reference(seen, "Open")))
    assert (after.title, after.url) == ("New", site.url("/new"))
    assert [event.kind for event in after.events] == ["popup"]
    assert "new text" in after.text
    back = await web_environment.step(Back())
    assert back.title == "Old"
    assert state(back, "Note") == "value: kept"
    assert site.log.count("/") == 1


@pytest.mark.parametrize(
    ("content_type", "headers"),
    [
        ("application/pdf", {}),
        ("application/octet-stream", {"Content-Disposition": "attachment; filename=report.pdf"}),
    ],
    ids=["06", "07"],
)
@pytest.mark.parametrize("way", ["visit", "click"])
async def test_case_06_07_a_file_is_read_and_the_page_stays(
    web_environment: WebEnvironment, site: Site, content_type: str, headers: dict[str, str], way: str
) -> None:
    site.put("/get", pdf("Members in 2023: 412"), content_type=content_type, headers=headers)
    site.put("/", "<input aria-label=Note><a href=/get>The report</a>")
    await web_environment.step(Visit(site.url("/")))
    await web_environment.step(Type("c1", "kept"))
    seen = await web_environment.step(Visit("1") if way == "visit" else Click("1"))
    file = seen.document.download
    assert file is not None
    assert file.name in ("get.pdf", "report.pdf")
    assert file.path is not None
    assert seen.text.endswith("Members in 2023: 412")
    assert (seen.document.problem, seen.document.content_type) == (None, "application/pdf")
    back = await web_environment.step(Back())
    assert state(back, "Note") == "value: kept"
    assert "kept" in (await web_environment.step(Click("c1"))).text
    assert site.log.count("/") == 1


async def test_case_16_a_button_in_a_frame_of_another_origin_is_clicked(
    web_environment: WebEnvironment, site: Site
) -> None:
    site.put("/inner", f"<p id=told>framed text</p><button {_CLICK_TELLS}>Framed</button>")
    site.put("/", f"<button>Own</button><iframe src={site.other_url('/inner')} style='margin:99px'></iframe>")
    seen = await web_environment.step(Visit(site.url("/")))
    assert "framed text" in seen.text
    after = await web_environment.step(Click(reference(seen, "Framed")))
    assert "handler ran" in after.text


async def test_case_19_what_covers_a_button_is_named(web_environment: WebEnvironment, site: Site) -> None:
    site.put(
        "/",
        f"""<p id=told>nothing yet</p><button {_CLICK_TELLS}>Buy</button>
        <div id=cookies style="position:fixed; inset:0; background:#fff8"><p>We use cookies</p>
        <button onclick="cookies.remove()">Accept</button></div>""",
    )
    seen = await web_environment.step(Visit(site.url("/")))
    covered = await web_environment.step(Click(reference(seen, "Buy")))
    assert 'c1 (button "Buy") is covered by <div id="cookies">…</div>, with <button' in covered.text
    assert "nothing yet" in covered.text
    free = await web_environment.step(Click(reference(covered, "Accept")))
    assert "handler ran" in (await web_environment.step(Click(reference(free, "Buy")))).text


_EDITOR = """<div id=editor contenteditable aria-label=Message></div><p id=model>model: </p><script>
let text = "";
const render = () => { editor.textContent = text; model.textContent = "model: " + text;
  getSelection().selectAllChildren(editor); getSelection().collapseToEnd(); };
editor.addEventListener("beforeinput", (event) => {
  event.preventDefault();
  if (!event.isTrusted) return;
  const all = getSelection().toString().length >= text.length && text.length > 0;
  if (event.inputType === "insertText") text = (all ? "" : text) + event.data;
  if (event.inputType.startsWith("delete")) text = all ? "" : text.slice(0, -1);
  render();
});
new MutationObserver(() => { if (editor.textContent !== text) render(); }).observe(
  editor, { subtree: true, childList: true, characterData: true });
</script>"""


async def test_case_20_an_editor_that_keeps_its_own_model_gets_key_strokes(
    web_environment: WebEnvironment, site: Site
) -> None:
    site.put("/", _EDITOR)
    seen = await web_environment.step(Visit(site.url("/")))
    after = await web_environment.step(Type(reference(seen, "Message"), "Grüße, 世界!"))
    assert "model: Grüße, 世界!" in after.text
    again = await web_environment.step(Type(reference(after, "Message"), "other"))
    assert "model: other" in again.text


@pytest.mark.parametrize(
    "way",
    [
        "<button onclick=\"document.querySelector('input').click()\">Choose</button><input type=file hidden>",
        "<label>Choose<input type=file style='display:none'></label>",
        "<label for=f style='cursor:pointer'>Choose</label><input id=f type=file style='opacity:0; width:1px'>",
        "<input type=file aria-label=Choose>",
    ],
    ids=["button", "label", "label-for", "visible"],
)
async def test_case_21_a_file_is_chosen_through_what_a_person_sees(
    web_environment: WebEnvironment, site: Site, way: str
) -> None:
    site.put(
        "/",
        f"<p id=told></p>{way}<script>document.querySelector('input').onchange ="
        " ({target}) => { told.textContent = 'got ' + target.files[0].name; };</script>",
    )
    seen = await web_environment.step(Visit(site.url("/")))
    refused = await web_environment.step(Upload(reference(seen, "Choose"), "/etc/hostname"))
    assert "not one of the files that may be uploaded" in refused.text
    after = await web_environment.step(Upload(reference(refused, "Choose"), FILE.name))
    assert f"got {FILE.name}" in after.text


@pytest.mark.parametrize("kind", ["div", "li", "span"])
@pytest.mark.parametrize("sign", ["listener", "pointer", "property"], ids=["listener", "pointer", "property"])
async def test_case_27_what_only_scripts_make_clickable_is_a_control(
    web_environment: WebEnvironment, site: Site, kind: str, sign: str
) -> None:
    style = "cursor:pointer" if sign == "pointer" else ""
    listen = {
        "listener": "it.addEventListener('click', told)",
        "pointer": "document.addEventListener('click', (event) => event.target === it && told())",
        "property": "it.onclick = told",
    }[sign]
    site.put(
        "/",
        f"""<p id=p>nothing yet</p><ul><{kind} id=it style="{style}">Do it</{kind}><li>other</ul>
        <script>const told = () => {{ p.textContent = "handler ran"; }}; {listen}</script>""",
    )
    seen = await web_environment.step(Visit(site.url("/")))
    assert [control.name for control in seen.document.controls] == ["Do it"]
    assert "handler ran" in (await web_environment.step(Click("c1"))).text


_LIST = """<p id=told>nothing yet</p><div id=list></div><button onclick="add()">Add</button><script>
const make = (name) => { const it = document.createElement("button"); it.textContent = name;
  it.onclick = () => { told.textContent = name + " clicked"; }; return it; };
list.append(make("one"), make("two"), make("three"));
const add = () => list.prepend(make("zero"));
</script>"""


async def test_case_34_a_number_goes_on_to_mean_the_same_element(web_environment: WebEnvironment, site: Site) -> None:
    site.put("/", _LIST)
    seen = await web_environment.step(Visit(site.url("/")))
    one = reference(seen, "one")
    after = await web_environment.step(Click(reference(seen, "Add")))
    assert reference(after, "zero") == "c5"
    assert reference(after, "one") == one
    assert "one clicked" in (await web_environment.step(Click(one))).text


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ("list.children[1].remove()", "it is no longer on the page"),
        ("list.children[1].textContent = 'delete all'", 'it now says "delete all"'),
        ("list.innerHTML = '<button>one</button><button>two</button>'", "it is no longer on the page"),
    ],
    ids=["removed", "reused", "rendered-anew"],
)
async def test_case_34_a_reference_that_is_stale_says_what_changed(
    web_environment: WebEnvironment, site: Site, change: str, words: str
) -> None:
    site.put("/", _LIST)
    seen = await web_environment.step(Visit(site.url("/")))
    await (await web_environment.live()).evaluate(change)
    stale = await web_environment.step(Click(reference(seen, "two")))
    assert f'c2 (button "two") is stale: {words}.' in stale.text
    assert "nothing yet" in stale.text
    assert stale.document.controls != seen.document.controls


async def test_case_34_a_reference_does_not_outlive_its_page(web_environment: WebEnvironment, site: Site) -> None:
    site.put("/", "<a href=/next>Next</a><button>A</button><button>B</button>")
    site.put("/next", f"<p id=told>nothing yet</p><button>C</button><button {_CLICK_TELLS}>D</button>")
    await web_environment.step(Visit(site.url("/")))
    arrived = await web_environment.step(Click("1"))
    assert [event.kind for event in arrived.events] == ["navigation"]
    stale = await web_environment.step(Click("c2"))
    assert "c2 is stale" in stale.text
    assert "nothing yet" in stale.text
    assert "handler ran" in (await web_environment.step(Click(reference(stale, "D")))).text


async def test_case_43_states_are_shown_and_follow_what_is_done(web_environment: WebEnvironment, site: Site) -> None:
    site.put(
        "/",
        """<label><input type=checkbox> Plain</label> <label><input type=checkbox checked hidden> Styled</label>
        <div role=switch aria-checked=false tabindex=0
          onclick="this.ariaChecked = this.ariaChecked === 'true' ? 'false' : 'true'">Switch</div>
        <button disabled>Off</button>
        <button aria-expanded=false onclick="this.ariaExpanded = 'true'">Menu</button>
        <div role=tab aria-selected=true>Tab</div>""",
    )
    seen = await web_environment.step(Visit(site.url("/")))
    names = {control.name: control.state for control in seen.document.controls}
    assert names == {
        "Plain": "",
        "Styled": "checked",
        "Switch": "",
        "Off": "disabled",
        "Menu": "collapsed",
        "Tab": "selected",
    }
    assert state(await web_environment.step(Check(reference(seen, "Plain"))), "Plain") == "checked"
    assert state(await web_environment.step(Check(reference(seen, "Styled"), on=False)), "Styled") == ""
    assert state(await web_environment.step(Check(reference(seen, "Switch"))), "Switch") == "checked"
    assert state(await web_environment.step(Click(reference(seen, "Menu"))), "Menu") == "expanded"
    off = await web_environment.step(Click(reference(seen, "Off")))
    assert 'c4 (button "Off") is disabled, so it was left alone.' in off.text
    assert "is nothing to check" in (await web_environment.step(Check(reference(seen, "Menu")))).text


async def test_case_42_a_secret_is_typed_and_never_seen(web_environment: WebEnvironment, site: Site) -> None:
    given: list[str] = []

    async def login(request: web.Request) -> web.Response:
        form = await request.post()
        given.append(str(form["p"]))
        raise web.HTTPFound(f"/home?{urlencode({'p': str(form['p'])})}")

    async def home(request: web.Request) -> web.Response:
        word = escape(request.query["p"])
        text = f"<title>{word}</title><p>Your password is {word}.</p><input aria-label={word!r} value={word!r}>"
        return web.Response(text=f"{text}<script>console.error({word!r})</script>", content_type="text/html")

    site.put_answer("/login", login)
    site.put_answer("/home", home)
    site.put("/", "<form method=post action=/login><input name=p aria-label=Word></form>")
    await web_environment.step(Visit(site.url("/")))
    action = Type("c1", "{{PASSWORD}}", submit=True)
    after = await web_environment.step(action)
    assert given == [SECRET.value]
    assert "Your password is {{PASSWORD}}." in after.text
    seen = f"{action} {after} {await web_environment.step(Find('password'))} {SECRET}"
    for written in (SECRET.value, quote(SECRET.value), quote_plus(SECRET.value)):
        assert written not in seen


async def test_case_42_a_secret_goes_to_its_own_host_only(web_environment: WebEnvironment, site: Site) -> None:
    site.put("/inner", "<input aria-label=Inner>")
    site.put("/", f"<iframe src={site.other_url('/inner')}></iframe>")
    framed = await web_environment.step(Visit(site.url("/")))
    refused = await web_environment.step(Type(reference(framed, "Inner"), "{{PASSWORD}}"))
    assert "The secret PASSWORD is for 127.0.0.1 only, not for localhost." in refused.text
    await web_environment.step(Visit(site.other_url("/inner")))
    assert "not for localhost" in (await web_environment.step(Type("c1", "x{{PASSWORD}}"))).text
