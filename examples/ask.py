"""The agent from Python: two questions side by side on one pool of browsers, and one that is followed as it runs."""

import asyncio

from agent import Agent, Question
from agent.events import Decided
from evals.site import LatencyModel, SiteServer, build_site


async def main() -> None:
    quick = LatencyModel(time_scale=0.01)
    async with SiteServer(build_site(), latency=quick) as site, Agent.open(target="embedded") as agent:
        asked = ["Who founded the Merrowdale Institute?", "When was the institute founded?"]
        for outcome in await agent.ask_many(Question(text=text, url=f"{site.url}/en") for text in asked):
            print(f"{outcome.status} in {outcome.turns} turns, supported: {bool(outcome.support)}")
        async with agent.run(asked[0], url=f"{site.url}/en") as run:
            async for event in run:
                if isinstance(event, Decided):
                    print(f"turn {event.turn}: {event.thought}")
            print((await run.outcome()).answer)


asyncio.run(main())
