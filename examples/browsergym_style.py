"""BrowserGym's reset and step, in a program without `async`: the pages that fit the goal load ahead."""

import re
import time

from anyio.from_thread import start_blocking_portal

from agent.adapters.browser_gym import BrowserGym
from evals.site import LatencyModel, SiteServer, build_site

GOAL = "What are the opening hours of the exhibition, and for how long does the library lend books?"


def link(page: str, text: str) -> str:
    return re.search(rf"\[{text}\]\[(\d+)\]", page)[1]


def visit(url: str) -> None:
    with BrowserGym() as env:
        obs, _ = env.reset(GOAL, url)
        for text in ("Opening hours", "Library"):
            time.sleep(0.4)  # a model would be thinking here
            obs, _, _, _, info = env.step(f"click({link(obs['axtree_txt'], text)!r})")
            print(f"{text}: {info['speculation']}")
        found = re.search(r"[^.\n]* lent [^.\n]*\.", obs["axtree_txt"])
        obs, _, terminated, _, _ = env.step(f"send_msg_to_user({found[0]!r})")
        print(terminated, obs["chat_messages"][-1]["message"])
        account = env.account
        print(f"{account.hits} hits, {account.misses} misses; {account.hidden_seconds:.2f} s saved")


site = SiteServer(build_site(), latency=LatencyModel(time_scale=0.02))
with start_blocking_portal() as portal, portal.wrap_async_context_manager(site) as server:
    visit(f"{server.url}/en")
