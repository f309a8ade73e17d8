"""Typing a secret into a field.

Invariant: the value reaches the document of the field's own host and no other. Key strokes go where the focus is, and a
frame of another site may take that away between two of them; so the text is put in at once, by the field's document.
"""

from __future__ import annotations

from urllib.parse import urlsplit

from playwright.async_api import ElementHandle

from browser.errors import ActionFailed

_PUT_IN = """(element, [host, text]) => {
  if (location.hostname !== host) return false;
  element.focus();
  if (element.isContentEditable) getSelection().selectAllChildren(element);
  else if (element.select) element.select();
  else return false;
  const root = element.getRootNode();
  return root.activeElement === element && document.execCommand("insertText", false, text);
}"""


async def type_secret(element: ElementHandle, text: str, *, url: str) -> None:
    """Put a text that holds a secret into a field, in place of what it holds.

    Args:
        element: The field, which has been clicked.
        text: The text.
        url: The address of its document, for whose host the secret is.

    Raises:
        ActionFailed: It is no field to type into, or did not keep the focus; nothing was put in.
        PlaywrightError: The document has gone.
    """
    if not await element.evaluate(_PUT_IN, [urlsplit(url).hostname, text]):
        raise ActionFailed("A secret was not typed: it is no field for text, or it did not keep the focus.")
