"""A second request where the first is late: when it is sent, which one wins, and what becomes of the other."""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncIterator, Sequence
from typing import Any

import pytest
import pytest_asyncio
from hypothesis import given
from hypothesis import strategies as st

from agent.errors import ModelUnreachable, ModelUnreadable
from agent.events import CallKind
from agent.models.chat import Chat
from agent.models.hedged_model import HedgedModel
from agent.models.hedging import Hedging
from agent.models.metered_model import MeteredModel
from agent.models.reply import Message
from tests.agent.calls import Heard, Sleeps
from tests.endpoints.connected import Wire, wire
from tests.endpoints.scripted import Fail, Say, Scripted

ASK = [Message(role="user", content="how are you")]
PATIENCE_SECONDS = 10


@pytest_asyncio.fixture(scope="module")
async def line() -> AsyncIterator[Wire]:
    async with wire() as opened:
        yield opened


def _hedged(model: Chat, heard: Heard, sleeps: Sleeps, hedging: Hedging | None = None) -> HedgedModel:
    log = heard.log()
    return HedgedModel(MeteredModel(model, log), hedging or Hedging(), log, sleep=sleeps)


class _Script:
    """Gives each request its entry, and tells when so many have arrived."""

    def __init__(self, *entries: Scripted) -> None:
        self._entries = list(entries)
        self.arrived = [asyncio.Event() for _ in entries]

    def __call__(self, _: dict[str, Any]) -> Scripted:
        number = next(index for index, event in enumerate(self.arrived) if not event.is_set())
        self.arrived[number].set()
        return self._entries[number]

    async def has(self, number: int) -> None:
        await asyncio.wait_for(self.arrived[number - 1].wait(), PATIENCE_SECONDS)


async def _complete(model: Chat) -> str:
    return (await model.complete(ASK)).text


async def _read_all(model: Chat) -> str:
    async with model.stream(ASK) as reply:
        return "".join([piece async for piece in reply])


WAYS = pytest.mark.parametrize("way", [_complete, _read_all], ids=["whole", "stream"])


@WAYS
async def test_a_first_request_in_time_is_the_only_one(way: Any, line: Wire) -> None:
    heard, sleeps = Heard(), Sleeps()
    model = line.play([Say("first")])
    assert await way(_hedged(model, heard, sleeps)) == "first"
    assert len(line.requests) == 1
    assert heard.kinds == [CallKind.REPLY]
    assert sleeps.asked == [30.0], "nothing was measured yet"


@WAYS
async def test_the_second_wins_and_the_first_is_cancelled_and_counted(way: Any, line: Wire) -> None:
    heard, sleeps = Heard(), Sleeps()
    script = _Script(Say(asyncio.Event()), Say("sec", "ond"))
    model = line.play(script)
    task = asyncio.create_task(way(_hedged(model, heard, sleeps)))
    await script.has(1)
    assert len(line.requests) == 1
    sleeps.end()
    assert await task == "second"
    first, second = line.requests
    await asyncio.wait_for(first.closed.wait(), PATIENCE_SECONDS)
    assert (first.outcome, second.outcome) == ("disconnected", "served")
    assert first.body == second.body
    assert heard.kinds.count(CallKind.HEDGE) == heard.kinds.count(CallKind.SECOND) == 1
    lost, won = heard.one(CallKind.DROP), heard.one(CallKind.REPLY)
    assert won.usage is not None
    assert lost.usage is not None
    assert lost.estimated
    assert not won.estimated
    assert lost.usage.input_tokens > 0


@WAYS
async def test_the_first_may_still_win(way: Any, line: Wire) -> None:
    heard, sleeps, gate = Heard(), Sleeps(over=True), asyncio.Event()
    script = _Script(Say(gate, "first"), Say(asyncio.Event()))
    model = line.play(script)
    task = asyncio.create_task(way(_hedged(model, heard, sleeps)))
    await script.has(2)
    gate.set()
    assert await task == "first"
    await asyncio.wait_for(line.requests[1].closed.wait(), PATIENCE_SECONDS)
    assert line.requests[1].outcome == "disconnected"
    assert CallKind.SECOND not in heard.kinds
    assert heard.one(CallKind.DROP).usage is not None


@WAYS
@pytest.mark.parametrize("failing", [0, 1])
async def test_one_good_answer_is_enough(way: Any, failing: int, line: Wire) -> None:
    heard, sleeps, gate = Heard(), Sleeps(over=True), asyncio.Event()
    entries: list[Scripted] = [Say(gate, "good"), Say(gate, "good")]
    entries[failing] = Fail(status=503) if failing else Say(asyncio.Event())
    script = _Script(*entries)
    model = line.play(script)
    task = asyncio.create_task(way(_hedged(model, heard, sleeps)))
    await script.has(2)
    gate.set()
    assert await task == "good"


async def test_a_first_request_that_fails_is_not_hedged(line: Wire) -> None:
    heard, sleeps = Heard(), Sleeps()
    model = line.play([Fail(status=503)])
    with pytest.raises(ModelUnreachable):
        await _complete(_hedged(model, heard, sleeps))
    assert heard.kinds == [CallKind.FAIL]


async def test_where_both_fail_the_first_ones_reason_is_told(line: Wire) -> None:
    heard, sleeps, gate = Heard(), Sleeps(over=True), asyncio.Event()

    script = _Script(Say(gate, "x", fields={"choices": []}), Fail(status=400, message="the second"))
    model = line.play(script)
    task = asyncio.create_task(_complete(_hedged(model, heard, sleeps)))
    await script.has(2)
    await asyncio.wait_for(line.requests[1].closed.wait(), PATIENCE_SECONDS)
    gate.set()
    with pytest.raises(ModelUnreadable, match="not as a chat model does"):
        await task


@WAYS
async def test_cancelling_the_call_cancels_both_requests(way: Any, line: Wire) -> None:
    heard, sleeps = Heard(), Sleeps(over=True)
    script = _Script(Say(asyncio.Event()), Say(asyncio.Event()))
    model = line.play(script)
    task = asyncio.create_task(way(_hedged(model, heard, sleeps)))
    await script.has(2)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    for request in line.requests:
        await asyncio.wait_for(request.closed.wait(), PATIENCE_SECONDS)
        assert request.outcome == "disconnected"
    assert heard.kinds.count(CallKind.DROP) == 2, "both may be billed"
    assert _own_tasks() == set()


async def test_cancelling_while_only_the_first_runs_leaves_nothing(line: Wire) -> None:
    heard, sleeps = Heard(), Sleeps()
    script = _Script(Say(asyncio.Event()))
    model = line.play(script)
    task = asyncio.create_task(_complete(_hedged(model, heard, sleeps)))
    await script.has(1)
    await sleeps.begun.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await asyncio.wait_for(line.requests[0].closed.wait(), PATIENCE_SECONDS)
    assert heard.kinds == [CallKind.DROP]
    assert _own_tasks() == set()


async def test_a_second_request_waits_for_its_turn_and_is_not_counted_before(line: Wire) -> None:
    class Turn:
        """A rate limit that lets nobody through."""

        def __init__(self) -> None:
            self.asked = asyncio.Event()

        async def __aenter__(self) -> None:
            self.asked.set()
            await asyncio.Event().wait()

        async def __aexit__(self, *_: object) -> None: ...

    heard, gate, turn, hedging = Heard(), asyncio.Event(), Turn(), Hedging(share=0.5)
    script = _Script(Say(gate, "first"))
    model = line.play(script)
    log = heard.log()
    hedged = HedgedModel(model, hedging, log, throttle=turn, sleep=Sleeps(over=True))
    task = asyncio.create_task(_complete(hedged))
    await asyncio.wait_for(turn.asked.wait(), PATIENCE_SECONDS)
    gate.set()
    assert await task == "first"
    assert heard.kinds == []
    assert hedging.spend(), "the right to it was given back"


async def test_an_error_that_no_model_raises_is_not_waited_out(line: Wire) -> None:
    class Broken:
        name = "broken"

        async def complete(self, *_: object, **__: object) -> Any:
            raise ZeroDivisionError

    broken: Any = Broken()
    with pytest.raises(ZeroDivisionError):
        await _complete(HedgedModel(broken, Hedging(), Heard().log(), sleep=Sleeps()))


@given(st.lists(st.floats(min_value=0.001, max_value=1000), min_size=20, max_size=60))
def test_the_delay_is_the_percentile_that_the_share_pays_for(latencies: list[float]) -> None:
    hedging = Hedging(share=0.1, window=200)
    for seconds in latencies:
        hedging.measure(seconds)
    late = [seconds for seconds in latencies if seconds > hedging.delay_seconds]
    assert len(late) <= 0.08 * len(latencies)
    assert hedging.delay_seconds == sorted(latencies)[math.ceil(0.92 * len(latencies)) - 1]


def test_until_enough_is_measured_the_start_value_holds() -> None:
    hedging = Hedging(start_seconds=7, enough=3)
    for seconds in (1.0, 2.0):
        hedging.measure(seconds)
        assert hedging.delay_seconds == 7
    hedging.measure(3.0)
    assert hedging.delay_seconds == 3.0


@given(st.floats(min_value=0, max_value=0.5), st.lists(st.booleans(), max_size=300))
def test_second_requests_never_exceed_the_share(share: float, late: Sequence[bool]) -> None:
    hedging, sent = Hedging(share=share), 0
    for calls, is_late in enumerate(late, 1):
        hedging.begin()
        sent += is_late and hedging.spend()
        assert sent <= share * calls + 1 + 1e-6


def _own_tasks() -> set[str]:
    names = {"HedgedModel", "_Race", "attempt"}
    return {str(task) for task in asyncio.all_tasks() if any(name in str(task.get_coro()) for name in names)}
