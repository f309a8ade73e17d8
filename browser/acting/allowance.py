"""What of the user's own may go to a site: files to upload, and secrets to type.

Invariant: an agent names a secret and never holds it. The value is put in where it is typed, on its own host only, and
is taken out of everything that is read of a page.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from browser.errors import ActionFailed
from browser.observation import Control, Document, Download, Link
from browser.session.disguise import Disguise

if TYPE_CHECKING:
    from browser.acting.outcome import Outcome

_PLACEHOLDER = re.compile(r"\{\{(\w+)\}\}")
HIDDEN = "[hidden]"
"""What stands for what must be read nowhere."""

_MIN_CHARACTERS = 4  # a shorter one stands in many texts by chance, and would be known by where it is masked


@dataclass(frozen=True, slots=True, kw_only=True)
class Secret:
    """A value that an agent may have typed but never sees.

    Attributes:
        name: What the agent writes for it, as `{{name}}`; letters, digits and underscores.
        value: What is typed.
        host: Where it may be typed: this host and those below it.
        secure: Whether it may be typed on pages over TLS only.

    Raises:
        ValueError: The name cannot be written as a placeholder, or the value is shorter than four characters.
    """

    name: str
    value: str
    host: str
    secure: bool = False

    def __post_init__(self) -> None:
        if not _PLACEHOLDER.fullmatch(self.placeholder):
            raise ValueError(f"the name of a secret has only letters, digits and underscores, not {self.name!r}")
        if len(self.value) < _MIN_CHARACTERS:
            raise ValueError(f"the secret {self.name} is too short to be kept: {_MIN_CHARACTERS} characters at least")

    @property
    def placeholder(self) -> str:
        """What stands for it wherever an agent reads or writes."""
        return "{{" + self.name + "}}"

    def __repr__(self) -> str:
        return f"<Secret {self.name} for {self.host}>"


@dataclass(frozen=True, slots=True, kw_only=True)
class Allowance:
    """What a session may use.

    Attributes:
        files: Files that may be uploaded.
        secrets: Secrets that may be typed.
        hidden: What is sent to sites beside that, such as the value of a header, and must be read nowhere.
    """

    files: Sequence[Path] = ()
    secrets: Sequence[Secret] = ()
    hidden: Sequence[str] = ()
    _disguise: Disguise = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        stand_ins = dict.fromkeys(self.hidden, HIDDEN) | {each.value: each.placeholder for each in self.secrets}
        object.__setattr__(self, "_disguise", Disguise(stand_ins))

    def file(self, path: str) -> Path:
        """Find a file by its path or its name: what a page says must not decide which files leave the machine.

        Raises:
            ActionFailed: It is not among those allowed, or does not exist.
        """
        found = [file for file in self.files if path in (str(file), file.name)]
        if len(found) != 1:
            names = ", ".join(file.name for file in self.files) or "none"
            raise ActionFailed(f"{path!r} is not one of the files that may be uploaded ({names}).")
        if not found[0].is_file():
            raise ActionFailed(f"The file {found[0]} does not exist.")
        return found[0]

    def revealed(self, text: str, *, url: str) -> str:
        """Put secrets in the place of their names, for a field of the page or frame at this address.

        Raises:
            ActionFailed: One of them is not for that host.
        """
        place = urlsplit(url)
        host = place.hostname or ""
        for secret in self.secrets:
            if secret.placeholder not in text:
                continue
            if host != secret.host and not host.endswith(f".{secret.host}"):
                raise ActionFailed(
                    f"The secret {secret.name} is for {secret.host} only, not for {host or 'this page'}."
                )
            if secret.secure and place.scheme != "https":
                raise ActionFailed(f"The secret {secret.name} is for pages over https only, and this is none.")
            text = text.replace(secret.placeholder, secret.value)
        return text

    def holds_secret(self, text: str) -> bool:
        """Tell whether a text has the name of a secret in it, as the address of a page that repeats one does."""
        return any(secret.placeholder in unquote(text) for secret in self.secrets)

    def masked(self, text: str) -> str:
        """Put the names of secrets in their place, however they are written."""
        return self._disguise.put_on(text)

    def masked_document(self, document: Document) -> Document:
        """Return a page without any secret in it."""
        if not self._disguise:
            return document
        return replace(
            document,
            requested_url=self.masked(document.requested_url),
            url=self.masked(document.url),
            title=self.masked(document.title),
            markdown=self.masked(document.markdown),
            links=tuple(map(self._masked_link, document.links)),
            controls=tuple(map(self._masked_control, document.controls)),
            incidents=tuple(map(self.masked, document.incidents)),
            notes=tuple(map(self.masked, document.notes)),
            problem=None if document.problem is None else self.masked(document.problem),
            download=self._masked_download(document.download),
        )

    def masked_outcome(self, outcome: Outcome) -> Outcome:
        """Return what came of an action without any secret in it."""
        return replace(
            outcome,
            document=self.masked_document(outcome.document),
            file=None if outcome.file is None else self.masked_document(outcome.file),
            events=tuple(
                replace(event, text=self.masked(event.text), download=self._masked_download(event.download))
                for event in outcome.events
            ),
            failure=None if outcome.failure is None else self.masked(outcome.failure),
        )

    def _masked_download(self, file: Download | None) -> Download | None:
        return file and replace(file, name=self.masked(file.name), url=self.masked(file.url))

    def _masked_link(self, link: Link) -> Link:
        return replace(
            link,
            text=self.masked(link.text),
            url=self.masked(link.url),
            context=self.masked(link.context),
            other_texts=tuple(map(self.masked, link.other_texts)),
        )

    def _masked_control(self, control: Control) -> Control:
        return replace(control, name=self.masked(control.name), state=self.masked(control.state))
