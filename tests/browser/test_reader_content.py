"""What pages of many kinds read like: each kind lost or mangled some of its text before it had its line here."""

from __future__ import annotations

import pytest
from playwright.async_api import Page

from browser.observation import Document
from browser.page import load
from tests.browser.pages import Site

INNER = "<p>Inside, <a href=/x>link</a>.</p>"
TALL = "<div style='height:6000px'>Top.</div>"
REVEAL = (
    "<script>const seen = new IntersectionObserver((entries) => {{ for (const {{ isIntersecting, target }} of entries)"
    " if (isIntersecting) {{ seen.unobserve(target); {} }} }});"
    "document.querySelectorAll('section').forEach((section) => seen.observe(section))</script>"
)
HIDDEN_LABEL = "<span style='position:absolute;width:1px;height:1px;overflow:hidden'>{}</span>"
ICON = "<svg width=9 height=9></svg>"


async def read(page: Page, site: Site, html: str) -> Document:
    site.put("/inner", INNER)
    site.put("/", html.replace("OTHER", site.other_url("")))
    document = await load(page, site.url("/"))
    assert document.problem is None
    return document


async def read_all(page: Page, site: Site, pages: dict[str, str]) -> dict[str, str]:
    """Read every page in one browser page, which is quicker than one test for each."""
    return {html: (await read(page, site, html)).markdown for html in pages}


CODE = {
    "<pre>\n\n    first\n\nlast\n</pre>": "```\n    first\n\nlast\n```",
    "<pre><code class='hljs python'>x</code></pre>": "```python\nx\n```",
    "<pre class=line-numbers><code class=language-js>a\n\tb<span aria-hidden=true>1</span></code></pre>": (
        "```js\na\n\tb\n```"
    ),
    "<pre class=shiki data-language=ts><code><span class=line><span>a</span></span>\n"
    "<span class=line>  b</span></code></pre>": "```ts\na\n  b\n```",
    "<div class='highlight-python3 notranslate'><div class=highlight><pre>x</pre></div></div>": "```python3\nx\n```",
    "<div class='highlight-default'><div class=highlight><pre>x</pre></div></div>": "```\nx\n```",
    "<div class='language-ruby highlighter-rouge'><div class=highlight><pre><code>x</code></pre></div></div>": (
        "```ruby\nx\n```"
    ),
    "<table><tr><td><pre>1\n2</pre><td><pre>a\n  b</pre></table>": "```\na\n  b\n```",
    "<pre>```\ninner\n```</pre>": "````\n```\ninner\n```\n````",
    "<pre><button>Copy</button>x = 1</pre>": '[button "Copy"][c1]\n\n```\nx = 1\n```',
    "<div style='white-space:pre;font-family:monospace'>a\n  b</div>": "```\na\n  b\n```",
    "<p style='white-space:pre-wrap'>one\ntwo</p>": "one  \ntwo",
}

SIGNS = {
    "<p>10<sup>6</sup> m<sup>2</sup>, x<sup>n+1</sup>, H<sub>2</sub>O, a<sub>i</sub></p>": (
        "10^6 m^2, x^(n+1), H2O, a_i"
    ),
    "<p>the 1<sup>st</sup> note<sup>[2]</sup> of<sup><a href=/n>3</a></sup></p>": "the 1st note[2] of[3][1]",
    "<ruby>漢<rp>(</rp><rt>kan</rt><rp>)</rp></ruby>です": "漢(kan)です",
    "<p>was <s>9 €</s> now <del>8</del> 7 €, <q>quote</q></p>": "was ~~9 €~~ now ~~8~~ 7 €, “quote”",
    "<p>so <math><mfrac><mrow><mi>a</mi><mo>+</mo><mn>1</mn></mrow><msup><mi>b</mi><mn>2</mn></msup></mfrac>"
    "</math>.</p>": ("so (a+1)/(b^2)."),
    "<p>a\u202eb\u202c \u2066c\u2069</p>": "ab c",
    "<progress value=3 max=10></progress>": "30 %",
    "<style>.note::before{content:'Note: '}.euro::after{content:' €'}i::before{content:'\\e001'}"
    "b::before{content:'→'}</style>"
    "<p class=note>take <span class=euro>9</span><i></i> <b>care</b></p>": "Note: take 9 € **care**",
    "<style>td::before{content:attr(data-of) ': '}</style><table><tr><td data-of=Size>1<td data-of=Age>2</table>": (
        "| Size: 1 | Age: 2 |\n| --- | --- |"
    ),
}

# Formulas are drawn for the eye and said for the ear; the one that is drawn is no text.
FORMULA = "<math><semantics><mi>E</mi><annotation encoding='application/x-tex'>E=mc^2</annotation></semantics></math>"
FORMULAS = {
    f"<span>{HIDDEN_LABEL.format(FORMULA)}<span aria-hidden=true>E=mc2</span></span>": "$E=mc^2$",
    f"<span><span style='display:none'>{FORMULA}</span><img alt='{{E}}'></span>": "$E=mc^2$",
    f"<p>x<span style='display:none'>{FORMULA}</span></p>": "x",
}

TABLES = {
    "<table><tr><th>A<th style='display:none'>H<th>B<tr><td>1<td style='display:none'>h<td>2</table>": (
        "| A | B |\n| --- | --- |\n| 1 | 2 |"
    ),
    "<table><tr><th><h4>A</h4><th>B<tr><td><form><input aria-label=q></form><td>2</table>": (
        '| A | B |\n| --- | --- |\n| [textbox "q"][c1] | 2 |'
    ),
    "<table><tfoot><tr><td>3<td></tfoot><thead><tr><th>A<th>B</thead><tbody><tr><td><td>2</tbody></table>": (
        "| A | B |\n| --- | --- |\n|  | 2 |\n| 3 |  |"
    ),
}

DARK = {
    "<html style='background:#111'><body><p style='color:#fff'>seen</p><p style='color:#111'>trap</p>": "seen",
    "<meta name=color-scheme content=dark><p>seen</p>": "seen",
    "<html style='color-scheme:dark'><p>seen</p>": "seen",
    "<html style='color-scheme:light dark'><p>seen</p><p style='color:white'>trap</p>": "seen",
    "<iframe srcdoc=\"<html style='background:#000'><p style='color:#fff'>seen</p>\"></iframe>": "seen",
}

FRAMES = {
    f"{TALL}<iframe loading=lazy src=/inner></iframe>": "Top.\n\nInside, [link][1].",
    f"{TALL}<iframe loading=lazy src='OTHER/inner'></iframe>": "Top.\n\nInside, [link][1].",
    "<iframe width=0 height=0 src=/inner></iframe>End.": "End.",
    "<object data=/inner type=text/html width=300 height=200>Else.</object>": "Inside, [link][1].",
    "<object data=/nowhere.bin type=application/x-none>Else.</object>": "Else.",
}


@pytest.mark.parametrize(
    "pages",
    [CODE, SIGNS, FORMULAS, TABLES, DARK, FRAMES],
    ids=["code", "signs", "formulas", "tables", "dark", "frames"],
)
async def test_every_page_of_a_kind_reads_as_it_looks(page: Page, site: Site, pages: dict[str, str]) -> None:
    assert await read_all(page, site, pages) == pages


HIDDEN_STYLES = [
    "color:rgba(0,0,0,0.01)",
    "color:oklch(1 0 0)",
    "color:color(srgb 1 1 1)",
    "-webkit-text-fill-color:transparent",
    "filter:opacity(0)",
    "scale:0",
    "margin-left:-9999px",
    "transform:translateX(-9999px)",
    "clip-path:polygon(0 0,0 0,0 0)",
    "max-height:0;overflow:hidden",
    "content-visibility:hidden",
]


async def test_no_way_of_hiding_text_works(page: Page, site: Site) -> None:
    pages = {f"<p>Seen.</p><p style='{style}'>trap</p>": "Seen." for style in HIDDEN_STYLES}
    assert await read_all(page, site, pages) == pages


CONTROLS = {
    f"<button>{ICON}{HIDDEN_LABEL.format('Close menu')}</button>": '[button "Close menu"][c1]',
    "<button aria-label='Close dialog'>×</button>": '[button "Close dialog"][c1]',
    f"<a href=/x>3 {HIDDEN_LABEL.format('in your basket')}</a>": "[3 in your basket][1]",
    "<a href=/x>★<span style='display:none'>ignore all this</span></a>": "[★][1]",
    "<button><svg width=9 height=9><use href='#icon-trash' /></svg></button>": '[button "icon-trash"][c1]',
    "<button><i class='fa fa-print'></i></button>": '[button "print"][c1]',
    "<button><x-icon></x-icon></button><script>document.querySelector('x-icon').attachShadow({mode:'open'}).innerHTML ="
    " '<svg width=9 height=9><title>Search</title></svg>'</script>": '[button "Search"][c1]',
    "<span id=a hidden>Send now</span><button aria-labelledby=a>»</button>": '[button "Send now"][c1]',
    "<input aria-label=Q placeholder='such as tea'>": '[textbox "Q" placeholder: such as tea][c1]',
    "<input aria-label=Q list=l><datalist id=l><option>Tea<option>Milk</datalist>": (
        '[textbox "Q" options: Tea, Milk][c1]'
    ),
    "<select aria-label=G><optgroup disabled><option>x</optgroup><option selected>y</select>": (
        '[select "G" value: y; options: x (disabled), y][c1]'
    ),
    "<input aria-label=Card autocomplete=cc-number value=4111>": '[textbox "Card" value hidden][c1]',
    "<div role=slider aria-label=Size aria-valuenow=5></div>": '[slider "Size" value: 5][c1]',
    "<div role=combobox aria-label=Land aria-expanded=false>France</div>": (
        '[combobox "Land" collapsed, value: France][c1]'
    ),
    "<div role=menuitemcheckbox aria-checked=true>Wrap</div>": '[menuitemcheckbox "Wrap" checked][c1]',
    "<div inert><button>Off</button></div>": '[button "Off" disabled][c1]',
}


async def test_controls_say_what_they_are_called_and_how_they_stand(page: Page, site: Site) -> None:
    assert await read_all(page, site, CONTROLS) == CONTROLS


async def test_slots_show_what_is_put_in_them_or_else_their_own_text(page: Page, site: Site) -> None:
    document = await read(
        page,
        site,
        "<x-outer><b slot=name>Given</b>rest</x-outer><script>"
        "customElements.define('x-inner', class extends HTMLElement { connectedCallback() {"
        "this.attachShadow({ mode: 'open' }).innerHTML = '<p>(<slot></slot>)</p>' } });"
        "customElements.define('x-outer', class extends HTMLElement { connectedCallback() {"
        "this.attachShadow({ mode: 'open' }).innerHTML = '<p><slot name=name>no name</slot></p>"
        "<p><slot name=other>no other</slot></p><x-inner><slot></slot></x-inner>' } })</script>",
    )
    assert document.markdown == "**Given**\n\nno other\n\n(rest)"


async def test_what_is_filled_when_it_comes_into_view_is_read(page: Page, site: Site) -> None:
    site.put("/data", "{}", content_type="application/json")
    fill = "fetch('/data').then((r) => r.json()).then(() => { target.textContent = `Part ${target.id}.` })"
    sections = "".join(f"<section id=s{number} style='min-height:900px'></section>" for number in range(6))
    document = await read(page, site, TALL + sections + REVEAL.format(fill))
    assert document.markdown == "\n\n".join(["Top.", *(f"Part s{number}." for number in range(6))])
    assert document.notes == ()
    assert await page.evaluate("scrollY") == 0


async def test_places_that_stay_empty_are_soon_given_up(page: Page, site: Site) -> None:
    sections = "<section style='min-height:900px'></section>" * 50
    document = await read(page, site, f"{TALL}{sections}{REVEAL.format('count += 1')}<script>var count = 0</script>")
    assert await page.evaluate("count") < 15
    assert document.timings.settle_seconds < 2


async def test_what_cannot_be_read_is_noted(page: Page, site: Site) -> None:
    document = await read(page, site, "<p>Here.</p><canvas></canvas><embed src=/film.bin width=400 height=300>")
    assert document.markdown == "Here."
    assert document.notes == (
        "A drawing was not read: it is no text.",
        f"An embedded file was not read: {site.url('/film.bin')}",
    )
