"""HTTP JSON API: while one page of a list is read, the next one is fetched."""

import asyncio
from collections.abc import AsyncIterator, Sequence

from speccache import Account, Guess, SpeculativeEnvironment, Step
from speccache.json_api_environment import Call, Reply, json_api_environment


class FollowNext:
    name = "follow-next"

    async def predict(self, trajectory: Sequence[Step[Call, Reply]]) -> AsyncIterator[Guess[Call]]:
        yield Guess(action=Call(trajectory[-1].observation.json()["next"]), predictor=self.name, rank=1)


async def slow_api(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    number = int((await reader.readuntil(b"\r\n\r\n")).split()[1].rpartition(b"/")[2])
    await asyncio.sleep(0.2)
    writer.write(b'HTTP/1.1 200 OK\r\n\r\n{"page": %d, "next": "/pages/%d"}' % (number, number + 1))
    writer.close()


async def main() -> None:
    account, call = Account(), Call("/pages/1")
    async with await asyncio.start_server(slow_api, "127.0.0.1", 0) as server:
        api = json_api_environment(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}")
        environment = SpeculativeEnvironment(api, predictors=[FollowNext()], listener=account)
        for _ in range(4):
            reply = await environment.step(call)
            print(reply.text)
            await asyncio.sleep(0.4)  # a model would be thinking here
            call = Call(reply.json()["next"])
        await environment.aclose()
    print(f"{account.hits} hits, {account.misses} misses; {account.hidden_seconds:.2f} s saved")


asyncio.run(main())
