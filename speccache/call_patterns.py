"""Which call comes after which, and where its arguments come from, learned from the calls themselves.

Invariant: a call is only named whose every argument was found where one like it was found before: the same value, an
argument of an earlier call or a number one above it, or a value of an earlier result or the one after it there. What is
remembered is bounded, however many calls it is learned from.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Literal

from speccache.environment import Step
from speccache.tool_environment import ToolCall

Calls = Sequence[Step[ToolCall, Any]]

_MAX_CALLS = 12
"""How far back an argument is looked for."""
_MAX_VALUES = 2_000
"""How much of a result is looked at."""
_MAX_TEXT_CHARS = 1_000_000
"""A longer text is not tried as JSON: that would hold up the event loop."""
_MAX_CONSTANT_CHARS = 1_000
"""A longer argument is a text that was written for its call; it is not the same the next time."""
_MAX_SOURCES = 400
_MAX_SHAPES = 100
_MAX_ARGUMENTS = 1_000
_MAX_READ = 2 * _MAX_CALLS
"""How many results are kept as they were read, so that none is read twice."""

_TEXT = json.JSONEncoder(sort_keys=True, allow_nan=False)


@dataclass(frozen=True, slots=True)
class _Shape:
    """A tool, and which of its arguments are given."""

    name: str
    arguments: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Source:
    """Where an argument comes from: `place` in what the last call of `name` was given or returned, or a constant.

    A place in a result is a path without the numbers in lists: `.orders[].id` are the ids of all orders.
    """

    kind: Literal["constant", "argument", "above", "first", "after"]
    name: str = ""
    place: str = ""


@dataclass(frozen=True, slots=True)
class _Read:
    """A result, and its texts and numbers by their place."""

    result: object
    columns: Mapping[str, Sequence[str]]


class CallPatterns:
    """Learns which calls follow which, over one run or several, and names the likely next ones.

    It knows the last two calls by name, and less well the last one; results are read where they are dicts, lists or
    JSON texts. Give the same one to several `SpeculativeTools` to have it learn from all of them.
    """

    def __init__(self) -> None:
        self._next: defaultdict[tuple[str, ...], Counter[_Shape]] = defaultdict(Counter)
        self._sources: dict[tuple[str, _Shape, str], Counter[_Source]] = {}
        self._read: dict[int, _Read] = {}

    def learn(self, trajectory: Calls) -> None:
        """Learn from the last call of a run and those before it."""
        *earlier, last = trajectory
        if not earlier:
            return
        shape = _Shape(last.action.name, tuple(sorted(last.action.arguments)))
        for context in _contexts(earlier):
            self._next[context][shape] += 1
            _trim(self._next[context], _MAX_SHAPES)
        for argument, value in last.action.arguments.items():
            wanted = _text(value)
            found = {source for source, there in self._found(earlier, shape.name, argument) if there == wanted}
            found |= {_Source("constant", place=wanted)} if 0 < len(wanted) <= _MAX_CONSTANT_CHARS else set()
            place = (earlier[-1].action.name, shape, argument)
            counts = self._sources[place] = self._sources.pop(place, Counter())  # as the latest
            counts.update(found)
            _trim(counts, _MAX_SOURCES)  # constants, nearly all of them seen once
        while len(self._sources) > _MAX_ARGUMENTS:
            del self._sources[next(iter(self._sources))]

    def __call__(self, trajectory: Calls) -> Iterator[ToolCall]:
        """Name calls that may come next, the most plausible first."""
        named: set[_Shape] = set()
        for context in _contexts(trajectory):
            for shape, _ in self._next[context].most_common() if context in self._next else ():
                call = None if shape in named else self._call(trajectory, shape)
                named.add(shape)
                if call is not None:
                    yield call

    def _call(self, trajectory: Calls, shape: _Shape) -> ToolCall | None:
        arguments: dict[str, Any] = {}
        for argument in shape.arguments:
            counts = self._sources.get((trajectory[-1].action.name, shape, argument), Counter())
            there = dict(self._found(trajectory, shape.name, argument))
            there |= {source: source.place for source in counts if source.kind == "constant"}
            # Where the usual source is missing, one that was right now and then is no better than chance; and what
            # moves with the calls before is likelier to be meant than what happened to stay.
            often = max(counts.values(), default=0) / 2
            moving = max((count for source, count in counts.items() if source.kind != "constant"), default=0)
            usual = [source for source in there if counts[source] > (moving if source.kind == "constant" else often)]
            best = max(usual, key=lambda source: counts[source], default=None)
            if best is None:
                return None
            arguments[argument] = json.loads(there[best])
        return ToolCall(shape.name, arguments)

    def _found(self, earlier: Calls, name: str, argument: str) -> Iterator[tuple[_Source, str]]:
        """Give every value that an argument of a call of `name` may be taken from, as JSON, with its source."""
        seen: set[str] = set()
        recent = earlier[: -_MAX_CALLS - 1 : -1]
        before = next((_text(step.action.arguments.get(argument)) for step in recent if step.action.name == name), "")
        for step in recent:
            if step.action.name in seen:
                continue
            seen.add(step.action.name)
            for place, value in step.action.arguments.items():
                if text := _text(value):
                    yield _Source("argument", step.action.name, place), text
                if type(value) is int:
                    yield _Source("above", step.action.name, place), str(value + 1)
            for place, column in self._columns(step.observation).items():
                yield _Source("first", step.action.name, place), column[0]
                if before in column[:-1]:
                    yield _Source("after", step.action.name, place), column[column.index(before) + 1]

    def _columns(self, result: object) -> Mapping[str, Sequence[str]]:
        read = self._read.pop(id(result), None) or _Read(result, _columns(result))
        self._read[id(result)] = read  # as the latest; its result lives as long, so that no other has its id
        while len(self._read) > _MAX_READ:
            del self._read[next(iter(self._read))]
        return read.columns


def _contexts(earlier: Calls) -> Iterator[tuple[str, ...]]:
    names = [step.action.name for step in earlier[-2:]]
    yield tuple(names)
    if len(names) == 2:
        yield (names[-1],)


def _trim(counts: Counter[Any], most: int) -> None:
    """Keep the half that was seen most often, once there is too much."""
    if len(counts) > most:
        for rare, _ in counts.most_common()[most // 2 :]:
            del counts[rare]


def _columns(result: object) -> Mapping[str, Sequence[str]]:
    """Give the texts and numbers of a result by their place."""
    if isinstance(result, str) and len(result) <= _MAX_TEXT_CHARS and result[:1] in ("{", "["):
        try:
            result = json.loads(result)
        except (ValueError, RecursionError):
            return {}
    columns: defaultdict[str, list[str]] = defaultdict(list)
    waiting, count = [("", result)], 0
    while waiting and count < _MAX_VALUES:
        (place, value), count = waiting.pop(), count + 1
        if isinstance(value, dict):
            # By the type's own method: what a subclass makes of it may take long, or fail.
            named = [
                (name, inner) for name, inner in islice(dict.items(value), _MAX_VALUES) if type(name) in (str, int)
            ]
            waiting += reversed([(f"{place}.{name}", inner) for name, inner in named])
        elif isinstance(value, list | tuple):
            waiting += reversed([(f"{place}[]", inner) for inner in value[:_MAX_VALUES]])
        elif text := _text(value):
            columns[place].append(text)
    return columns


def _text(value: object) -> str:
    """Write a value as JSON; empty where it is none."""
    try:
        return _TEXT.encode(value)
    except (TypeError, ValueError, RecursionError):
        return ""
