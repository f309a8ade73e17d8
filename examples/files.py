"""Files on a slow disk: while one file is read, the next one is fetched."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import speccache
from speccache import Account, Guess, SpeculativeEnvironment, Step
from speccache.file_environment import FileAction, FileText, ReadFile, file_environment
from speccache.read_environment import ReadEnvironment

FILES = [ReadFile(path) for path in ("environment.py", "speculator.py", "flight.py", "store.py", "account.py")]


class NextFile:
    name = "next-file"

    async def predict(self, trajectory: Sequence[Step[FileAction, FileText]]) -> AsyncIterator[Guess[FileAction]]:
        yield Guess(action=FILES[len(trajectory)], predictor=self.name, rank=1)


async def main() -> None:
    account, disk = Account(), file_environment(Path(speccache.__file__).parent)

    async def read_slowly(action: FileAction) -> FileText:
        await asyncio.sleep(0.2)
        return await disk.step(action)

    slow_disk = ReadEnvironment(read_slowly, key=disk.key, close=disk.aclose)
    environment = SpeculativeEnvironment(slow_disk, predictors=[NextFile()], listener=account)
    for action in FILES[:4]:
        print((await environment.step(action)).path)
        await asyncio.sleep(0.4)  # a model would be thinking here
    await environment.aclose()
    print(f"{account.hits} hits, {account.misses} misses; {account.hidden_seconds:.2f} s saved")


asyncio.run(main())
