"""The Python API's reference: what the packages offer by name, with signatures and the first line of each docstring."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import griffe

from tests.reference.markdown import WRITTEN_BY
from tests.reference.sources import package

_PACKAGES = ("agent", "browser", "speccache")
_INTRODUCTION = """
All that the packages export. What is not here may change at any time. Arguments, errors and what each owns are in the
docstrings: `python -c 'import agent; help(agent.Agent)'`.
"""
_LINE = 100
_HOOKS = {"settings_customise_sources"}
"""What a library calls, not a user."""
_STAR = {griffe.ParameterKind.var_positional: "*", griffe.ParameterKind.var_keyword: "**"}


def api_page() -> str:
    """The page, as markdown."""
    sections = [section for name in _PACKAGES for section in _package(name) if section]
    return "\n\n".join([WRITTEN_BY, "# Python API", _INTRODUCTION.strip(), *sections]) + "\n"


def _package(name: str) -> Iterable[str]:
    module = package(name)
    yield f"## `{name}`"
    yield _first_line(module)
    for exported in sorted(str(name) for name in module.exports or ()):
        member = module[exported]
        yield f"### `{name}.{exported}`"
        yield from _entry(member.final_target if isinstance(member, griffe.Alias) else member)


def _entry(thing: griffe.Object) -> Iterable[str]:
    match thing:
        case griffe.Class():
            yield _class(thing)
            methods = [_method(member) for member in _public(thing)]
            yield from (_first_line(thing), *(["\n".join(methods)] if methods else []))
        case griffe.Function():
            yield from (_block(_signature(thing)), _first_line(thing))
        case griffe.Attribute():
            yield from (_block(f"{thing.name} = {thing.value}"), _first_line(thing))


def _class(thing: griffe.Class) -> str:
    bases = [str(base) for base in thing.bases]
    values = [str(member.value) for member in thing.members.values() if isinstance(member, griffe.Attribute)]
    if {"StrEnum", "Enum", "IntEnum"}.intersection(bases):
        return _block(f"{thing.name}: {' | '.join(values)}".replace("'", '"'))
    if any(base.startswith("Protocol") for base in bases):
        return _block(f"class {thing.name}({', '.join(bases)})")
    return _block(_call(thing.name, list(thing.parameters)))


def _public(thing: griffe.Class) -> Iterable[griffe.Function | griffe.Attribute]:
    for name, member in thing.members.items():
        if isinstance(member, griffe.Attribute) and "property" not in member.labels:
            continue
        # What has no docstring here has it where it is declared: in the protocol, or in the class it overrides.
        is_offered = not name.startswith("_") and name not in _HOOKS and member.docstring is not None
        if is_offered and isinstance(member, griffe.Function | griffe.Attribute):
            yield member


def _method(member: griffe.Function | griffe.Attribute) -> str:
    shown = member.name if isinstance(member, griffe.Attribute) else _signature(member, width=10_000)
    return f"- `{shown}`: {_first_line(member)}"


def _signature(function: griffe.Function, *, width: int = _LINE) -> str:
    word = "async " if "async" in function.labels else ""
    manages = any("asynccontextmanager" in str(decorator.value) for decorator in function.decorators)
    returned = f" -> {function.returns}" if function.returns is not None else ""
    word = "async with " if manages else word
    return _call(word + function.name, list(function.parameters), returned, width=width)


def _call(name: str, parameters: Sequence[griffe.Parameter], returned: str = "", *, width: int = _LINE) -> str:
    """Write a call as in the source: `/` and `*` where kinds change, and one parameter a line where it is long."""
    shown: list[str] = []
    kinds = griffe.ParameterKind
    before: griffe.ParameterKind | None = None
    for parameter in parameters:
        if before is kinds.positional_only and parameter.kind is not before:
            shown.append("/")
        if parameter.kind is kinds.keyword_only and before not in (kinds.keyword_only, kinds.var_positional):
            shown.append("*")
        before = parameter.kind
        if parameter.name not in ("self", "cls"):
            shown.append(_parameter(parameter))
    if before is kinds.positional_only:
        shown.append("/")
    line = f"{name}({', '.join(shown)}){returned}"
    return line if len(line) <= width else "\n".join([f"{name}(", *(f"    {each}," for each in shown), f"){returned}"])


def _parameter(parameter: griffe.Parameter) -> str:
    star = _STAR.get(parameter.kind, "") if parameter.kind else ""
    kind = f": {parameter.annotation}" if parameter.annotation is not None else ""
    default = f" = {parameter.default}" if parameter.default is not None and not star else ""
    return f"{star}{parameter.name}{kind}{default}"


def _first_line(thing: griffe.Object) -> str:
    """The first paragraph, on one line."""
    text = thing.docstring.value if thing.docstring else ""
    return " ".join(text.split("\n\n")[0].split())


def _block(text: str) -> str:
    return f"```python\n{text}\n```"
