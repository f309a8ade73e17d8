"""SQL: while one month's report is read, the next month's is computed."""

import asyncio
import sqlite3
import tempfile
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

from speccache import Account, Guess, SpeculativeEnvironment, Step
from speccache.sqlite_environment import Query, Rows, sqlite_environment

SALES = """CREATE TABLE sale AS WITH n(i) AS (VALUES (0) UNION ALL SELECT i + 1 FROM n LIMIT 12000)
           SELECT i % 12 AS month, i % 7 AS price FROM n"""
REPORT = "SELECT month, sum(a.price * b.price) FROM sale a JOIN sale b USING (month) WHERE month = ?"


class NextMonth:
    name = "next-month"

    async def predict(self, trajectory: Sequence[Step[Query, Rows]]) -> AsyncIterator[Guess[Query]]:
        yield Guess(action=Query(REPORT, (len(trajectory) + 1,)), predictor=self.name, rank=1)


async def main(path: Path) -> None:
    shop = sqlite3.connect(path)
    shop.execute(SALES)
    shop.close()
    account = Account()
    environment = SpeculativeEnvironment(sqlite_environment(path), predictors=[NextMonth()], listener=account)
    for month in range(1, 5):
        print(*(await environment.step(Query(REPORT, (month,)))).rows[0])
        await asyncio.sleep(0.6)  # a model would be thinking here
    await environment.aclose()
    print(f"{account.hits} hits, {account.misses} misses; {account.hidden_seconds:.2f} s saved")


with tempfile.TemporaryDirectory() as folder:
    asyncio.run(main(Path(folder) / "shop.db"))
