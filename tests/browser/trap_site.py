"""A site full of what must not happen to a page that is only looked at ahead of time.

Three kinds of traps stand on its first page: links that must never be asked for, links that nobody can see, and links
to pages that do something as soon as they are loaded.
"""

from __future__ import annotations

from dataclasses import dataclass

from aiohttp import web

from tests.website import Answer, Website

NEVER = "/never"
"""Below it is what only an effect asks for."""

_ROBOTS = "User-agent: *\nDisallow: /private/"


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkTrap:
    """A link that must never be asked for ahead of time.

    Attributes:
        name: What it tries.
        target: Its address.
        reason: Why it is refused.
        text: What is read on it, where that is part of the trap.
        attributes: Its other attributes.
    """

    name: str
    target: str
    reason: str = ""
    text: str = "Further on"
    attributes: str = ""

    @property
    def html(self) -> str:
        """The link as it stands on the page."""
        return f'<p><a href="{self.target}" {self.attributes}>{self.text}</a></p>'


@dataclass(frozen=True, slots=True, kw_only=True)
class PageTrap:
    """A page that does something when it is loaded.

    Attributes:
        name: What it tries.
        answer: What the server answers.
        reason: Why the page is not kept; None where what it tries comes to nothing, so that it may be.
    """

    name: str
    answer: str | Answer
    reason: str | None

    @property
    def path(self) -> str:
        """Its address, with nothing in it that the gate would refuse."""
        return f"/page/{self.name}.html"


LINKS = (
    LinkTrap(name="logout", target="/logout", reason="effect-path"),
    LinkTrap(name="logout-route", target="#/logout", reason="effect-path"),
    LinkTrap(name="delete", target="/items/delete/7", reason="effect-path"),
    LinkTrap(name="delete-by-text", target="/items/7", text="Delete", reason="effect-text"),
    LinkTrap(name="delete-by-chinese-text", target="/items/8", text="删除", reason="effect-text"),
    LinkTrap(name="delete-by-query", target="/items?action=delete", reason="effect-query"),
    LinkTrap(name="add-to-cart", target="/shop?add-to-cart=3", reason="effect-query"),
    LinkTrap(name="cart", target="/cart", reason="effect-path"),
    LinkTrap(name="unsubscribe", target="/newsletter/unsubscribe/42", reason="effect-path"),
    LinkTrap(name="language-by-query", target="/?lang=de", reason="language-switch"),
    LinkTrap(name="language-by-text", target="/de", text="Deutsch", reason="language-switch"),
    LinkTrap(name="language-by-attribute", target="/fr", attributes="hreflang=fr", reason="language-switch"),
    LinkTrap(name="one-time-token", target="/welcome?token=8f1c", reason="token"),
    LinkTrap(name="signature", target="/welcome?X-Amz-Signature=8f1c", reason="token"),
    LinkTrap(name="download-by-attribute", target="/report", attributes="download", reason="download"),
    LinkTrap(name="download-by-extension", target="/files/report.zip", reason="download"),
    LinkTrap(name="download-of-pdf", target="/files/paper.pdf", reason="download"),
    LinkTrap(name="nofollow", target="/calendar/2031", attributes="rel=nofollow", reason="nofollow"),
    LinkTrap(name="out-of-the-domain", target="http://elsewhere.example/", reason="off-site"),
    LinkTrap(name="private-server", target="{elsewhere}/", reason="private-address"),
    LinkTrap(name="robots", target="/private/page", reason="robots"),
)

# Addresses of nothing that could be read.
SCHEMES = (
    LinkTrap(name="mailto", target="mailto:a@example.org"),
    LinkTrap(name="tel", target="tel:+123456"),
    LinkTrap(name="javascript", target="javascript:fetch('/never',{method:'POST'})"),
    LinkTrap(name="blob", target="blob:http://127.0.0.1/8f1c"),
)

# Case 30: honeypots.
HIDDEN = (
    LinkTrap(name="display-none", target="/honey/1", attributes="style='display:none'"),
    LinkTrap(name="visibility", target="/honey/2", attributes="style='visibility:hidden'"),
    LinkTrap(name="transparent", target="/honey/3", attributes="style='opacity:0'"),
    LinkTrap(
        name="one-pixel",
        target="/honey/4",
        attributes="style='display:inline-block;width:1px;height:1px;overflow:hidden'",
    ),
    LinkTrap(name="off-screen", target="/honey/5", attributes="style='position:absolute;left:-9999px'"),
    LinkTrap(name="above-the-screen", target="/honey/6", attributes="style='position:absolute;top:-9999px'"),
    LinkTrap(name="white-on-white", target="/honey/7", attributes="style='color:#fff'"),
    LinkTrap(name="no-size", target="/honey/8", attributes="style='font-size:0'"),
    LinkTrap(name="aria-hidden", target="/honey/9", attributes="aria-hidden=true"),
    LinkTrap(name="hidden-attribute", target="/honey/10", attributes="hidden"),
    LinkTrap(name="empty", target="/honey/11", text=""),
)


def script(code: str, body: str = "") -> str:
    """A page with a text and a script."""
    return f"<title>Trap</title><p>text</p>{body}<script>{code}</script>"


def answers(text: str = "<p>text</p>", *, status: int = 200, content_type: str = "text/html", **headers: str) -> Answer:
    """Answer with these headers, whose names are written with underscores."""

    async def answer(_: web.Request) -> web.Response:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return web.Response(text=text, status=status, content_type=content_type, headers=named)

    return answer


async def _break_off(request: web.Request) -> web.Response:
    assert request.transport is not None
    request.transport.close()
    return web.Response()


def _rules(kind: str, path: str) -> str:
    return f'{{"{kind}":[{{"source":"list","urls":["{path}"],"eagerness":"immediate"}}]}}'


_NEW_FRAME = (
    "const frame = document.createElement('iframe'); document.body.append(frame); const inner = frame.contentWindow;"
)
_FORM = "<form id=f method={method} action={action} target={target}><input name=q></form>"
_POST = f"fetch('{NEVER}', {{method: 'POST'}})"
_SOCKET = f"new {{}}('ws://' + location.host + '{NEVER}')"


def _form(*, method: str, action: str = NEVER, target: str = "_self") -> str:
    return script("f.submit()", _FORM.format(method=method, action=action, target=target))


def _click(attributes: str, click: str = "a.click()") -> str:
    return script(click, f"<a id=a {attributes}>go</a>")


SENDING = (
    PageTrap(name="fetch-post", answer=script(_POST), reason="sends-post"),
    PageTrap(
        name="xhr-put",
        answer=script(f"const r = new XMLHttpRequest(); r.open('PUT', '{NEVER}'); r.send()"),
        reason="sends-put",
    ),
    PageTrap(name="fetch-delete", answer=script(f"fetch('{NEVER}', {{method: 'DELETE'}})"), reason="sends-delete"),
    PageTrap(name="beacon", answer=script(f"navigator.sendBeacon('{NEVER}', 'x')"), reason="sends-post"),
    PageTrap(name="fetch-later", answer=script(f"fetchLater('{NEVER}', {{method: 'POST'}})"), reason=None),
    PageTrap(name="ping-of-a-link", answer=_click(f"href='#here' ping={NEVER}"), reason="sends-post"),
    PageTrap(name="form-post", answer=_form(method="post"), reason="sends-post"),
    PageTrap(
        name="form-post-into-a-frame",
        answer="<iframe name=z></iframe>" + _form(method="post", target="z"),
        reason="sends-post",
    ),
    PageTrap(name="form-get", answer=_form(method="get", action="/logout"), reason="effect-path"),
    PageTrap(name="image", answer=script("new Image().src = '/seen.gif'"), reason=None),
    PageTrap(
        name="policy-report",
        answer=answers(script("1"), Content_Security_Policy=f"script-src 'none'; report-uri {NEVER}"),
        reason=None,
    ),
    PageTrap(
        name="parting-words",
        answer=script(
            f"addEventListener('pagehide', () => {{navigator.sendBeacon('{NEVER}'); {_POST[:-2]}, keepalive: true}})}})"
        ),
        reason=None,
    ),
)

TALKING = (
    PageTrap(name="web-socket", answer=script(_SOCKET.format("WebSocket")), reason="opens-socket"),
    PageTrap(name="web-socket-stream", answer=script(_SOCKET.format("WebSocketStream")), reason="opens-socket"),
    PageTrap(
        name="web-socket-of-a-frame",
        answer=script(_NEW_FRAME + _SOCKET.format("inner.WebSocket")),
        reason="opens-socket",
    ),
    PageTrap(name="event-source", answer=script(f"new EventSource('{NEVER}')"), reason="opens-socket"),
    PageTrap(
        name="worker",
        answer=script(f"new Worker(URL.createObjectURL(new Blob([`{_POST}`])))"),
        reason="starts-worker",
    ),
    PageTrap(name="shared-worker", answer=script(f"new SharedWorker('{NEVER}')"), reason="starts-worker"),
    PageTrap(
        name="service-worker",
        answer=script(f"navigator.serviceWorker.register('{NEVER}').catch(() => 0)"),
        reason=None,
    ),
)

OPENING = (
    PageTrap(name="window", answer=script(f"window.open('{NEVER}')"), reason="opens-window"),
    PageTrap(name="window-of-a-frame", answer=script(_NEW_FRAME + f"inner.open('{NEVER}')"), reason="opens-window"),
    PageTrap(name="click-on-a-blank-link", answer=_click(f"target=_blank href={NEVER}"), reason="opens-window"),
    PageTrap(
        name="click-event-on-a-blank-link",
        answer=_click(f"target=_blank href={NEVER}", "a.dispatchEvent(new MouseEvent('click'))"),
        reason="opens-window",
    ),
    PageTrap(name="form-get-into-a-window", answer=_form(method="get", target="_blank"), reason="opens-window"),
    PageTrap(name="form-post-into-a-window", answer=_form(method="post", target="_blank"), reason="opens-window"),
    PageTrap(name="click-on-a-download", answer=_click("download href=/files/report.zip"), reason="download"),
    PageTrap(
        name="blob-for-download",
        answer=_click("download", "a.href = URL.createObjectURL(new Blob(['x'])); a.click()"),
        reason="page-event",
    ),
    PageTrap(name="alert", answer=script("alert('a')"), reason="page-event"),
    PageTrap(name="asks-to-confirm", answer=script("confirm('c')"), reason="page-event"),
    PageTrap(name="prompt", answer=script("prompt('p')"), reason="page-event"),
    PageTrap(name="before-unload", answer=script("onbeforeunload = (event) => event.preventDefault()"), reason=None),
    PageTrap(name="print", answer=script("print()"), reason=None),
    PageTrap(
        name="permissions",
        answer=script("navigator.geolocation.getCurrentPosition(() => 0); Notification.requestPermission()"),
        reason=None,
    ),
)

FRAMES = (
    PageTrap(name="frame", answer="<p>text</p><iframe src=/frame></iframe>", reason="sends-post"),
    PageTrap(
        name="frame-in-a-sandbox",
        answer="<p>text</p><iframe sandbox=allow-scripts src=/frame></iframe>",
        reason="sends-post",
    ),
    PageTrap(
        name="frame-of-its-own-process",
        answer="<p>text</p><iframe src=/isolated-frame></iframe>",
        reason="sends-post",
    ),
    PageTrap(
        name="frame-in-the-page",
        answer=f'<p>text</p><iframe srcdoc="<script>{_POST}</script>"></iframe>',
        reason="sends-post",
    ),
    PageTrap(
        name="frame-of-another-origin", answer="<p>text</p><iframe src={elsewhere}/></iframe>", reason="foreign-frame"
    ),
    PageTrap(name="frame-that-logs-out", answer="<p>text</p><iframe src=/logout></iframe>", reason="effect-path"),
)

LEADING = (
    PageTrap(name="redirect", answer=answers(status=302, Location="/away"), reason="private-address"),
    PageTrap(
        name="refresh",
        answer="<meta http-equiv=refresh content='0;url={elsewhere}/'><p>text</p>",
        reason="private-address",
    ),
    PageTrap(name="location", answer=script("location.href = '{elsewhere}/'"), reason="private-address"),
    PageTrap(name="redirect-to-an-effect", answer=answers(status=302, Location="/logout"), reason="effect-path"),
    PageTrap(name="location-of-an-effect", answer=script("location.replace('/logout')"), reason="effect-path"),
    PageTrap(name="file", answer=script("location.href = 'file:///etc/hostname'"), reason=None),
    PageTrap(name="chrome", answer=script("location.href = 'chrome://version'"), reason=None),
    PageTrap(
        name="prerender-rules",
        answer=f"<p>text</p><script type=speculationrules>{_rules('prerender', NEVER)}</script>",
        reason=None,
    ),
    PageTrap(
        name="prefetch-rules",
        answer=f"<p>text</p><script type=speculationrules>{_rules('prefetch', '/logout')}</script>",
        reason=None,
    ),
    PageTrap(
        name="prefetch-rules-added-later",
        answer=script(
            "const rules = document.createElement('script'); rules.type = 'speculationrules';"
            f"rules.textContent = '{_rules('prefetch', NEVER)}'; document.body.append(rules)"
        ),
        reason=None,
    ),
    PageTrap(name="prefetch-rules-in-a-header", answer=answers(Speculation_Rules='"/rules.json"'), reason=None),
    PageTrap(name="prefetch-link", answer=f"<link rel=prefetch href={NEVER}><p>text</p>", reason=None),
)

UNFIT = (
    PageTrap(name="cookie", answer=answers(Set_Cookie="a=1; Path=/"), reason="sets-cookie"),
    PageTrap(name="cookie-by-script", answer=script("document.cookie = 'b=2; path=/'"), reason="sets-cookie"),
    PageTrap(name="cookie-by-request", answer=script("fetch('/sets-cookie')"), reason="sets-cookie"),
    PageTrap(name="server-error", answer=answers("<p>broken</p>", status=500), reason="status-500"),
    PageTrap(name="gone", answer=answers("<p>gone</p>", status=410), reason="status-410"),
    PageTrap(name="broken-off", answer=_break_off, reason="failed"),
    PageTrap(
        name="challenge",
        answer="<title>Just a moment...</title><p>Verify you are human.</p>",
        reason="interstitial",
    ),
    PageTrap(name="vary-star", answer=answers(Vary="*"), reason="varies"),
    PageTrap(name="vary-purpose", answer=answers(Vary="Accept-Encoding, Sec-Purpose"), reason="varies"),
    PageTrap(name="attachment", answer=answers(Content_Disposition="attachment; filename=a.html"), reason="failed"),
    PageTrap(name="pdf", answer=answers("%PDF-1.4", content_type="application/pdf"), reason="failed"),
)

PAGES = (*SENDING, *TALKING, *OPENING, *FRAMES, *LEADING, *UNFIT)
PLAIN = ("/plain/1", "/plain/2", "/plain/3")


def trap_site(elsewhere: str) -> Website:
    """Make the site.

    Args:
        elsewhere: The origin of another site, on this machine.
    """
    # They outlive the run, however long it takes.
    pages: dict[str, str | Answer] = {path: answers(f"<p>{path}</p>", Cache_Control="max-age=300") for path in PLAIN}
    pages |= {trap.path: trap.answer for trap in PAGES}
    pages |= {
        "/": _first_page(),
        "/robots.txt": answers(_ROBOTS, content_type="text/plain"),
        "/away": answers(status=302, Location=f"{elsewhere}/"),
        "/frame": script(_POST),
        "/isolated-frame": answers(script(_POST), Origin_Agent_Cluster="?1"),
        "/sets-cookie": answers("", Set_Cookie="c=3; Path=/"),
        "/rules.json": answers(_rules("prefetch", NEVER), content_type="application/speculationrules+json"),
    }
    return Website(
        {
            path: page.replace("{elsewhere}", elsewhere) if isinstance(page, str) else page
            for path, page in pages.items()
        }
    )


def _first_page() -> str:
    plain = [f"<p><a href={path}>A page</a></p>" for path in PLAIN]
    pages = [f"<p><a href={trap.path}>A page</a></p>" for trap in PAGES]
    return "<title>First</title><body style='background:#fff'>" + "".join(
        [*plain, *(trap.html for trap in (*LINKS, *SCHEMES, *HIDDEN)), *pages]
    )
