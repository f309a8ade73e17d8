"""Limits of one load.

Invariant: whatever is cut at one of them is said in the document's notes.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadOptions:
    """How long a load may take, and how much of a page is read.

    Attributes:
        navigate_timeout_seconds: From the request to the first byte of the page.
        settle_cap_seconds: From there until it is read, however busy it still is and however long its lists are.
        read_cap_seconds: For reading it.
        frames_cap_seconds: For all its frames of other origins together, which are waited for and read after it.
        stuck_seconds: How much later than both caps its scripts may let go of the browser; huge pages on busy machines
            are late, a script without end never does.
        max_characters: Of its text.
        max_elements: Of its document.
        max_links: Links that are numbered; those after them are text.
        max_controls: Controls that are numbered; those after them are left out.
        max_frames: Frames of other origins that are read, those inside others included.
        max_list_items: Of a list that shows more when it is scrolled.
        download_seconds: For a file that comes in place of a page, or that an action was answered with.
        max_download_bytes: Of it; a larger one is broken off on its way.
        file_seconds: For reading its text.
        max_file_pages: Of a PDF.
    """

    navigate_timeout_seconds: float = 30.0
    settle_cap_seconds: float = 5.0
    read_cap_seconds: float = 5.0
    frames_cap_seconds: float = 2.0
    stuck_seconds: float = 15.0
    max_characters: int = 2_000_000
    max_elements: int = 250_000
    max_links: int = 5_000
    max_controls: int = 2_000
    max_frames: int = 10
    max_list_items: int = 1_000
    download_seconds: float = 30.0
    max_download_bytes: int = 20_000_000
    file_seconds: float = 20.0
    max_file_pages: int = 300
