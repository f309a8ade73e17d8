"""The models that settings name: where they are asked, how patiently, and that the account of a run holds all of it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from agent.errors import ConfigurationError
from agent.models.call_account import CallAccount
from agent.models.chat import Chat
from agent.models.providers import TIERS, Provider
from agent.models.registry import DRAFT, Models
from agent.models.reply import Message
from agent.settings import load_settings
from tests.agent.calls import Sleeps
from tests.endpoints.scripted import Body, Fail, Say, Scripted, ScriptedEndpoint

ASK = [Message(role="user", content="how are you")]
PATIENCE_SECONDS = 10
PRICES = """
date = 2026-05-01
[models."big:target"]
input = 1000000
output = 0
[models."small:spare"]
input = 0
output = 1000000
[models."big:draft"]
input = 0
output = 0
"""


@pytest.fixture(autouse=True)
def two_keys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "SPECCACHE_API_KEY", "SPECCACHE_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("BIG_KEY", "sk-scripted")
    monkeypatch.setenv("SMALL_KEY", "sk-scripted")
    (tmp_path / "prices.toml").write_text(PRICES)


@asynccontextmanager
async def _models(
    endpoint: ScriptedEndpoint, *, listed: Sequence[str] = ("big", "small"), **given: Any
) -> AsyncIterator[Models]:
    providers = {
        name: Provider(
            name=name,
            base_url=endpoint.base_url,
            key_variables=(f"{name.upper()}_KEY",),
            service_tiers=TIERS if name == "big" else frozenset(),
        )
        for name in listed
    }
    settings = load_settings(**{"target": "big:target", "prices": Path("prices.toml"), **given})
    models = Models(settings, providers=providers, sleep=Sleeps(over=True))
    try:
        yield models
    finally:
        await models.aclose()
        await models.aclose()


async def _ask(model: Chat) -> str:
    return (await model.complete(ASK)).text


async def test_a_model_is_asked_at_its_provider_by_its_own_name() -> None:
    async with ScriptedEndpoint([Say("fine")], model=None) as endpoint, _models(endpoint, hedge=0) as models:
        model = models.target(CallAccount())
        assert await _ask(model) == "fine"
        assert model.name == "target"
    assert endpoint.requests[0].body["model"] == "target"
    assert "service_tier" not in endpoint.requests[0].body


async def test_all_that_is_done_behind_a_call_is_in_the_account() -> None:
    down = Fail(status=503, message="down")
    script: list[Scripted] = [down, down, Say("a", "b")]
    async with (
        ScriptedEndpoint(script, model=None) as endpoint,
        _models(endpoint, fallback=("small:spare",), model_retries=1, hedge=0) as models,
    ):
        heard: list[Any] = []
        account = CallAccount(prices="own")
        account.listener = heard.append
        assert await _ask(models.target(account)) == "ab"
    assert [request.body["model"] for request in endpoint.requests] == ["target", "target", "spare"]
    shown = account.as_json()["target"]
    told = {"requests": 3, "answered": 1, "failed": 2, "retries": 1, "fallbacks": 1, "given_up": 0, "hedges": 0}
    assert told.items() <= shown.items()
    assert shown["cost_usd"] == account.cost_usd == 2.0
    assert [event.model for event in heard] == [*["big:target"] * 4, "small:spare"]
    assert str(account) == "3 requests, 1 retried, 1 passed to another model; about $2.0000 (own)"


async def test_what_lost_is_billed_too() -> None:
    arrived = [asyncio.Event(), asyncio.Event()]

    def script(_: Body) -> Scripted:
        number = 1 if arrived[0].is_set() else 0
        arrived[number].set()
        return Say("fine") if number else Say(asyncio.Event())

    async with ScriptedEndpoint(script, model=None) as endpoint, _models(endpoint) as models:
        account = CallAccount()
        assert await _ask(models.target(account)) == "fine"
    shown = account.as_json()["target"]
    assert (shown["hedges"], shown["hedges_won"], shown["given_up"]) == (1, 1, 1)
    assert shown["given_up_tokens"] == {"in": 3, "out": 1}
    assert account.cost_usd == 6.0, "three tokens of the prompt, twice"


async def test_a_cost_of_which_a_part_is_not_known_is_not_told() -> None:
    script = [Say("a"), Say("b", fields={"usage": None})]
    async with ScriptedEndpoint(script, model=None) as endpoint, _models(endpoint, hedge=0) as models:
        account = CallAccount()
        model = models.target(account)
        await _ask(model)
        assert account.cost_usd == 3.0
        await _ask(model)
    assert account.cost_usd is None
    assert account.as_json()["target"]["cost_usd"] is None
    assert str(account).endswith("cost unknown")


async def test_a_tier_is_asked_for_where_it_is_offered() -> None:
    async with (
        ScriptedEndpoint([Say("a"), Say("b")], model=None) as endpoint,
        _models(endpoint, service_tier="priority", draft="small:draft", hedge=0) as models,
    ):
        await _ask(models.target(CallAccount()))
        await _ask(models.chat("small:draft", role=DRAFT, listener=CallAccount()))
    assert [request.body.get("service_tier") for request in endpoint.requests] == ["priority", None]


async def test_a_target_whose_provider_has_no_tiers_is_refused_with_one() -> None:
    async with (
        ScriptedEndpoint(model=None) as endpoint,
        _models(endpoint, target="small:target", service_tier="flex") as models,
    ):
        with pytest.raises(ConfigurationError, match="small has no service tier flex") as caught:
            models.target(CallAccount())
        assert "of big" in caught.value.hint


async def test_any_other_endpoint_is_passed_the_tier_and_never_asked_twice() -> None:
    async with (
        ScriptedEndpoint([Say("a")], model=None) as endpoint,
        _models(
            endpoint, listed=(), target="mine", base_url=endpoint.base_url, api_key="sk-scripted", service_tier="flex"
        ) as models,
    ):
        await _ask(models.target(CallAccount()))
        assert [line.hedging["target"].share for line in models._lines.values()] == [0.0]
    assert endpoint.requests[0].body["service_tier"] == "flex"


@pytest.mark.parametrize(
    ("given", "share"),
    [
        ({}, 0.1),
        ({"hedge": 0.05}, 0.05),
        ({"service_tier": "flex"}, 0.0),
        ({"service_tier": "flex", "hedge": 0.1}, 0.1),
    ],
)
async def test_what_is_slow_on_purpose_is_not_late(given: dict[str, Any], share: float) -> None:
    async with ScriptedEndpoint(model=None) as endpoint, _models(endpoint, **given) as models:
        models.target(CallAccount())
        assert models._lines["big:target"].hedging["target"].share == share


async def test_a_limit_on_the_first_token_makes_streams_of_whole_calls() -> None:
    async with ScriptedEndpoint([Say("a")], model=None) as endpoint, _models(endpoint, first_token_seconds=9) as models:
        assert await _ask(models.target(CallAccount())) == "a"
    assert endpoint.requests[0].body["stream"] is True


@pytest.mark.parametrize("limit", [1, {"big": 1}])
async def test_the_models_of_one_provider_share_its_rate_limit(limit: Any) -> None:
    async with (
        ScriptedEndpoint([Say("a"), Say("b")], model=None) as endpoint,
        _models(endpoint, model_calls=limit, hedge=0) as models,
    ):
        account = CallAccount()
        await _ask(models.target(account))
        second = asyncio.create_task(_ask(models.chat("big:draft", role=DRAFT, listener=account)))
        for _ in range(100):
            await asyncio.sleep(0)
        assert len(endpoint.requests) == 1
        second.cancel()
        with pytest.raises(asyncio.CancelledError):
            await second
    assert account.as_json()["target"]["requests"] == 1
    assert "draft" not in account.as_json(), "what was never sent is not counted"


async def test_what_is_learned_of_a_model_serves_the_next_question() -> None:
    down = Fail(status=503, message="down")
    async with (
        ScriptedEndpoint([down] * 3, model=None) as endpoint,
        _models(endpoint, model_retries=0, hedge=0) as models,
    ):
        for _ in range(4):
            with pytest.raises(Exception, match=r"down|left alone"):
                await _ask(models.target(CallAccount()))
    assert len(endpoint.requests) == 3
