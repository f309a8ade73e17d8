"""The speculative cache around a run's web, set up as the settings ask for it.

Invariant: whoever drives it, the same gate, pressure and measured priors decide what loads ahead.
"""

from __future__ import annotations

from collections.abc import Sequence

from agent.kept_pages import PageLevel
from agent.predictors import history_predictor, rank_predictor
from agent.settings import Settings
from agent.web import max_running
from browser.action import Action
from browser.environment import WebEnvironment
from browser.observation import Observation
from browser.pool import BrowserPool
from speccache.events import Listener
from speccache.options import SpeculationOptions
from speccache.predictor import Predictor
from speccache.speculative_environment import SpeculativeEnvironment


def speculative(
    web: WebEnvironment,
    pool: BrowserPool,
    settings: Settings,
    *,
    predictors: Sequence[Predictor[Action, Observation]],
    deeper: Sequence[Predictor[Action, Observation]],
    listener: Listener,
    second_level: PageLevel | None = None,
) -> SpeculativeEnvironment[Action, Observation]:
    """Wrap the web of one run: guesses load ahead in the pool's spare slots.

    Args:
        web: What is wrapped; closed together with what is returned.
        pool: Where its pages are loaded.
        settings: How much loads ahead.
        predictors: What guesses.
        deeper: What guesses one level deeper.
        listener: Called with every event.
        second_level: Pages kept beyond this run; it stays the caller's.
    """
    return SpeculativeEnvironment(
        web,
        predictors=predictors,
        deeper=deeper,
        options=SpeculationOptions(max_guesses=settings.max_guesses, max_running=max_running(settings)),
        priors={**rank_predictor.PRIORS, **history_predictor.PRIORS},
        gate=web.refusal,
        pressure=pool.pressure.reason,
        urgent=web.urgent,
        listener=listener,
        size_of=lambda observation: observation.document.size_bytes,
        lifetime_of=web.lifetime,
        second_level=second_level,
    )
