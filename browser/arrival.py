"""Whether an address may be opened, and what came of it shown: what must not be is a page that says why.

Invariant: a page is shown only where the address it was reached at may be opened, whatever led there.
"""

from __future__ import annotations

from collections.abc import Collection

from browser.address import check_address
from browser.errors import AddressRefused
from browser.observation import Document


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
