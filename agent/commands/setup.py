"""The commands that set a machine up: `speccache doctor`, `install-browser` and `install-model`.

Invariant: what can be wrong is said with what to do about it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import typer
from rich.console import Console
from rich.markup import escape

from agent import flags, keeping_flags
from agent.check import Check
from agent.console import ExitCode, run, tell
from agent.doctor import examine
from agent.settings import Settings, load_settings
from agent.targets.weights import install_weights
from browser.engine.installation import install_browser as install


def doctor(
    browser: flags.Browser = None,
    egress_host: flags.EgressHost = None,
    base_url: flags.BaseUrl = None,
    shared_cache: keeping_flags.SharedCache = None,
    as_json: flags.Json = False,
) -> None:
    """Say in plain words what works on this machine, what does not, and what to do about it."""
    settings = run(_settings(browser=browser, egress_host=egress_host, base_url=base_url, shared_cache=shared_cache))
    checks = run(
        examine(
            browsers=settings.browsers,
            egress_host=settings.egress_host,
            base_url=settings.base_url,
            shared_cache=settings.shared_cache.get_secret_value() if settings.shared_cache else None,
        )
    )
    if as_json:
        typer.echo(json.dumps([asdict(check) for check in checks], indent=2))
    else:
        _show_checks(checks)
    raise typer.Exit(ExitCode.ENVIRONMENT if any(check.status == "fail" for check in checks) else ExitCode.ANSWERED)


async def _settings(**given: Any) -> Settings:
    return load_settings(**given)


def _show_checks(checks: Sequence[Check]) -> None:
    out = Console(highlight=False, soft_wrap=True)
    colours = {"ok": "green", "warn": "yellow", "fail": "red"}
    for check in checks:
        out.print(f"[{colours[check.status]}]{check.status:4}[/]  {escape(check.name)}: {escape(check.detail)}")
        if check.hint:
            out.print(f"      hint: {escape(check.hint)}")


def install_model(verbose: flags.Tracebacks = False) -> None:
    """Get the small language model that `--target local` uses: 1.1 GB, checked by its hash."""
    settings = run(_settings())
    run(install_weights(tell, settings.weights), verbose=verbose)


def install_browser(verbose: flags.Tracebacks = False) -> None:
    """Get a headless Chromium: Playwright's own download, else the distribution's package."""
    run(install(tell), verbose=verbose)
