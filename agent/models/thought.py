"""Telling what a model thinks aloud from what it answers.

Invariant: what stands in the tags that a reply begins with is never part of the answer, whole or streamed; tags further
on are text, quoted from a page perhaps.
"""

from __future__ import annotations

from dataclasses import dataclass

_TAGS = ("think", "thought")


@dataclass(frozen=True, slots=True, kw_only=True)
class Split:
    """A reply's text in two."""

    thought: str
    text: str


def split(written: str) -> Split:
    """Take a whole text apart."""
    splitter = ThoughtSplitter()
    text = splitter.feed(written) + splitter.end()
    if splitter.thought:
        return Split(thought=splitter.thought, text=text)
    # The opening tag is often part of the prompt, so that only the closing one is in the reply.
    thought, closing, rest = text.partition("</think>")
    return Split(thought=thought.strip(), text=rest.lstrip()) if closing else Split(thought="", text=text)


class ThoughtSplitter:
    """Takes a text apart while it is written.

    Attributes:
        thought: What was thought aloud, complete once something else was written.
    """

    def __init__(self) -> None:
        self.thought = ""
        self._held = ""
        self._closing: str | None = None
        self._decided = False
        self._after_thought = False

    def feed(self, piece: str) -> str:
        """Take the next piece, and return what of the text is certain to belong to the answer."""
        self._held += piece
        if not self._decided:
            self._decide()
        if self._closing is not None:
            self._end_thought(len(piece))
        return self._take() if self._decided and self._closing is None else ""

    def end(self) -> str:
        """Return what is left for the answer once all is written; a thought that never ended is none of it."""
        rest = self._take()
        if self._closing is not None:
            self.thought, self._closing = rest.strip(), None
            return ""
        return rest

    def _decide(self) -> None:
        """See whether the text begins with a tag, as soon as enough of it is there."""
        head = self._held.lstrip()
        for tag in _TAGS:
            if head.startswith(f"<{tag}>"):
                self._held, self._closing = head.removeprefix(f"<{tag}>"), f"</{tag}>"
        self._decided = self._closing is not None or not any(f"<{tag}>".startswith(head) for tag in _TAGS)

    def _end_thought(self, new_characters: int) -> None:
        closing = self._closing or ""
        # Only the end can be new: a long thought is not searched from its beginning for every piece.
        begin = max(0, len(self._held) - new_characters - len(closing))
        place = self._held.find(closing, begin)
        if place >= 0:
            self.thought = self._held[:place].strip()
            self._held, self._closing = self._held[place + len(closing) :], None
            self._after_thought = True

    def _take(self) -> str:
        taken, self._held = self._held, ""
        if self._after_thought:
            taken = taken.lstrip()
            self._after_thought = not taken
        return taken
