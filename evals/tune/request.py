"""What a person asks of `speccache tune`, checked before anything is measured.

Invariant: what can be wrong about it is said at once, not after minutes of measuring.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil

from agent.errors import ConfigurationError
from agent.wiring import checked
from browser.engine.machine import this_machine
from evals.tune.plot import FORMATS
from evals.tune.subject import QUICK, Pace
from evals.tune.sweep import Plan

SIZES, QUICK_SIZES, MAX_SIZE = "1,2,4,6,8", "1,2,4", 64
GUESSES, QUICK_GUESSES, MAX_GUESSES = "1,2,3,5", "1,3", 16
ROUNDS, QUICK_ROUNDS = 3, 1
MEMORY_SHARE = 0.5
_MEBIBYTE = 2**20


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """What both browsers may take together.

    Attributes:
        memory_bytes: PSS.
        rule: Where the figure comes from.
    """

    memory_bytes: int
    rule: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A checked request.

    Attributes:
        plan: What is measured.
        urls: On which pages; empty: on the bundled site.
        questions: A file of questions about their site.
        budget: What the browsers may take.
    """

    plan: Plan
    urls: tuple[str, ...]
    questions: Path | None
    budget: Budget


def read_request(
    *,
    urls: Sequence[str],
    questions: Path | None,
    sizes: str | None,
    guesses: str | None,
    rounds: int | None,
    memory_limit_mib: int | None,
    quick: bool,
) -> Request:
    """Check the flags that say what is measured; None: the default.

    Raises:
        ConfigurationError: One cannot be used.
        AddressRefused: A URL is no web address.
    """
    if questions is not None and not urls:
        raise ConfigurationError(
            f"the questions of {questions} are about a site, and none is given", hint="Name its start page with --url."
        )
    plan = Plan(
        sizes=_numbers("--sizes", sizes or (QUICK_SIZES if quick else SIZES), most=MAX_SIZE),
        guesses=_numbers("--guesses", guesses or (QUICK_GUESSES if quick else GUESSES), most=MAX_GUESSES),
        rounds=rounds or (QUICK_ROUNDS if quick else ROUNDS),
        pace=QUICK if quick else Pace(),
    )
    addresses = tuple(checked(url) for url in urls)
    return Request(plan=plan, urls=addresses, questions=questions, budget=_budget(memory_limit_mib))


def check_files(*, output: Path, plot: Path | None) -> None:
    """Check where the result is to go; missing folders are made.

    Raises:
        ConfigurationError: Nothing can be written there.
    """
    if plot is not None and plot.suffix.lower() not in FORMATS:
        raise ConfigurationError(
            f"--plot {plot} is of no known kind", hint=f"End the name with {' or '.join(FORMATS)}."
        )
    for path in filter(None, (output, plot)):
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise _unwritable(path, str(error.strerror)) from error
        if path.is_dir():
            raise _unwritable(path, "it is a folder")


def _unwritable(path: Path, why: str) -> ConfigurationError:
    return ConfigurationError(f"{path} cannot be written: {why}", hint="Name a file in a folder of yours.")


def _numbers(flag: str, text: str, *, most: int) -> tuple[int, ...]:
    words = [word.strip() for word in text.split(",")]
    if not all(word.isascii() and word.isdigit() and 1 <= int(word) <= most for word in words):
        raise ConfigurationError(
            f"{flag} {text!r} is no list of whole numbers from 1 to {most}", hint=f"Write, for example: {flag} 1,2,4"
        )
    return tuple(sorted({int(word) for word in words}))


def _budget(memory_limit_mib: int | None) -> Budget:
    if memory_limit_mib is not None:
        return Budget(memory_bytes=memory_limit_mib * _MEBIBYTE, rule="as given")
    free = this_machine().memory_bytes or psutil.virtual_memory().available
    rule = f"{MEMORY_SHARE:.0%} of the {free / _MEBIBYTE:,.0f} MiB that are available"
    return Budget(memory_bytes=int(MEMORY_SHARE * free), rule=rule)
