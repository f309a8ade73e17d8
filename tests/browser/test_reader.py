"""What is read of a page: what a person can see, and nothing else."""

from __future__ import annotations

import pytest
from playwright.async_api import Page

from browser.observation import Document
from browser.page import LoadOptions, load
from tests.browser.pages import Site


async def read(page: Page, site: Site, html: str, *, path: str = "/", options: LoadOptions | None = None) -> Document:
    site.put(path, html)
    document = await load(page, site.url(path), options=options or LoadOptions())
    assert document.problem is None
    return document


# ---- text and structure ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("html", "markdown"),
    [
        ("<h1>A</h1><div>b<div>c</div>d</div>", "# A\n\nb\n\nc\n\nd"),
        ("<p>a <b>b</b><i> c </i>d<code>e_f</code></p>", "a **b** *c* d`e_f`"),
        ("<p>one&nbsp;two\n   three<br>four</p>", "one two three  \nfour"),
        ("<ul><li>a<ul><li>b</li></ul></li><li>c</li></ul>", "- a\n  - b\n- c"),
        ("<ol start=3><li>a</li><li value=7>b</li><li>c</li></ol>", "3. a\n7. b\n8. c"),
        ("<ol reversed start=2><li>a</li><li>b</li></ol>", "2. a\n1. b"),
        ("<blockquote><p>a</p><p>b</p></blockquote>", "> a\n>\n> b"),
        ("<dl><dt>term<dd>meaning</dl>", "term\n:   meaning"),
        ("<div role=heading aria-level=3>A</div>", "### A"),
        ("a<hr>b", "a\n\n---\n\nb"),
        ("<div style='display:flex'><span>a</span><span>b</span></div>", "a\n\nb"),
        (
            "<pre><code class='language-python'>def f():\n    return 1</code></pre>",
            "```python\ndef f():\n    return 1\n```",
        ),
        ("<pre><div>a</div><div>  b</div></pre>", "```\na\n  b\n```"),
        ("<b><div>a</div></b>c", "a\n\nc"),
        ("a\u00adb\u200bc", "abc"),
        ("<svg><title>t</title><text>chart</text></svg>", "chart"),
        ("<p>x < y & z</p>", "x < y & z"),
    ],
)
async def test_structure_becomes_markdown(page: Page, site: Site, html: str, markdown: str) -> None:
    assert (await read(page, site, html)).markdown == markdown


async def test_every_value_of_a_table_stands_under_its_own_column(page: Page, site: Site) -> None:
    document = await read(
        page,
        site,
        "<table><tr><th rowspan=2>Name<th colspan=2>Size</tr><tr><th>Old<th>New</tr>"
        "<tr><td rowspan=2>A<td>1<td>2</tr><tr><td>3<td>4|5</tr><tr><td colspan=3>A note</table>",
    )
    assert document.markdown.split("\n") == [
        "| Name | Size | Size |",
        "| --- | --- | --- |",
        "| Name | Old | New |",
        "| A | 1 | 2 |",
        "| A | 3 | 4\\|5 |",
        "| A note |  |  |",
    ]


async def test_a_table_that_only_lays_out_the_page_is_no_table(page: Page, site: Site) -> None:
    document = await read(page, site, "<table><tr><td><h2>A</h2>b<td><table><tr><td>c<td>d</table></table>")
    assert document.markdown.startswith("## A\n\nb\n\n| c | d |")


# ---- what a person cannot see ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "hidden",
    [
        "<p style='display:none'>trap <a href=/trap>trap</a></p>",
        "<p style='visibility:hidden'>trap <a href=/trap>trap</a></p>",
        "<p style='opacity:0'>trap <a href=/trap>trap</a></p>",
        "<p aria-hidden=true>trap <a href=/trap>trap</a></p>",
        "<p hidden=until-found>trap <a href=/trap>trap</a></p>",
        "<p style='position:absolute;left:-9999px'>trap <a href=/trap>trap</a></p>",
        "<a href=/trap style='display:inline-block;width:1px;height:1px;overflow:hidden'>trap</a>",
        "<p style='position:absolute;width:1px;height:1px;overflow:hidden'>trap</p>",
        "<div style='height:0;overflow:hidden'>trap <a href=/trap>trap</a></div>",
        "<p style='color:white'>trap</p>",
        "<div style='background:#123456'><p style='color:#123456'>trap</p></div>",
        "<p style='font-size:0'>trap</p>",
        "<p style='color:transparent'>trap</p>",
        "<!-- trap --><img alt=trap><template>trap</template><noscript>trap</noscript><style>trap</style>",
        "<details><summary>Question</summary>trap <a href=/trap>trap</a></details>",
        "<a href=/trap></a><a href=/trap><img width=1 height=1 src=/pixel></a>",
        "<svg><defs><text>trap</text></defs></svg><datalist><option>trap</datalist>",
    ],
)
async def test_what_nobody_sees_is_not_read(page: Page, site: Site, hidden: str) -> None:
    document = await read(page, site, f"<p>Before.</p>{hidden}<p>After.</p>")
    assert "trap" not in document.markdown
    assert document.links == ()
    assert document.markdown.startswith("Before.")
    assert document.markdown.endswith("After.")


@pytest.mark.parametrize(
    "html",
    [
        "<div style='visibility:hidden'><p style='visibility:visible'>seen</p></div>",
        "<div style='position:absolute;top:0;left:0;width:0;height:0'><p>seen</p></div>",
        "<div style='position:relative;background:url(/photo)'><h1 style='color:white'>seen</h1></div>",
        "<div style='background:black'><p style='color:white'>seen</p></div>",
        "<p style='color:transparent;background:linear-gradient(red,blue);background-clip:text'>seen</p>",
        "<p style='opacity:0;transition:opacity 1s'>seen</p>",
        "<div aria-hidden=true>seen</div><div role=dialog aria-modal=true>Cookies?</div>",
        "<details open><summary>Question</summary>seen</details>",
        "<div style='display:contents'>seen</div>",
    ],
)
async def test_what_a_person_sees_is_read(page: Page, site: Site, html: str) -> None:
    assert "seen" in (await read(page, site, html)).markdown


# ---- links -----------------------------------------------------------------------------------------------------------


async def test_links_are_numbered_in_the_order_of_the_page(page: Page, site: Site) -> None:
    document = await read(
        page,
        site,
        "<h2>Guides</h2>"
        "<p>See <a href='a'>the first</a>. Or <a href='/b?x=1#y' rel='nofollow' hreflang=zh>the second</a>.</p>"
        "<ul><li><a href=c.zip download>the third</a> is a file</ul>",
        path="/docs/",
    )
    assert document.markdown == "## Guides\n\nSee [the first][1]. Or [the second][2].\n\n- [the third][3] is a file"
    assert [(link.number, link.text, link.url) for link in document.links] == [
        (1, "the first", site.url("/docs/a")),
        (2, "the second", site.url("/b?x=1#y")),
        (3, "the third", site.url("/docs/c.zip")),
    ]
    first, second, third = document.links
    assert first.context == "Guides › See the first. Or the second."
    assert (second.rel, second.language, third.download) == ("nofollow", "zh", True)
    assert third.context == "Guides › the third is a file"


async def test_ten_equal_texts_are_ten_links_told_apart_by_their_context(page: Page, site: Site) -> None:
    items = "".join(f"<div><h3>Story {n}</h3><p>About {n}. <a href='/{n}'>Read more</a></p></div>" for n in range(10))
    document = await read(page, site, items)
    assert [link.text for link in document.links] == ["Read more"] * 10
    assert len({link.url for link in document.links}) == 10
    assert [link.context for link in document.links] == [f"Story {n} › About {n}. Read more" for n in range(10)]


async def test_a_term_labels_the_links_that_describe_it(page: Page, site: Site) -> None:
    inner = "<dl><dt>Press<dd><a href=/press>Quay</a></dl>"
    html = f"<h2>Tides</h2><dl><dt><a href=/term>Author</a><dd><a href=/ann>Ann</a>{inner}<a href=/bea>Bea</a></dl>"
    document = await read(page, site, f"{html}<p><a href=/end>End</a>")
    assert [link.context for link in document.links] == [
        "Tides › Author",
        "Tides › Author: Ann",
        "Tides › Press: Quay",
        "Tides › Author: Bea",
        "Tides › End",
    ]


async def test_a_term_outside_a_list_labels_nothing(page: Page, site: Site) -> None:
    document = await read(page, site, "<dt>Author<p>Ann <a href=/end>End</a>")
    assert [link.context for link in document.links] == ["Ann End"]


async def test_a_long_paragraph_is_shortened_around_its_link(page: Page, site: Site) -> None:
    document = await read(page, site, f"<p>{'before ' * 100}<a href=/a>here</a>{' after' * 100}</p>")
    (link,) = document.links
    assert "here" in link.context
    assert len(link.context) <= 200


@pytest.mark.parametrize(
    ("html", "name"),
    [
        ("<a href=/x aria-label=Label style='display:block;height:9px'></a>", "Label"),
        ("<a href=/x><img alt=Picture></a>", "Picture"),
        ("<a href=/x><svg width=9 height=9><title>Icon</title></svg></a>", "Icon"),
        ("<a href=/x title=Title><svg width=9 height=9></svg></a>", "Title"),
        ("<a href=/some/page%20one/><svg width=9 height=9></svg></a>", "page one"),
        ("<a href=/x>Text<span style='display:none'>trap</span></a>", "Text"),
        ("<a href=/x><h3>Head</h3><p>body</p></a>", "Head body"),
        ("<a href=/x>a [b] c</a>", "a [b] c"),
        ("<map name=m><area href=/x alt=Area></map>", None),
    ],
)
async def test_a_link_is_named_by_what_it_shows_or_says(page: Page, site: Site, html: str, name: str | None) -> None:
    document = await read(page, site, html)
    assert [link.text for link in document.links] == ([] if name is None else [name])


async def test_a_card_is_a_link_and_keeps_its_text(page: Page, site: Site) -> None:
    document = await read(page, site, f"<a href=/x><h3>Title</h3><p>{'word ' * 100}</p><ul><li>point</ul></a>")
    assert document.markdown.startswith("[Title][1]\n\n### Title\n\nword word")
    assert document.markdown.endswith("- point")


async def test_only_other_pages_are_links(page: Page, site: Site) -> None:
    document = await read(
        page,
        site,
        "<a href='#part'>part</a> <a href='/?a#part'>part too</a> <a href='mailto:a@b.c'>mail</a> "
        "<a href='tel:1'>call</a> <a href='javascript:go()'>script</a> "
        "<a href='#/one'>one</a> <a href='#!/two'>two</a> <a href='/?a'>other</a> <a>none</a>",
        path="/",
    )
    assert [link.text for link in document.links] == ["part too", "one", "two", "other"]
    assert [control.name for control in document.controls] == ["script"]
    assert "[one][2]" in document.markdown
    assert "mail call" in document.markdown


async def test_addresses_are_resolved_against_the_base_of_the_document(page: Page, site: Site) -> None:
    page_below = "<a href='../x'>up</a>"
    site.put("/core/quickstart/", page_below)
    site.put("/middle", "", status=302, headers={"Location": "/core/quickstart/"})
    site.put("/start", "", status=302, headers={"Location": "/middle"})
    document = await load(page, site.url("/start"))
    assert (document.requested_url, document.url) == (site.url("/start"), site.url("/core/quickstart/"))
    assert [link.url for link in document.links] == [site.url("/core/x")]
    document = await read(page, site, "<base href='/core/quickstart/'><a href='../x'>up</a>", path="/deep/er/page")
    assert [link.url for link in document.links] == [site.url("/core/x")]


async def test_text_that_imitates_a_link_is_none(page: Page, site: Site) -> None:
    document = await read(
        page, site, "<p>[fake][1] [more]<span>[1]</span> [x]<a href=/a>1</a> <code>a[i][1]</code></p>"
    )
    assert document.markdown == "[fake] [1] [more] [1] [x] [1][1] `a[i] [1]`"


# ---- controls --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("html", "marker"),
    [
        ("<button>Save <b>all</b></button>", '[button "Save all"][c1]'),
        ("<button aria-label=Close><svg width=9 height=9></svg></button>", '[button "Close"][c1]'),
        ("<button aria-expanded=false disabled>Menu</button>", '[button "Menu" disabled, collapsed][c1]'),
        ("<input placeholder=Search type=search>", '[searchbox "Search"][c1]'),
        ("<input aria-label=Mail value=a@b.c required>", '[textbox "Mail" required, value: a@b.c][c1]'),
        ("<input aria-label=Key type=password value=secret>", '[textbox "Key" value hidden][c1]'),
        ("<input type=checkbox checked aria-label=Agree>", '[checkbox "Agree" checked][c1]'),
        ("<input type=submit value=Go>", '[button "Go"][c1]'),
        ("<input type=file aria-label=Upload>", '[file "Upload"][c1]'),
        (
            "<select aria-label=Land><option disabled>Choose<option selected>France<option>Spain</select>",
            '[select "Land" value: France; options: Choose (disabled), France, Spain][c1]',
        ),
        ("<textarea aria-label=Text>a\nb</textarea>", '[textbox "Text" value: a b][c1]'),
        ("<div role=tab aria-selected=true>One</div>", '[tab "One" selected][c1]'),
        ("<div onclick='go()'>Go</div>", '[button "Go"][c1]'),
        ("<details><summary>More</summary>x</details>", '[disclosure "More" collapsed][c1]'),
    ],
)
async def test_controls_are_numbered_and_say_their_state(page: Page, site: Site, html: str, marker: str) -> None:
    document = await read(page, site, html)
    assert document.markdown == marker
    (control,) = document.controls
    assert control.number == 1
    assert control.name in marker


async def test_a_field_is_named_by_its_label(page: Page, site: Site) -> None:
    document = await read(page, site, "<label for=a>Name</label><input id=a><label>Age <input type=number></label>")
    assert [(control.kind, control.name) for control in document.controls] == [
        ("textbox", "Name"),
        ("spinbutton", "Age"),
    ]


# ---- shadow roots and frames -----------------------------------------------------------------------------------------


async def test_shadow_roots_slots_and_frames_are_read_in_place(page: Page, site: Site) -> None:
    site.put("/inner/frame", "<p>In the frame, <a href=next>next</a>.</p><button>Inside</button>")
    document = await read(
        page,
        site,
        "<p>Before.</p><x-card>slotted<b slot=unused>trap</b></x-card>"
        "<iframe src='/inner/frame'></iframe><p>After.</p><script>"
        "const root = document.querySelector('x-card').attachShadow({ mode: 'open' });"
        "root.innerHTML = '<p>Shadow <slot></slot></p><x-in></x-in>';"
        "root.querySelector('x-in').attachShadow({ mode: 'open' }).innerHTML = '<button>Deep</button>'</script>",
    )
    assert document.markdown.split("\n\n") == [
        "Before.",
        "Shadow slotted",
        '[button "Deep"][c1]',
        "In the frame, [next][1].",
        '[button "Inside"][c2]',
        "After.",
    ]
    assert [link.url for link in document.links] == [site.url("/inner/next")]


async def test_a_frame_set_is_read(page: Page, site: Site) -> None:
    site.put("/left", "<a href=/a>Left</a>")
    site.put("/right", "Right")
    document = await read(page, site, "<frameset cols='50%,50%'><frame src=/left><frame src=/right></frameset>")
    assert document.markdown == "[Left][1]\n\nRight"


# ---- hard pages ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("encoding", "text"), [("gbk", "简体中文网页"), ("shift_jis", "日本語のページ")])
async def test_the_encoding_named_in_the_page_is_used(page: Page, site: Site, encoding: str, text: str) -> None:
    site.put("/", f"<meta charset={encoding}><p>{text}</p>".encode(encoding), content_type="text/html")
    assert (await load(page, site.url("/"))).markdown == text


async def test_deep_nesting_is_read(page: Page, site: Site) -> None:
    script = (
        "let e = document.body; for (let i = 0; i < 1500; i++) e = e.appendChild(document.createElement('div'));"
        "e.textContent = 'deep'"
    )
    document = await read(page, site, f"{'<ul><li>' * 60}x{'</ul>' * 60}<script>{script}</script>")
    assert "x" in document.markdown
    assert document.markdown.endswith("deep")


@pytest.mark.parametrize(
    ("limit", "note"),
    [
        (LoadOptions(max_characters=500), "more than 500 characters"),
        (LoadOptions(max_elements=50), "more than 50 elements"),
        (LoadOptions(max_links=20), "first 20 links"),
    ],
)
async def test_what_is_cut_is_said(page: Page, site: Site, limit: LoadOptions, note: str) -> None:
    document = await read(
        page, site, "".join(f"<p>Line {n}, <a href=/{n}>link</a></p>" for n in range(500)), options=limit
    )
    assert document.markdown.startswith("Line 0, [link][1]")
    assert any(note in text for text in document.notes)


async def test_lone_surrogates_do_not_get_out(page: Page, site: Site) -> None:
    document = await read(
        page, site, "<main></main><script>document.querySelector('main').textContent = 'a\\uD800b'</script>"
    )
    assert document.markdown.encode() == "a\ufffdb".encode()
