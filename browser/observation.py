"""What an agent sees of a page.

Invariant: these are plain, immutable values. A `Document` is a page as it was read once; an `Observation` is the
window on it that one action opened. Neither holds anything of the browser, so both may be cached and shared.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal


class Readiness(StrEnum):
    """Which condition ended the wait for a page."""

    STATIC = "static"
    """Parsed, and nothing on it can still change the text."""
    SETTLED = "settled"
    """No request, script or short timer pending; the DOM quiet, where something is in use that cannot be watched."""
    CAP = "cap"
    """The time cap came first; the text is what was there by then."""
    NONE = "none"
    """There was no page to wait for: a file came, or the load failed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """One address that visible links of a page lead to; those that do the same are one.

    Attributes:
        number: Its number in the document's markdown, from 1. On the live page it means the first of its links.
        text: Its accessible name: text, else `aria-label`, image `alt`, `title`, else a stand-in from the URL. Of
            several links, the longest name that can be seen.
        url: Where it leads, absolute, resolved by the browser against the document's base.
        context: Text around it (heading above, sentence or list item it stands in), to tell equal texts apart.
        rel: The `rel` attributes, lower case, empty where absent.
        download: Whether it carries a `download` attribute.
        language: The `hreflang` attribute, empty where absent.
        other_texts: Its further names, labels and titles, those of hidden links to the same address included: they may
            tell of an effect that the text does not show.
        found: Whether a search that the user asked for led to it, so that it may lead to another site.
    """

    number: int
    text: str
    url: str
    context: str = ""
    rel: str = ""
    download: bool = False
    language: str = ""
    other_texts: tuple[str, ...] = ()
    found: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """All its names, the best first."""
        return (self.text, *self.other_texts)


@dataclass(frozen=True, slots=True, kw_only=True)
class Control:
    """One visible form control or button of a page.

    Attributes:
        number: Its number in the document's markdown, counted apart from links, from 1.
        kind: Its role in a word: `button`, `textbox`, `checkbox`, `radio`, `select`, `file`, …
        name: Its accessible name.
        state: What can be said of its state: value, checked, disabled, expanded, options.
    """

    number: int
    kind: str
    name: str
    state: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Download:
    """A file that a page gave. It lies in quarantine: nothing but our own reading of text ever opens it.

    Attributes:
        name: Its name, as the site has it, less what a file's name should not hold.
        url: Where it came from, behind redirects; `blob:` or `data:` where a page made it itself.
        content_type: Its media type without parameters, lower case; empty where unknown.
        size_bytes: How much of it came.
        path: Where it lies, until the pool closes or for good (`PoolOptions.downloads`); None where it was not kept.
        cut: Whether it was broken off because it is larger than a file may be.
        problem: Why it was not kept, as a predicate ("is larger than 20 MB"); None where it was.
    """

    name: str
    url: str
    content_type: str = ""
    size_bytes: int = 0
    path: str | None = None
    cut: bool = False
    problem: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Timings:
    """Where the time of one load went, in seconds; zero where a stage did not happen."""

    commit_seconds: float = 0.0
    settle_seconds: float = 0.0
    read_seconds: float = 0.0
    render_seconds: float = 0.0

    @property
    def total_seconds(self) -> float:
        """The whole load, from the request to the rendered document."""
        return self.commit_seconds + self.settle_seconds + self.read_seconds + self.render_seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A page as it was rendered and read once.

    Attributes:
        requested_url: The address asked for.
        url: The address arrived at, after every redirect and script; equal to `requested_url` where the load failed.
        status: HTTP status of the main document; None where there was no response.
        download: The file that came in place of a page, whose text this is where it could be read; None for a page.
        content_type: Media type without parameters, lower case; empty where unknown.
        title: The document's title.
        markdown: The whole visible text as markdown; a link is written `[text][12]`, a control `[button "Save"][c3]`.
        links: Links in the order of their numbers, which is that of the document; links in frames of other origins and
            in lists that show a part of their rows at a time come after all others.
        controls: Controls, in the same order.
        readiness: What ended the wait.
        timings: Where the load's time went.
        notes: What a reader should know of the reading: a text cut at a limit, a frame that was not read.
        unread_frames: Frames a person sees there whose text could not be had; their addresses are in the notes.
        incidents: What the page did that nobody asked for: dialogs shown, windows opened, files offered.
        headers: Those headers of the main document that say for how long and for whom it holds, names in lower case.
        problem: Why there is no page to read (a failed load, a file without text that can be read), in a sentence; None
            if there is one. An HTTP error page with text is a page: its `status` tells.
    """

    requested_url: str
    url: str
    status: int | None = None
    download: Download | None = None
    content_type: str = ""
    title: str = ""
    markdown: str = ""
    links: tuple[Link, ...] = ()
    controls: tuple[Control, ...] = ()
    readiness: Readiness = Readiness.NONE
    timings: Timings = Timings()
    notes: tuple[str, ...] = ()
    unread_frames: int = 0
    incidents: tuple[str, ...] = ()
    headers: Mapping[str, str] = field(default_factory=dict)
    problem: str | None = None

    @property
    def size_bytes(self) -> int:
        """What the document's text occupies in memory, links included."""
        texts = (text for link in self.links for text in (link.url, link.context, *link.names))
        return sys.getsizeof(self.markdown) + sum(map(sys.getsizeof, texts))


EventKind = Literal["navigation", "popup", "dialog", "download", "failed-request", "console-error"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PageEvent:
    """One thing that an action on a page brought about, or that happened beside it.

    Attributes:
        kind: What it is.
        text: A sentence that tells it.
        download: The file it is about; None where it is about none.
    """

    kind: EventKind
    text: str
    download: Download | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """The window on a document that one action opened.

    Attributes:
        document: The whole page.
        text: What this action shows: one part of the markdown, the passages found, or a sentence that says why the
            action could not be done.
        part: Which part of the document is shown, from 1.
        parts: How many parts the document has; 1 or more.
        events: What happened while something was done on the page; `text` begins with them.
        notice: What the agent itself has to say, such as why it did not repeat an action; never a page's words.
    """

    document: Document
    text: str
    part: int = 1
    parts: int = 1
    events: tuple[PageEvent, ...] = ()
    notice: str = ""

    @property
    def url(self) -> str:
        """The address of the page."""
        return self.document.url

    @property
    def title(self) -> str:
        """The title of the page."""
        return self.document.title

    @property
    def links(self) -> tuple[Link, ...]:
        """All links of the page, whichever part is shown."""
        return self.document.links
