"""What a comparison was made from: the cluster, the traces, the policies, the settings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from inspect import signature
from typing import Any

from walras.simulate import Cluster, Run, Slots, TaskTrace, Trace, check_load, run
from walras.simulate.compare.study import Study

Facts = list[tuple[str, str]]
"""Names and values."""


def of_study(
    stated: Study, traces: Mapping[str, Any], cluster: Cluster | Slots
) -> tuple[Facts, str]:
    """The conditions of a comparison, and a notice of what must be known before it is read.

    Args:
        stated: What it is made from.
        traces: Its traces by label; one that is drawn is a function of ``seed=``.
        cluster: Its workers.

    Returns:
        Names and values; the notice names the traces under which queues grow, whatever the policy.
    """
    facts, full = [("cluster", _workers(cluster.counts))], []
    for label, given in traces.items():
        drawn = callable(given)
        jobs: Trace | TaskTrace = given(seed=stated.seeds[0]) if drawn else given
        name = f"trace {label}" if len(traces) > 1 else "trace"
        load = check_load(
            jobs.to_trace() if isinstance(jobs, TaskTrace) else jobs, _shared(cluster)
        )
        options = stated.traces[label].trace
        more = f" (with seed {stated.seeds[0]})" if drawn and len(stated.seeds) > 1 else ""
        what = "tasks" if isinstance(jobs, TaskTrace) else "jobs"
        facts.append((name, f"{len(jobs)} {what}, {jobs.source}; {load}{more}"))
        if options:
            facts.append((f"{name}, stated", _options(options)))
        if load.saturated:
            full.append(f"{label}: {load}." if len(traces) > 1 else f"{str(load).capitalize()}.")
    for label, table in stated.policies.items():
        facts.append((f"policy {label}", _options(table)))
    facts.append(("settings", _options(_settings(stated))))
    if stated.world:
        facts.append(("world", _options(stated.world)))
    return facts, " ".join(full)


def of_runs(runs: Sequence[Run]) -> tuple[Facts, str]:
    """The conditions of saved runs of one trace and cluster, and a notice; as :func:`of_study`.

    Args:
        runs: The runs, at least one.
    """
    first = runs[0]
    load = check_load(first.trace(), first.cluster())
    facts = [
        ("cluster", _workers(first.cluster().counts)),
        ("trace", f"{len(first.name)} jobs, {first.source}; {load}"),
        ("measured", f"{first.measured.sum()} of {len(first.name)} jobs"),
        ("rounds", ", ".join(dict.fromkeys(f"{run.round_seconds:g} s" for run in runs))),
    ]
    return facts, f"{str(load).capitalize()}." if load.saturated else ""


def _settings(stated: Study) -> dict[str, Any]:
    """The arguments of ``run``, those that were left out too."""
    names = _OF_BOTH if stated.placed else (*_OF_BOTH, *_OF_SHARES)
    given = {name: signature(run).parameters[name].default for name in names} | stated.settings
    return {
        name: _NONE.get(name, value) if value is None else value for name, value in given.items()
    }


_OF_BOTH = ("round_seconds", "measured", "failures")
_OF_SHARES = ("between_decisions", "restart_seconds", "whole_steps")
_NONE = {"measured": "all", "failures": "none"}


def _shared(cluster: Cluster | Slots) -> Cluster:
    return Cluster(cluster.counts)


def _workers(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {name}" for name, count in counts.items())


def _options(given: Mapping[str, Any]) -> str:
    """Names and values; a slice as its two ends."""
    ends = {k: [v.start, v.stop] if isinstance(v, slice) else v for k, v in given.items()}
    return ", ".join(f"{name} = {value}" for name, value in ends.items() if value is not None)
