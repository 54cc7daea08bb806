"""What the dispatcher knows and what it does next: a state machine without a socket or a clock.

A write carries the version of the workload that it was made from, and the server refuses it where
the workload has changed since. So what is written is always what is there, and names after it.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, field

from walras.exchange.dispatch.chain import Chain
from walras.exchange.dispatch.follow import Change, backoff
from walras.exchange.dispatch.nominations import (
    Nomination,
    Rules,
    Standing,
    nomination,
    standing,
)
from walras.exchange.dispatch.workloads import Key, Object, Workload, workload_of

log = logging.getLogger("walras.kueue")

MOST = 50
"""Workloads that are written after one look at which clusters are active."""


@dataclass
class _Turn:
    """What happened to a workload here.

    Attributes:
        uid: Of the workload.
        last: When its names were written, as far as is known.
        failures: Failed writes in a row.
        not_before: When it may be written again.
    """

    uid: str
    last: float
    failures: int = 0
    not_before: float = 0.0


@dataclass(frozen=True)
class Due:
    """A workload that needs names.

    Attributes:
        workload: The workload.
        clusters: Those that may be added, in the order of the MultiKueueConfig.
    """

    workload: Workload
    clusters: tuple[str, ...]


@dataclass
class Dispatcher:
    """The dispatcher's state; times are given to it, in seconds since 1970.

    Attributes:
        rules: How many clusters, and when.
        chain: The way from workloads to clusters.
        open: Workloads that wait for a cluster.
    """

    rules: Rules = field(default_factory=Rules)
    chain: Chain = field(default_factory=Chain)
    open: dict[Key, Workload] = field(default_factory=dict)
    _turns: dict[Key, _Turn] = field(default_factory=dict)

    def change(self, change: Change, now: float) -> None:
        """Take what a list or a watch brought."""
        if change.kind != "workloads":
            self._change_chain(change)
            return
        if change.what == "replace":
            self.open.clear()
        for one in change.objects:
            if change.what == "drop":
                self.forget((one["metadata"]["namespace"], one["metadata"]["name"]))
            else:
                self.saw(one, now)
        if change.what == "replace":
            self._turns = {key: self._turns[key] for key in self.open}

    def _change_chain(self, change: Change) -> None:
        if change.what == "replace":
            self.chain.replace(change.kind, change.objects)
            return
        for one in change.objects:
            if change.what == "put":
                self.chain.put(change.kind, one)
            else:
                self.chain.drop(change.kind, one["metadata"]["name"])

    def saw(self, found: Object, now: float) -> None:
        """Take a workload as it is now; one that cannot be read is passed over."""
        try:
            workload = workload_of(found)
        except (AttributeError, LookupError, OverflowError, TypeError, ValueError) as error:
            meta = found.get("metadata")
            name = str(meta.get("name"))[:63] if isinstance(meta, dict) else "without metadata"
            log.warning("workload %s cannot be read: %s", name, error)
            return
        if workload.closed:
            self.forget(workload.key)
            return
        self.open[workload.key] = workload
        turn = self._turns.get(workload.key)
        last = now if workload.since is None else min(workload.since, now)
        if turn is None or turn.uid != workload.uid:
            self._turns[workload.key] = _Turn(workload.uid, last)

    def forget(self, key: Key) -> None:
        """A workload is gone, or waits for no cluster."""
        self.open.pop(key, None)
        self._turns.pop(key, None)

    def standing(self, key: Key, now: float) -> Standing:
        """Where an open workload stands."""
        workload, turn = self.open[key], self._turns[key]
        clusters = self.chain.clusters_of(workload)
        return standing(workload, clusters, turn.last, now, self.rules)

    def due(self, now: float, most: int = MOST) -> list[Due]:
        """The workloads that need names now."""
        found: list[Due] = []
        for key, workload in self.open.items():
            if self._turns[key].not_before <= now:
                where = self.standing(key, now)
                if where.state == "due":
                    found.append(Due(workload, where.clusters))
            if len(found) == most:
                break
        return found

    def wake(self, now: float) -> float | None:
        """When a workload will need names, if nothing changes until then."""
        times = []
        for key in self.open:
            where = self.standing(key, now)
            if where.state in ("due", "waits"):
                times.append(max(where.at, self._turns[key].not_before))
        return min(times, default=None)

    def nomination(self, key: Key, order: tuple[str, ...], now: float) -> Nomination | None:
        """What to write for a workload, by what is known now.

        Args:
            key: The workload.
            order: Clusters, the best first.
            now: The time.

        Returns:
            What to write; None where there is nothing to write any more.
        """
        if key not in self.open:
            return None
        return nomination(self.open[key], self.standing(key, now), order, self.rules)

    def wrote(self, key: Key, found: Object, now: float) -> None:
        """The server took a write, and answered with the workload."""
        self.saw(found, now)
        if key in self._turns:
            self._turns[key].last = now
            self._turns[key].failures = 0

    def refused(self, key: Key, now: float, wait: float = 0.0) -> float:
        """The server did not take a write, or did not answer.

        Args:
            key: The workload.
            now: The time.
            wait: Seconds that the server asked for.

        Returns:
            Seconds until it is tried again.
        """
        turn = self._turns.get(key)
        if turn is None:
            return 0.0
        turn.failures += 1
        pause = max(backoff(turn.failures), wait)
        turn.not_before = now + pause
        return pause

    def held(self, now: float) -> float | None:
        """Seconds until a workload that was refused is tried again; None where there is none."""
        times = [
            turn.not_before
            for key, turn in self._turns.items()
            if turn.not_before > now and self.standing(key, now).state == "due"
        ]
        return min(times) - now if times else None

    def counts(self, now: float) -> dict[str, int]:
        """How many open workloads stand where."""
        found = dict.fromkeys(("blocked", "complete", "waits", "due"), 0)
        for key in self.open:
            found[self.standing(key, now).state] += 1
        return found
