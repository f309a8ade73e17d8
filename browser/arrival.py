"""What is shown of an address that was asked for: the page, or why it must not be opened.

Invariant: a page is shown only where the address it was reached at may be opened, whatever led there; and at the
address that was asked for, whichever other address of the same page it was loaded from.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from browser.address import check_address, page_key
from browser.errors import AddressRefused
from browser.observation import Document, Observation


def refused(url: str, *, named_hosts: Collection[str], requested_url: str = "") -> Document | None:
    """Return what is seen in place of an address that must not be opened; None where it may be.

    Args:
        url: The address.
        named_hosts: Hosts the user named; these may be private.
        requested_url: The address asked for, where that is another one.
    """
    try:
        check_address(url, named_hosts=named_hosts)
    except AddressRefused as error:
        return Document(requested_url=requested_url or url, url=url, problem=f"{error}.")
    return None


def permitted(document: Document, *, named_hosts: Collection[str]) -> Document:
    """Return what may be shown of a load: its document, or why the address it arrived at must not be opened."""
    # What a page made by itself has no address that anything could be reached at.
    is_made_here = document.download is not None and document.url.startswith(("blob:", "data:"))
    if document.problem is not None or is_made_here:
        return document
    return refused(document.url, named_hosts=named_hosts, requested_url=document.requested_url) or document


def as_asked(observation: Observation, url: str | None) -> Observation:
    """Return an observation of a page as a load of this address would have given it.

    Args:
        observation: Made by a load of an address of the same page: it may differ in a place on the page, or in what the
            server does not look at.
        url: The address; None: as the observation has it.
    """
    document = observation.document
    if url is None or document.requested_url == url:
        return observation
    is_moved = page_key(document.url) != page_key(document.requested_url)
    shown = document.url if is_moved else url
    return replace(observation, document=replace(document, requested_url=url, url=shown))
