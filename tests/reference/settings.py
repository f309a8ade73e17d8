"""The settings' reference: each with its default, its environment variable and its flag."""

from __future__ import annotations

import griffe

from agent.flags import flag_of
from agent.settings import _NEVER_FROM_A_FILE, Settings
from tests.reference.markdown import WRITTEN_BY, cell, code, table
from tests.reference.sources import package

_INTRODUCTION = """
A flag comes before the environment, which comes before `speccache.toml` in the current folder, which comes before the
default. In the file a setting has its name as it stands here. Those marked with * are never read from the file: it may
have come with somebody else's project, and they decide which program runs, and where something of yours is read from or
sent to.

Lists are JSON in the environment (`SPECCACHE_FALLBACK='["a", "b"]'`). Keys of providers are read from their own
variables, `OPENAI_API_KEY`, `ANTHROPIC_API_KEY` and so on: see
[agent/models/providers.py](../../agent/models/providers.py).
"""


def settings_page() -> str:
    """The page, as markdown."""
    agent = package("agent")
    described = {**agent["browsing_settings.BrowsingSettings"].members, **agent["settings.Settings"].members}
    rows = [_row(name, described[name]) for name in sorted(Settings.model_fields)]
    shown = table("setting", "is", "default", "variable", "flag", rows=rows)
    return "\n\n".join([WRITTEN_BY, "# Settings", _INTRODUCTION.strip(), shown]) + "\n"


def _row(name: str, attribute: griffe.Object | griffe.Alias) -> tuple[str, ...]:
    text = attribute.docstring.value if attribute.docstring else ""
    star = "\\*" if name in _NEVER_FROM_A_FILE else ""
    return (code(name) + star, cell(text), _default(name), code(f"SPECCACHE_{name.upper()}"), code(flag_of(name)))


def _default(name: str) -> str:
    value = Settings.model_fields[name].get_default()
    return "" if value is None or value == () else code(str(value))
