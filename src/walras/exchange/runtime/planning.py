"""Rounds by the exchange's policy: decided in another process, checked here before all else."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import sqlalchemy as sa

from walras.exchange.errors import ComputeError, FieldError
from walras.exchange.runtime.compute import Compute
from walras.exchange.runtime.deciding import asked
from walras.exchange.runtime.exchange import Exchange
from walras.exchange.runtime.planner import Outcome, Played
from walras.exchange.service import policies
from walras.exchange.service.snapshots import PRIOR, plan_of, round_columns, snapshot, snapshot_of
from walras.exchange.service.timing import Timing
from walras.exchange.store.schema import cluster, predictor
from walras.exchange.store.statements import Statement, Transaction, given
from walras.policies import placements
from walras.policies.placements import Policy
from walras.rounds import Clusters, Decision, Snapshot, check

_SLACK = 2.0  # seconds beyond the search: to read, check and write
_QUICK = 0.2  # seconds of the fallback's search

_ACTIVE = Statement(
    sa.select(predictor.c.version, predictor.c.model, predictor.c.created)
    .where(predictor.c.state == "active")
    .order_by(predictor.c.version.desc())
    .limit(1)
)
_LIED = Statement(sa.select(cluster.c.uid).where(cluster.c.distrusted > given("since")))


@dataclass(frozen=True)
class Taken:
    """What a round decides from.

    Attributes:
        snapshot: The snapshot.
        policy: The policy.
        model: File of the predictor that is active; empty for none.
        predictor: Its name.
        seed: The seed.
        forget: Clusters whose runs were quarantined since the predictor was trained.
    """

    snapshot: Snapshot
    policy: Policy
    model: bytes
    predictor: str
    seed: int
    forget: tuple[str, ...] = ()


@dataclass(frozen=True)
class RoundPlanner:
    """The planner; see :class:`walras.exchange.runtime.planner.Planner`.

    Attributes:
        timing: How long leases last.
    """

    timing: Timing

    def policy(self, tx: Transaction) -> str:
        """The policy in force, as JSON: what an operator set, else the defaults."""
        return policies.in_force(tx).document()

    def take(
        self, tx: Transaction, now: float, seed: int, slots: Mapping[str, int] | None = None
    ) -> Taken:
        """All that a round decides from, as if clusters had at least so many slots."""
        policy = policies.in_force(tx)
        name, model, forget = predictor_in_force(tx)
        change = partial(_grown, slots=slots or {})
        made = snapshot(tx, now, policy, self.timing, seed=seed, change=change)
        return Taken(made, policy, model, name, seed, forget)

    def decide(self, taken: Taken, seconds: float, compute: Compute) -> Outcome:
        """Decide in the process beside the service.

        Raises:
            WalrasError: It was late or died, or the plan did not pass the check.
        """
        decision = _decided(taken, seconds, compute)
        return _outcome(taken, decision, "")

    def fall_back(self, taken: Taken, why: str) -> Outcome:
        """Decide here: the prior, and a search that is cut short.

        Raises:
            WalrasError: That plan did not pass the check, either.
        """
        decision = placements.decide(
            taken.snapshot,
            None,
            taken.policy,
            seed=taken.seed,
            time_limit=_QUICK,
            clock=time.monotonic,
            predictor=PRIOR,
        )
        return _outcome(taken, decision, why)

    def play(
        self,
        exchange: Exchange,
        stored: bytes | None,
        changes: dict[str, Any],
        seed: int,
        seconds: float,
        compute: Compute,
    ) -> Played:
        """Play a round with and without some changes; see :meth:`Planner.play`."""
        now, slots = exchange.now(), changes.get("slots", {})
        taken, more = exchange.read(
            lambda tx: (self.take(tx, now, seed), self.take(tx, now, seed, slots))
        )
        if stored is not None:  # of the tasks it has those alone that were in line
            taken = more = replace(taken, snapshot=snapshot_of(stored))
        before = _decided(taken, seconds, compute)
        changed = replace(more, snapshot=altered(more.snapshot, changes))
        after = _decided(changed, seconds, compute)
        plan = _plan(after)
        tally = np.bincount(after.cluster[after.placed], minlength=len(after.clusters))
        figures: dict[str, float | None] = {
            "makespan": after.makespan,
            "makespan_before": before.makespan,
            "bound": after.bound,
            "gap": after.gap,
            "mean_success": after.mean_success if plan else None,
            "shortfall": after.shortfall,
        }
        return Played(
            after.state,
            figures,
            _plan(before),
            plan,
            changed.snapshot.waiting - len(plan),
            {uid: int(n) for uid, n in zip(after.clusters, tally, strict=True)},
            after.blockers.counts,
        )


def predictor_in_force(tx: Transaction) -> tuple[str, bytes, tuple[str, ...]]:
    """The predictor that rounds ask: its name, its file, clusters of which it is to know nothing.

    Args:
        tx: One consistent view.
    """
    row = tx.first(_ACTIVE)
    if row is None or row[1] is None:
        return PRIOR, b"", ()
    forget = tuple(str(one[0]) for one in tx.rows(_LIED, since=row[2]))
    return f"predictor {row[0]}", bytes(row[1]), forget


def _decided(taken: Taken, seconds: float, compute: Compute) -> Decision:
    question = asked(
        taken.snapshot.to_bytes(),
        taken.model,
        taken.policy.document(),
        taken.seed,
        seconds,
        taken.predictor,
        taken.forget,
    )
    return Decision.from_bytes(compute.call("decide", question, seconds + _SLACK))


def _outcome(taken: Taken, decision: Decision, why: str) -> Outcome:
    """What is published of a decision that passes the check here: the child's word is not enough.

    Raises:
        ComputeError: It does not pass.
    """
    broken = check(taken.snapshot, decision)
    if broken:
        raise ComputeError(
            f"the plan breaks a rule: {broken[0]}", where="check", remedy="see the service's log"
        )
    columns = round_columns(decision, taken.snapshot)
    if why:
        columns["why"] = f"{why}; {columns['why']}" if columns["why"] else why
    state = "published" if decision.state == "ok" and not why else "fallback"
    return Outcome(state, plan_of(decision, taken.snapshot), columns)


def _plan(decision: Decision) -> dict[str, str]:
    return {
        decision.tasks[j]: decision.clusters[decision.cluster[j]]
        for j in np.flatnonzero(decision.placed).tolist()
    }


def altered(taken: Snapshot, changes: Mapping[str, Any]) -> Snapshot:
    """A snapshot with some things otherwise.

    Args:
        taken: The snapshot.
        changes: ``cordon`` and ``drain`` (clusters), ``slots`` (cluster -> slots that it has),
            ``min_success`` and ``window`` (of the rules).

    Raises:
        FieldError: There is no such cluster.
    """
    clusters = taken.clusters
    states = [*clusters.state]
    for word, state in (("cordon", "cordoned"), ("drain", "draining")):
        for uid in changes.get(word, ()):
            states[_place(clusters, uid, f"/{word}")] = state
    clusters = replace(clusters, state=tuple(states))
    for uid, slots in changes.get("slots", {}).items():
        clusters = _resized(clusters, _place(clusters, uid, "/slots"), slots)
    rules = {name: changes[name] for name in ("min_success", "window") if name in changes}
    return replace(taken, clusters=clusters).with_rules(**rules)


def _grown(clusters: Clusters, slots: Mapping[str, int]) -> Clusters:
    """Clusters with at least so many slots: tasks that only then fit are in line, too."""
    for uid, count in slots.items():
        i = _place(clusters, uid, "/slots")
        clusters = _resized(clusters, i, max(count, int(clusters.slots[i])))
    return clusters


def _place(clusters: Clusters, uid: str, pointer: str) -> int:
    if uid not in clusters.uid:
        raise FieldError(
            f"there is no cluster '{uid}' in the round",
            where=pointer.strip("/"),
            allowed=_some(clusters.uid),
            remedy="walras cluster list shows them",
            pointer=pointer,
        )
    return clusters.uid.index(uid)


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:10]) + (", …" if len(names) > 10 else "")


def _resized(clusters: Clusters, i: int, slots: int) -> Clusters:
    """A cluster with more or fewer slots: those that are taken stay, as far as there are any."""
    parts = [clusters.ready_of(k) for k in range(len(clusters))]
    taken = parts[i][::-1][:slots]
    parts[i] = np.concatenate([np.zeros(slots - len(taken)), taken[::-1]])
    counts = clusters.slots.copy()
    counts[i] = slots
    return replace(clusters, slots=counts, ready=np.concatenate(parts))
