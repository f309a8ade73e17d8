"""The searches that a question suggests: for the names and quoted words in it.

Target and predictor of the embedded default take them from here; that is why their guesses come true. Invariant: they
depend on the question and the trajectory alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from agent.predictors.words import words
from agent.targets.frontier import Trajectory
from browser.action import Search

MAX_NAMES = 4
"""How many names of a question are searched for."""

_QUOTED = re.compile(
    r"""["“„”]([^"“„”]{2,80})["“”]|«([^«»]{2,80})»|《([^《》]{1,80})》|「([^「」]{1,80})」|『([^『』]{1,80})』"""
    r"""|(?<!\w)['\u2018]([^'\u2018\u2019]{2,80})['\u2019](?!\w)"""
)
_WORD = re.compile(r"[^\W_](?:[\w.'\u2019\u2013&-]*\w)?")
_INITIAL = re.compile(r"\w\.")
_POSSESSIVE = re.compile(r"['\u2019]s$")
_DATE = re.compile(r"(January|February|March|April|May|June|July|August|September|October|November|December)( \d+)?")
# They join the words of one name, where such a word stands on both sides.
_JOINING = frozenset(re.findall(r"\w+", "of the for de la le du des del della di da do dos y van von der den zu"))
_COMMANDS = frozenset(
    re.findall(r"\w+", "name find give list tell identify describe explain compare say please besides")
)


def open_searches(question: str, trajectory: Trajectory) -> tuple[Search, ...]:
    """Return searches that were not made yet, in the question's order; a page whose title has the name is enough."""
    made = {_folded(step.action.query) for step in trajectory if isinstance(step.action, Search)}
    read = [_folded(step.observation.title) for step in trajectory if not isinstance(step.action, Search)]
    wanted = {_folded(name): Search(name) for name in names(question)}
    return tuple(
        search for name, search in wanted.items() if name not in made and not any(name in title for title in read)
    )


@lru_cache(maxsize=1024)
def names(question: str) -> tuple[str, ...]:
    """Return the quoted words and the proper names (runs of capitalised words) of a question, in its order."""
    found = {match.start(): next(filter(None, match.groups())) for match in _QUOTED.finditer(question)}
    # What is quoted must not count a second time; its length keeps the others' places.
    rest = _QUOTED.sub(lambda match: ";" * len(match[0]), question)
    found |= {run[0].start(): _POSSESSIVE.sub("", rest[run[0].start() : run[-1].end()]) for run in _runs(rest)}
    unique = {_folded(name): " ".join(name.split()) for _, name in sorted(found.items(), reverse=True)}
    kept = [name for name in reversed(unique.values()) if words(name) and not _DATE.fullmatch(name)]
    return tuple(kept[:MAX_NAMES])


def _runs(text: str) -> Iterator[list[re.Match[str]]]:
    """Find the runs of capitalised words, joining words between them included."""
    run: list[re.Match[str]] = []
    for word in _WORD.finditer(text):
        if run and (not _touch(text, run[-1], word) or _POSSESSIVE.search(run[-1][0])):
            yield from _trimmed(run)
            run = []
        if _is_capitalised(word) or (run and (word[0].lower() in _JOINING or word[0].isdecimal())):
            run.append(word)
        elif run:
            yield from _trimmed(run)
            run = []
    yield from _trimmed(run)


def _trimmed(run: list[re.Match[str]]) -> Iterator[list[re.Match[str]]]:
    """Take away what begins a sentence or an unfinished joint, and give what is left, if anything is."""
    while run and (not _is_capitalised(run[0]) or not words(run[0][0]) or run[0][0].lower() in _COMMANDS):
        run = run[1:]
    while run and run[-1][0].lower() in _JOINING:
        run = run[:-1]
    if run:
        yield run


def _touch(text: str, word: re.Match[str], next_word: re.Match[str]) -> bool:
    between = text[word.end() : next_word.start()]
    # "J. R. R. Tolkien": a full stop behind an initial ends no name.
    return between.isspace() or (between.strip() == "." and _INITIAL.fullmatch(f"{word[0]}.") is not None)


def _is_capitalised(word: re.Match[str]) -> bool:
    return word[0][0].isupper()


def _folded(query: str) -> str:
    return " ".join(query.split()).casefold()
