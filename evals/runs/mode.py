"""In which ways pages may be loaded ahead, as evals compare them.

Invariant: modes differ in what guesses alone; target, pool and sites are the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from enum import StrEnum

from agent.errors import ConfigurationError
from agent.mind import Mind
from agent.predictors.baselines import OraclePredictor
from agent.settings import PredictorName, Settings
from browser.action import Action


class Mode(StrEnum):
    """What guesses."""

    OFF = "off"
    """Nothing: every page is loaded when the target asks for it."""
    LRU = "lru"
    """Nothing, but pages visited before are kept."""
    RANDOM = "random"
    """Random links of the page."""
    RANK = "rank"
    """The free ranker alone."""
    DRAFT = "draft"
    """The draft model alone."""
    SPEC = "spec"
    """What the product does: the ranker, and the draft model where there is one."""
    ORACLE = "oracle"
    """The target's own path, known from another mode's run: the best that any guessing could reach."""


_PREDICTORS = {
    Mode.LRU: PredictorName.NONE,
    Mode.RANDOM: PredictorName.RANDOM,
    Mode.RANK: PredictorName.RANK,
    Mode.DRAFT: PredictorName.DRAFT,
    Mode.SPEC: PredictorName.DEFAULT,
    Mode.ORACLE: PredictorName.NONE,
}


def parse_modes(text: str, settings: Settings) -> tuple[Mode, ...]:
    """Read a list of modes, separated by commas.

    Args:
        text: The list; `all`: every mode that the settings allow.
        settings: Whether there is a draft model.

    Raises:
        ConfigurationError: A name is no mode, or the mode needs a draft model and none is set.
    """
    has_draft = settings.draft_name is not None
    if text.strip() == "all":
        return tuple(mode for mode in Mode if has_draft or mode is not Mode.DRAFT)
    names = [name.strip() for name in text.split(",") if name.strip()]
    unknown = [name for name in names if name not in set(Mode)]
    if unknown or not names:
        wrong = f"{unknown[0]!r} is no mode" if unknown else "no mode is named"
        raise ConfigurationError(f"--modes: {wrong}", hint=f"There are {', '.join(Mode)}; 'all' takes them all.")
    modes = tuple(dict.fromkeys(map(Mode, names)))
    if Mode.DRAFT in modes and not has_draft:
        raise ConfigurationError("the mode draft needs a draft model", hint="Name one with --draft.")
    if modes == (Mode.ORACLE,):
        raise ConfigurationError(
            "the mode oracle needs a run of another mode to know the way from", hint="Add a mode: --modes off,oracle"
        )
    return modes


def settings_of(mode: Mode, settings: Settings) -> Settings:
    """Return the settings of a run in a mode."""
    if mode is Mode.OFF:
        return settings.model_copy(update={"speculation": False})
    return settings.model_copy(update={"speculation": True, "predictor": _PREDICTORS[mode]})


def mind_of(mode: Mode, mind: Mind, known_way: Sequence[Action]) -> Mind:
    """Return what guesses in a mode, beside what decides.

    Args:
        mode: The mode.
        mind: As the mode's settings give it.
        known_way: What the target will do, in its order; only the oracle is told.
    """
    if mode is not Mode.ORACLE:
        return mind
    return replace(mind, predictors=(OraclePredictor(known_way),), deeper=())
