"""The command `speccache eval`: a suite in one or more modes, and a report of it.

Invariant: its flags are those of `pytest evals`, too, which reads them from here.
"""

from __future__ import annotations

from functools import wraps
from pathlib import Path
from typing import Annotated, Any

import typer

from agent import flags
from agent.console import ExitCode, run
from agent.observing_flags import OBSERVING
from evals.runs.evaluation import Evaluation
from evals.runs.request import DEFAULT_MODES, DEFAULT_TIME_SCALE, Request
from evals.suites.registry import SUITES

_NAMES = ", ".join(SUITES)

SuiteName = Annotated[
    str, typer.Argument(metavar="SUITE", help=f"One of {_NAMES}; or a .jsonl file of questions, or a folder of them.")
]
Data = Annotated[
    Path | None, typer.Option("--data", help="A dataset's file.  \\[default: fetched from the hub, extra 'hub']")
]
Sites = Annotated[
    Path | None, typer.Option("--sites", help="Folder with one folder for each site that the questions name.")
]
Modes = Annotated[
    str,
    typer.Option(
        "--modes",
        help="What guesses, to compare: off, lru, random, rank, draft, spec, oracle; or all.",
    ),
]
Langs = Annotated[list[str] | None, typer.Option("--lang", help="Only questions in this language; repeatable.")]
Kinds = Annotated[list[str] | None, typer.Option("--kind", help="Only this kind, e.g. multi_source; repeatable.")]
Difficulties = Annotated[list[str] | None, typer.Option("--difficulty", help="Only this difficulty; repeatable.")]
Domains = Annotated[list[str] | None, typer.Option("--domain", help="Only this domain; repeatable.")]
Ids = Annotated[list[str] | None, typer.Option("--id", help="Only the question of this id; repeatable.")]
MinSources = Annotated[int, typer.Option("--min-sources", min=0, help="Only questions with so many sources.")]
Limit = Annotated[int | None, typer.Option("--limit", min=1, help="So many questions, drawn fairly over the kinds.")]
OnePerSite = Annotated[bool, typer.Option("--one-per-site", help="One question drawn for each site, as in the paper.")]
Seed = Annotated[int, typer.Option("--seed", help="What is drawn is drawn from it.")]
AtOnce = Annotated[
    int | None,
    typer.Option("--questions-at-once", min=1, help="Questions under way at once, on one pool.  \\[default: 1]"),
]
EngineName = Annotated[
    str | None,
    typer.Option(
        "--engine",
        metavar="local|ray",
        help="Where questions are asked: in this process, or on a cluster.  \\[default: local]",
    ),
]
RayAddress = Annotated[
    str | None,
    typer.Option("--ray-address", help="The Ray cluster.  \\[default: RAY_ADDRESS, else one on this machine]"),
]
Workers = Annotated[
    int | None,
    typer.Option("--workers", min=1, help="Processes on the cluster, with a pool each.  \\[default: CPUs / 2]"),
]
ErrorRate = Annotated[
    float, typer.Option("--error-rate", min=0, max=1, help="How often the target 'gold' takes a wrong link first.")
]
Think = Annotated[
    str | None,
    typer.Option(
        "--think",
        metavar="MODEL|SECONDS|none",
        help="Simulated thinking, which every decision takes at least, a model's too: published times of o4-mini or"
        " gpt-5-mini, times --time-scale on offline suites; or mean seconds.  \\[default: o4-mini for 'gold', and on"
        " offline suites for 'embedded' and 'local'; else none]",
    ),
]
TimeScale = Annotated[
    float | None,
    typer.Option(
        "--time-scale",
        min=0,
        help=f"Published times, times this, on offline suites.  \\[default: {DEFAULT_TIME_SCALE}]",
    ),
]
JudgeName = Annotated[str | None, typer.Option("--judge", help="Model that judges answers, by its name.")]
MetricsPlace = Annotated[
    str | None,
    typer.Option(
        "--metrics", metavar="[HOST:]PORT", help="Serve figures for Prometheus meanwhile, at /metrics; extra 'metrics'."
    ),
]
Traces = Annotated[bool, typer.Option("--traces", help="Keep a trace of each run, for `speccache trace`.")]
Out = Annotated[
    Path | None,
    typer.Option("--out", help="Folder for the results; the same one goes on where a run was stopped."),
]

_TARGET = Annotated[
    str | None,
    typer.Option("--target", help="As in `ask`; or 'gold': simulated, follows the known way to the answer."),
]
_THINKING: flags.Flags = {
    name: flag for name, flag in flags.THINKING.items() if name not in ("think", "schema_file")
} | {"target": _TARGET}
_SPECULATING: flags.Flags = {
    name: flags.SPECULATING[name] for name in ("max_guesses", "pool_size", "max_memory", "host_rate", "shared_cache")
}
_BROWSING: flags.Flags = {name: flags.BROWSING[name] for name in ("browser", "egress_host", "locale", "proxy")}
_REACHING: flags.Flags = {
    name: flags.PERMITTING[name] for name in ("search", "allow_hosts", "allow_domains", "deny_domains")
}

_SPREADING: flags.Flags = {"engine": EngineName, "ray_address": RayAddress, "workers": Workers}


@flags.takes(
    thinking=_THINKING,
    calling_models=flags.CALLING,
    speculating=_SPECULATING,
    browsing=_BROWSING,
    reaching=_REACHING,
    spreading=_SPREADING,
    observing=OBSERVING,
)
def read(
    suite: SuiteName,
    given: flags.Flags,
    modes: Modes = DEFAULT_MODES,
    limit: Limit = None,
    data: Data = None,
    sites: Sites = None,
    lang: Langs = None,
    kind: Kinds = None,
    difficulty: Difficulties = None,
    domain: Domains = None,
    ids: Ids = None,
    min_sources: MinSources = 0,
    one_per_site: OnePerSite = False,
    seed: Seed = 0,
    at_once: AtOnce = None,
    error_rate: ErrorRate = 0.0,
    think: Think = None,
    time_scale: TimeScale = None,
    judge: JudgeName = None,
    traces: Traces = False,
    metrics: MetricsPlace = None,
    out: Out = None,
    as_json: flags.Json = False,
    verbose: flags.Tracebacks = False,
    quiet: flags.Quiet = False,
) -> Evaluation:
    """Ask a suite of questions in one or more modes, paired, and report what speculation made of it."""
    request = Request(
        suite=suite,
        data=data,
        sites=sites,
        modes=modes,
        langs=lang or (),
        kinds=kind or (),
        difficulties=difficulty or (),
        domains=domain or (),
        ids=ids or (),
        min_sources=min_sources,
        limit=limit,
        one_per_site=one_per_site,
        seed=seed,
        error_rate=error_rate,
        think=think,
        time_scale=time_scale,
        judge=judge,
        traces=traces,
        given={**given, "questions_at_once": at_once or 1},
    )
    return Evaluation(request, out=out, as_json=as_json, verbose=verbose, quiet=quiet, metrics=metrics)


@wraps(read)
def evaluate(**values: Any) -> None:
    """Run the command."""
    evaluation = read(**values)
    try:
        run(evaluation.measure(), verbose=evaluation.verbose)
    except typer.Exit:
        evaluation.publish()
        raise
    evaluation.publish()
    failed = evaluation.broken or not evaluation.has_figures
    raise typer.Exit(ExitCode.NOT_ANSWERED if failed else ExitCode.ANSWERED)
