"""Real loads at a host: how many, how fast, and what becomes of one that comes too soon."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress

import pytest

from browser.observation import Document
from browser.slots.real_loads import RealLoads
from browser.speculation.courtesy import Courtesy

URL = "https://example.org/a"


def real_loads(*, loads: int = 6, loads_per_second: float | None = None, courtesy: Courtesy | None = None) -> RealLoads:
    return RealLoads(
        courtesy=courtesy or Courtesy(loads_per_second=loads_per_second),
        loads=loads,
        loads_per_second=loads_per_second,
        max_retry_after_seconds=10.0,
        clock=lambda: 1_767_268_800.0,  # Thu, 01 Jan 2026 12:00:00 GMT
    )


def answer(status: int = 200, retry_after: str | None = None) -> Document:
    headers = {} if retry_after is None else {"retry-after": retry_after}
    return Document(requested_url=URL, url=URL, status=status, headers=headers)


class Server:
    """Gives these answers, one after the other; each load waits until it is let through."""

    def __init__(self, *answers: Document, held: bool = False) -> None:
        self._answers = list(answers)
        self.gate = asyncio.Semaphore(0 if held else 100)
        self.begun = 0

    async def load(self) -> Document:
        self.begun += 1
        await self.gate.acquire()
        return self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]


async def turns(until: Callable[[], bool]) -> None:
    async with asyncio.timeout(5):
        while not until():
            await asyncio.sleep(0)


async def test_a_load_is_not_held_up() -> None:
    loads = real_loads()
    running = loads.run(URL, Server(answer()).load)
    with pytest.raises(StopIteration) as ended:
        running.send(None)  # it ends without having waited for anything
    assert ended.value.value.status == 200


async def test_so_many_at_once_at_one_host() -> None:
    loads, server = real_loads(loads=2), Server(answer(), held=True)
    tasks = [asyncio.create_task(loads.run(f"https://example.org/{number}", server.load)) for number in range(3)]
    elsewhere = asyncio.create_task(loads.run("https://example.org:8443/", server.load))
    await turns(lambda: server.begun == 3)
    assert (server.begun, loads.running) == (3, 4), "the third at one host waits"
    tasks[0].cancel()
    await turns(lambda: server.begun == 4)
    for _ in range(4):
        server.gate.release()
    await asyncio.wait([*tasks, elsewhere])
    assert repr(loads) == "<RealLoads running=0 hosts=2 retries=0>"


async def test_a_cancelled_load_that_waits_for_its_host_leaves_nothing() -> None:
    loads, server = real_loads(loads=1), Server(answer(), held=True)
    first = asyncio.create_task(loads.run(URL, server.load))
    second = asyncio.create_task(loads.run(URL, server.load))
    await turns(lambda: loads.running == 2)
    second.cancel()
    with suppress(asyncio.CancelledError):
        await second
    server.gate.release()
    await first
    assert (loads.running, server.begun) == (0, 1)


async def test_no_faster_than_the_rate() -> None:
    loop, loads, server = asyncio.get_running_loop(), real_loads(loads_per_second=20.0), Server(answer())
    begun = []
    for _ in range(25):
        await loads.run(URL, server.load)
        begun.append(loop.time())
    # The throttle looks at the monotonic clock of the system.
    assert begun[19] - begun[0] < 1.0 < begun[20] - begun[0]


@pytest.mark.parametrize("status", [429, 503])
@pytest.mark.parametrize("retry_after", ["0", "Thu, 01 Jan 2026 11:59:00 GMT"])
async def test_a_load_that_came_too_soon_is_tried_once_more(status: int, retry_after: str) -> None:
    courtesy = Courtesy()
    loads, server = real_loads(courtesy=courtesy), Server(answer(status, retry_after), answer())
    document = await loads.run(URL, server.load)
    assert (document.status, server.begun, loads.retries) == (200, 2, 1)
    assert document.notes == (f"The site answered {status} first, and was asked again after the 0 s it wanted.",)
    assert courtesy.refusal(URL) == "retry-after", "meanwhile nothing was to be loaded ahead from there"


async def test_it_waits_as_long_as_it_is_told() -> None:
    loads, server = real_loads(), Server(answer(429, "1"), answer())
    loop = asyncio.get_running_loop()
    started_seconds = loop.time()
    assert "1 s" in (await loads.run(URL, server.load)).notes[0]
    assert loop.time() - started_seconds >= 1.0


@pytest.mark.parametrize(
    ("status", "retry_after"), [(429, "11"), (429, None), (429, "soon"), (500, "0"), (200, "0"), (None, None)]
)
async def test_other_answers_are_handed_over_as_they_are(status: int, retry_after: str | None) -> None:
    loads, server = real_loads(), Server(answer(status, retry_after))
    document = await loads.run(URL, server.load)
    assert (document.status, document.notes, server.begun) == (status, (), 1)


async def test_it_is_tried_only_once_more() -> None:
    loads, server = real_loads(), Server(answer(429, "0"))
    document = await loads.run(URL, server.load)
    assert (document.status, server.begun) == (429, 2)


async def test_a_load_cancelled_while_it_waits_for_the_time_it_was_told_leaves_nothing() -> None:
    loads, server = real_loads(), Server(answer(429, "9"))
    task = asyncio.create_task(loads.run(URL, server.load))
    await turns(lambda: server.begun == 1 and loads.running == 0)
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task
    assert repr(loads) == "<RealLoads running=0 hosts=1 retries=0>"


async def test_what_is_no_address_of_a_host_is_left_to_the_browser() -> None:
    loads, server = real_loads(), Server(answer())
    assert (await loads.run("http://[", server.load)).status == 200
    assert loads.running == 0
