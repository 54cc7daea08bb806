"""Whether a workload needs more names now, and which: a pure function of what is known.

Names are only ever appended: removing one would delete the workload's copy on that cluster.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from walras.exchange.dispatch.chain import Clusters
from walras.exchange.dispatch.workloads import Workload

MOST = 20
"""Names that Kueue takes for a workload."""


@dataclass(frozen=True)
class Rules:
    """How many clusters are nominated, and when more are.

    Attributes:
        batch: Clusters that are added at a time.
        every: Seconds until more are added.
    """

    batch: int = 3
    every: float = 300.0


@dataclass(frozen=True)
class Standing:
    """Where a workload stands.

    Attributes:
        state: ``closed``: nothing to do for it. ``blocked``: no cluster can be nominated.
            ``complete``: all that can be are. ``waits``: more are added at a time. ``due``: now.
        text: Why.
        clusters: Those that may be added, in the order of the MultiKueueConfig.
        at: When more are added, in seconds since 1970.
    """

    state: str
    text: str
    clusters: tuple[str, ...] = ()
    at: float = 0.0


@dataclass(frozen=True)
class Nomination:
    """Names to write for a workload.

    Attributes:
        workload: As it was read; it is written only if it has not changed.
        names: All names: those that are there, then the new ones.
        added: The new ones, the best first.
    """

    workload: Workload
    names: tuple[str, ...]
    added: tuple[str, ...]


def standing(
    workload: Workload, clusters: Clusters, last: float, now: float, rules: Rules
) -> Standing:
    """Judge a workload.

    Args:
        workload: As it was read last.
        clusters: Where its chain leads.
        last: When names were written last, in seconds since 1970.
        now: The time.
        rules: How many, and when.

    Returns:
        Where it stands.
    """
    if workload.closed:
        return Standing("closed", workload.closed)
    if clusters.why:
        return Standing("blocked", clusters.why)
    have = workload.nominated
    left = tuple(name for name in clusters.active if name not in have)
    if not left:
        return Standing("complete", "every active cluster is nominated")
    if len(have) >= MOST:
        return Standing("complete", f"{MOST} clusters are nominated, and Kueue takes no more")
    if not have:
        return Standing("due", "no cluster is nominated", left, now)
    at = min(last, now) + rules.every  # a clock that was put back makes nobody wait longer
    if now < at:
        return Standing("waits", "more clusters are added later", left, at)
    return Standing("due", f"no cluster took it in {rules.every:g} s", left, at)


def nomination(
    workload: Workload, found: Standing, order: Sequence[str], rules: Rules
) -> Nomination | None:
    """The names to write for a workload that is due.

    Args:
        workload: The workload.
        found: Where it stands.
        order: Clusters, the best first.
        rules: How many.

    Returns:
        What to write; None where it is not due any more, or no cluster is left.
    """
    if found.state != "due":
        return None
    room = min(rules.batch, MOST - len(workload.nominated))
    added = tuple(name for name in order if name in found.clusters)[:room]
    return Nomination(workload, (*workload.nominated, *added), added) if added else None
