"""Retries, pauses, other models: what is done about a model that fails, and that all of it is told."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio

from agent.errors import ModelLate, ModelPaused, ModelRefused, ModelUnreachable
from agent.events import CallKind
from agent.models.chat import Chat
from agent.models.circuit_breaker import BreakerModel, CircuitBreaker
from agent.models.fallback_model import Candidate, FallbackModel
from agent.models.metered_model import MeteredModel
from agent.models.model import CallLimits
from agent.models.reply import Message
from agent.models.retrying_model import RetryingModel, RetryOptions
from agent.models.streamed_model import StreamedModel
from agent.target import Usage
from tests.agent.calls import Heard, Sleeps
from tests.endpoints.connected import Wire, connected, wire
from tests.endpoints.scripted import Drop, Fail, Hang, Say, Scripted, ScriptedEndpoint

ASK = [Message(role="user", content="how are you")]
PATIENCE_SECONDS = 10
DOWN = Fail(status=503, message="down")


@pytest_asyncio.fixture(scope="module")
async def line() -> AsyncIterator[Wire]:
    async with wire() as opened:
        yield opened


@pytest.fixture
def heard() -> Heard:
    return Heard()


async def _complete(model: Chat) -> str:
    return (await model.complete(ASK)).text


async def _read_all(model: Chat) -> str:
    async with model.stream(ASK) as reply:
        return "".join([piece async for piece in reply])


WAYS = pytest.mark.parametrize("way", [_complete, _read_all], ids=["whole", "stream"])


class TestRetrying:
    """Tries again where that may help, not sooner than the endpoint asks for."""

    @WAYS
    async def test_a_failing_endpoint_is_tried_again(self, line: Wire, heard: Heard, way: Any) -> None:
        model, sleeps = line.play([DOWN, Fail(status=429), Say("fine")]), Sleeps(over=True)
        assert await way(RetryingModel(model, heard.log(), sleep=sleeps)) == "fine"
        assert heard.kinds == [CallKind.RETRY, CallKind.RETRY]
        assert "down" in heard.calls[0].reason
        assert [call.seconds for call in heard.calls] == sleeps.asked
        assert 0 <= sleeps.asked[0] <= 1.0
        assert 0 <= sleeps.asked[1] <= 2.0

    async def test_after_the_last_retry_its_error_is_raised(self, line: Wire, heard: Heard) -> None:
        model = line.play([DOWN, DOWN, Fail(status=503, message="still down")])
        with pytest.raises(ModelUnreachable, match="still down"):
            await _complete(RetryingModel(model, heard.log(), sleep=Sleeps(over=True)))
        assert len(line.requests) == 3

    async def test_an_endpoint_is_left_alone_for_as_long_as_it_asks(self, line: Wire, heard: Heard) -> None:
        model, sleeps = line.play([Fail(status=429, headers={"Retry-After": "7"}), Say("fine")]), Sleeps(over=True)
        assert await _complete(RetryingModel(model, heard.log(), sleep=sleeps)) == "fine"
        assert 7.0 <= sleeps.asked[0] <= 8.0

    async def test_one_that_asks_for_too_long_a_rest_is_given_up(self, line: Wire, heard: Heard) -> None:
        model = line.play([Fail(status=429, headers={"Retry-After": "3600"})])
        with pytest.raises(ModelUnreachable) as caught:
            await _complete(RetryingModel(model, heard.log(), sleep=Sleeps(over=True)))
        assert caught.value.retry_after_seconds == 3600.0
        assert heard.kinds == []

    async def test_no_retries_are_none(self, line: Wire, heard: Heard) -> None:
        model = line.play([DOWN])
        with pytest.raises(ModelUnreachable):
            await _complete(RetryingModel(model, heard.log(), options=RetryOptions(max_retries=0)))
        assert len(line.requests) == 1

    async def test_what_is_late_is_not_tried_again_where_another_model_can_be_asked(self, heard: Heard) -> None:
        options = RetryOptions(again_when_late=False)
        async with ScriptedEndpoint([Hang()]) as endpoint:
            async with connected(endpoint, limits=CallLimits(total_seconds=0.05)) as model:
                with pytest.raises(ModelLate):
                    await _complete(RetryingModel(model, heard.log(), options=options, sleep=Sleeps(over=True)))
            assert (len(endpoint.requests), heard.kinds) == (1, [])

    async def test_a_reply_that_breaks_off_is_tried_again_where_nobody_has_read_of_it(
        self, line: Wire, heard: Heard
    ) -> None:
        model = line.play([Drop("half a"), Say("a whole")])
        assert await _complete(RetryingModel(StreamedModel(model), heard.log(), sleep=Sleeps(over=True))) == "a whole"

    async def test_a_stream_that_breaks_off_while_it_is_read_is_not(self, line: Wire, heard: Heard) -> None:
        model = line.play([Drop("half a")])
        with pytest.raises(ModelUnreachable, match="broke off"):
            await _read_all(RetryingModel(model, heard.log(), sleep=Sleeps(over=True)))
        assert heard.kinds == []

    async def test_cancelling_ends_the_wait(self, line: Wire, heard: Heard) -> None:
        model, sleeps = line.play([DOWN]), Sleeps()
        task = asyncio.create_task(_complete(RetryingModel(model, heard.log(), sleep=sleeps)))
        await asyncio.wait_for(sleeps.begun.wait(), PATIENCE_SECONDS)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert len(line.requests) == 1


class _Clock:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


class TestBreaker:
    """Leaves a model alone that failed too often in a row, and then tries it with one call."""

    def _paused(self, line: Wire, heard: Heard, *script: Scripted) -> tuple[BreakerModel, CircuitBreaker, _Clock]:
        clock = _Clock()
        breaker = CircuitBreaker(max_failures=2, pause_seconds=30, clock=clock)
        return BreakerModel(line.play([DOWN, DOWN, *script]), breaker, heard.log()), breaker, clock

    async def _fail_twice(self, model: Chat) -> None:
        for _ in range(2):
            with pytest.raises(ModelUnreachable):
                await _complete(model)

    @WAYS
    async def test_it_opens_probes_and_closes(self, line: Wire, heard: Heard, way: Any) -> None:
        model, breaker, clock = self._paused(line, heard, Say("well again"), Say("fine"))
        await self._fail_twice(model)
        assert heard.kinds == [CallKind.PAUSE]
        assert "down" in heard.calls[0].reason
        with pytest.raises(ModelPaused, match=r"failed 2 times in a row .* 30 s") as caught:
            await way(model)
        assert "--fallback" in caught.value.hint
        assert len(line.requests) == 2, "nothing was sent"
        clock.seconds = 31
        assert await way(model) == "well again"
        assert heard.kinds == [CallKind.PAUSE, CallKind.PROBE, CallKind.RESUME]
        assert await way(model) == "fine"
        assert breaker.state == "closed"

    async def test_a_probe_that_fails_pauses_again(self, line: Wire, heard: Heard) -> None:
        model, breaker, clock = self._paused(line, heard, DOWN)
        await self._fail_twice(model)
        clock.seconds = 31
        with pytest.raises(ModelUnreachable, match="down"):
            await _complete(model)
        assert heard.kinds == [CallKind.PAUSE, CallKind.PROBE, CallKind.PAUSE]
        assert breaker.state == "open"

    async def test_only_one_call_probes(self, line: Wire, heard: Heard) -> None:
        gate = asyncio.Event()
        model, breaker, clock = self._paused(line, heard, Say(gate, "well"))
        await self._fail_twice(model)
        clock.seconds = 31
        probe = asyncio.create_task(_complete(model))
        while breaker.state != "probing":
            await asyncio.sleep(0)
        with pytest.raises(ModelPaused):
            await _complete(model)
        gate.set()
        assert await probe == "well"

    @pytest.mark.parametrize("entry", [Fail(status=400), Hang()], ids=["refused", "cancelled"])
    async def test_a_probe_that_shows_nothing_leaves_the_next_one_to_try(
        self, line: Wire, heard: Heard, entry: Scripted
    ) -> None:
        model, breaker, clock = self._paused(line, heard, entry, Say("well"))
        await self._fail_twice(model)
        clock.seconds = 31
        probe = asyncio.create_task(_complete(model))
        if isinstance(entry, Hang):
            while len(line.requests) < 3:
                await asyncio.sleep(0)
            probe.cancel()
        with pytest.raises((ModelRefused, asyncio.CancelledError)):
            await probe
        assert breaker.state == "open"
        assert await _complete(model) == "well"

    async def test_a_success_in_between_counts_from_zero(self, line: Wire, heard: Heard) -> None:
        model = BreakerModel(line.play([DOWN, Say("a"), DOWN, Say("b")]), CircuitBreaker(max_failures=2), heard.log())
        for wanted in (None, "a", None, "b"):
            if wanted is None:
                with pytest.raises(ModelUnreachable):
                    await _complete(model)
            else:
                assert await _complete(model) == wanted
        assert heard.kinds == []


class TestFallback:
    """Asks the next model where one fails, and says so."""

    @WAYS
    async def test_the_next_one_answers(self, line: Wire, heard: Heard, way: Any) -> None:
        model = line.play([DOWN, Say("from the second")])
        names = ("one", "two")
        candidates = [Candidate(model=model, log=heard.log(model=name)) for name in names]
        assert await way(FallbackModel(candidates)) == "from the second"
        fell = heard.one(CallKind.FALLBACK)
        assert fell.model == "one"
        assert "down" in fell.reason

    async def test_where_all_fail_the_last_ones_error_is_raised(self, line: Wire, heard: Heard) -> None:
        model = line.play([DOWN, Fail(status=401)])
        with pytest.raises(ModelRefused, match="key"):
            await _complete(FallbackModel([Candidate(model=model, log=heard.log())] * 2))

    async def test_a_paused_model_costs_no_time(self, line: Wire, heard: Heard) -> None:
        model, breaker = line.play([DOWN, *[Say("other")] * 2]), CircuitBreaker(max_failures=1)
        first = Candidate(model=BreakerModel(model, breaker, heard.log()), log=heard.log())
        chain = FallbackModel([first, Candidate(model=model, log=heard.log())])
        assert [await _complete(chain) for _ in range(2)] == ["other", "other"]
        assert len(line.requests) == 3
        assert heard.kinds == [CallKind.PAUSE, CallKind.FALLBACK, CallKind.FALLBACK]


class TestMeter:
    """Each request is told once, with what it took; what is not known is marked."""

    def _metered(self, model: Chat, heard: Heard) -> MeteredModel:
        return MeteredModel(model, heard.log(), price=lambda usage, _: usage.output_tokens / 1000)

    @WAYS
    async def test_an_answer_tells_its_tokens_and_their_price(self, line: Wire, heard: Heard, way: Any) -> None:
        model = line.play([Say("one", "two", fields={"service_tier": "flex"})])
        await way(self._metered(model, heard))
        told = heard.one(CallKind.REPLY)
        assert told.usage == Usage(input_tokens=3, output_tokens=2)
        assert (told.cost_usd, told.service_tier, told.estimated) == (0.002, "flex", False)

    @WAYS
    async def test_an_answer_without_tokens_has_no_price(self, line: Wire, heard: Heard, way: Any) -> None:
        await way(self._metered(line.play([Say("one", fields={"usage": None})]), heard))
        told = heard.one(CallKind.REPLY)
        assert (told.usage, told.cost_usd) == (None, None)

    @WAYS
    async def test_a_refusal_costs_nothing(self, line: Wire, heard: Heard, way: Any) -> None:
        with pytest.raises(ModelUnreachable):
            await way(self._metered(line.play([DOWN]), heard))
        assert heard.kinds == [CallKind.FAIL]
        assert heard.calls[0].usage is None

    async def test_a_stream_that_is_left_is_estimated_by_what_was_written(self, line: Wire, heard: Heard) -> None:
        metered = self._metered(line.play([Say("one", "two", "three"), Say("1", "2", asyncio.Event())]), heard)
        await _read_all(metered)
        async with metered.stream(ASK) as reply:
            assert [await anext(reply), await anext(reply)] == ["1", "2"]
        told = heard.one(CallKind.DROP)
        assert told.usage == Usage(input_tokens=3, output_tokens=2), "the same prompt took three tokens before"
        assert told.estimated

    async def test_a_request_that_was_late_may_be_billed(self, heard: Heard) -> None:
        limits = CallLimits(total_seconds=0.05)
        async with ScriptedEndpoint([Hang()]) as endpoint, connected(endpoint, limits=limits) as model:
            with pytest.raises(ModelLate):
                await _complete(self._metered(model, heard))
        told = heard.one(CallKind.DROP)
        assert told.estimated
        assert told.usage == Usage(input_tokens=3), "eleven characters, four to a token"

    async def test_who_reads_may_fail_after_the_end(self, line: Wire, heard: Heard) -> None:
        metered = self._metered(line.play([Say("one")]), heard)

        async def stumble() -> None:
            async with metered.stream(ASK) as reply:
                _ = [piece async for piece in reply]
                raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            await stumble()
        assert heard.kinds == [CallKind.REPLY]
