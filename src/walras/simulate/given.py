"""What runs and comparisons are given: refused at once where it is of another kind."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from functools import partial
from pathlib import Path

from walras import checks
from walras.errors import InputError
from walras.simulate.cluster import Cluster
from walras.simulate.placed import Slots, TaskTrace
from walras.simulate.trace import Trace

_DECIDES = {"Shares": "shares of time", "Decision": "placements"}
"""Kinds of decisions, by the name of the class that a policy says it returns."""

_MAKES = ("Policy", "Placer", "Callable")
"""What a function says it returns that makes a policy and is none, as ``wl.policies.fifo``."""


def check_cluster(given: object) -> None:
    """Refuse what is neither a cluster that is shared in time nor one with slots.

    Raises:
        InputError: So it is.
    """
    remedy = "write wl.simulate.Cluster(...) around it"
    if not isinstance(given, Mapping):
        remedy = 'give wl.simulate.Cluster({"v100": 4}), or Slots for placements'
    checks.of_kind(given, (Cluster, Slots), "cluster", "a Cluster, or Slots", remedy=remedy)


def check_trace(given: object, cluster: object) -> None:
    """Refuse what is no trace of jobs, or of tasks on a cluster with slots.

    Raises:
        InputError: So it is.
    """
    placed = isinstance(cluster, Slots)
    if isinstance(given, (Trace, TaskTrace) if placed else Trace):
        return
    remedy = "give one, such as wl.simulate.gavel_trace(rate=2.0, jobs=100)"
    if isinstance(given, str | Path):
        remedy = "read the file: wl.simulate.load_trace(path)"
    if isinstance(given, TaskTrace):
        remedy = "run tasks on Slots: clusters with slots"
    raise InputError(
        f"is {checks.shown(given)}, and the cluster is {'of slots' if placed else 'time-shared'}",
        where="trace",
        allowed="a Trace, or a TaskTrace" if placed else "a Trace",
        remedy=remedy,
    )


def check_policy(given: object, cluster: object) -> None:
    """Refuse what is no function, what makes a policy and is none, and what says by its annotation
    that it decides for the other kind of cluster.

    Raises:
        InputError: So it is.
    """
    if not callable(given):
        raise InputError(
            f"is {checks.shown(given)}",
            where="policy",
            allowed="a function from a snapshot to a decision",
            remedy="give one such as wl.policies.fifo(), or wl.policies.named('fifo')",
        )
    own: object = given
    while isinstance(own, partial):
        own = own.func
    name = getattr(own, "__name__", "policy")
    returns = getattr(own, "__annotations__", {}).get("return")
    says = str(getattr(returns, "__name__", returns)).partition("[")[0]
    if says in _MAKES:
        raise InputError(
            f"{name} makes a policy, and is none itself",
            where="policy",
            allowed="a function from a snapshot to a decision",
            remedy="call it: " + (f"{name}()" if own is given else "give partial(...)()"),
        )
    placed = isinstance(cluster, Slots)
    needed, example = ("Decision", "first_fit()") if placed else ("Shares", "fifo()")
    if says in _DECIDES and says != needed:
        raise InputError(
            f"{name} decides {_DECIDES[says]}",
            where="policy",
            allowed=f"one that decides {_DECIDES[needed]}, on a {type(cluster).__name__}",
            remedy=f"give one such as wl.policies.{example}",
        )


def check_compared(policies: object, cluster: object) -> None:
    """Refuse a comparison on what is no cluster, or, in shares of time, of what makes no policy.

    Raises:
        InputError: So it is.
    """
    check_cluster(cluster)
    if isinstance(cluster, Slots) or not isinstance(policies, Mapping):
        return  # what is compared on slots is called with predict=, and checked so
    for label, make in policies.items():
        if callable(make) and not _asks(make):
            continue
        name = getattr(make, "__name__", "")
        ready = name if name.isidentifier() else "fifo"
        what = f"needs {_asks(make)!r}: it is no function that makes a policy"
        raise InputError(
            what if callable(make) else f"is {checks.shown(make)}",
            where=f"policies[{label!r}]",
            allowed="a function without arguments that makes a policy anew for each run",
            remedy=f"leave out the brackets, as wl.policies.{ready}; with options, write "
            "partial(wl.policies.las, by_speed=True); for a function of your own, lambda: it",
        )


def _asks(make: object) -> str:
    """The first argument without which a function cannot be called; empty if there is none."""
    if not callable(make):
        return ""
    try:
        parameters = inspect.signature(make).parameters.values()
    except (TypeError, ValueError):  # it shows no signature
        return ""
    loose = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    needed = (p.name for p in parameters if p.default is p.empty and p.kind not in loose)
    return next(needed, "")
