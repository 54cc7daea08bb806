"""Why a task is where it is, and what happened to it, in words and numbers."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np
import sqlalchemy as sa

from walras.exchange.errors import NotFoundError
from walras.exchange.service import policies, queries, snapshot_tasks
from walras.exchange.service.snapshots import decision_of, snapshot_of_one
from walras.exchange.service.timing import Timing
from walras.exchange.states import ENDED_TASK
from walras.exchange.store.schema import round_
from walras.exchange.store.statements import Statement, Transaction
from walras.rounds import Blocker, Decision, blockers_of

_LAST = Statement(
    sa.select(round_.c.id, round_.c.state, round_.c.started, round_.c.decision, round_.c.why)
    .where(round_.c.state != "computing")
    .order_by(round_.c.id.desc())
    .limit(1)
)
_WORDS = {
    "placed": "offered to {cluster}; its agent takes it at its next sync",
    "leased": "granted to {cluster}; its agent starts it, or it waits in the cluster's queue",
    "running": "runs on {cluster}",
    "held": "its run on {cluster} cannot stop itself and its agent is silent; "
    "it waits for the agent, for the end of its time limit where its run had begun, "
    "or for walras task release",
    "succeeded": "has succeeded on {cluster}",
    "failed": "has failed {failures} times of {max_attempts}",
    "cancelled": "was cancelled",
    "expired": "was not placed by its deadline",
}


def why_of(
    tx: Transaction, now: float, uid: str, owner: str | None, timing: Timing
) -> dict[str, Any]:
    """Why a task is where it is; of one that waits, every blocker.

    Args:
        tx: One consistent view.
        now: The service's time.
        uid: The task.
        owner: The tenant that asks; None for an operator.
        timing: How long leases last.

    Raises:
        NotFoundError: There is no such task, or it is another tenant's.
    """
    found = queries.detail(tx, uid, owner)
    made: dict[str, Any] = {
        "task": uid,
        "state": found["state"],
        "round": found["round"],
        "blockers": [],
    }
    if found["state"] != "pending":
        return made | {"text": _words(found)}
    last = tx.first(_LAST)
    if last is None or last[2] < found["submitted"]:
        said, blockers = "waits for its first round", _now(tx, now, uid, timing)
        made["round"] = None
    else:
        seq, state, _, decision, why = last
        made["round"] = int(seq)
        did = "placed it, and it waits again" if found["round"] == seq else "did not place it"
        said = f"round {seq} " + (f"failed ({why})" if state == "failed" else did)
        # It says nothing of a task that it placed, or where it looked at those before it alone.
        blockers = _of_round(decision, uid) or _now(tx, now, uid, timing)
    made["blockers"] = [_shown(tx, one, owner) for one in blockers]
    texts = [one["text"] for one in made["blockers"]]
    return made | {"text": ": ".join([said, "; ".join(texts)]) if texts else said}


def _words(found: dict[str, Any]) -> str:
    """Where a task is that does not wait."""
    text = _WORDS[found["state"]].format(**found)
    ends = found["cancel_requested"] and found["state"] not in ENDED_TASK
    return f"{text}; it was cancelled, and its agent ends it at its next sync" if ends else text


def _of_round(stored: Any, uid: str) -> list[Blocker]:
    """What kept a task from being placed in a round; none where the round does not say."""
    if stored is None:
        return []
    decision = _decision(bytes(stored))
    if uid not in decision.tasks:
        return []
    return decision.blockers.about(decision.tasks.index(uid))


@lru_cache(1)  # many ask about the last round
def _decision(stored: bytes) -> Decision:
    return decision_of(stored)


def _now(tx: Transaction, now: float, uid: str, timing: Timing) -> list[Blocker]:
    """What keeps a task from being placed now, without predictions."""
    key = queries.find(tx, uid, None)
    taken = snapshot_of_one(tx, now, policies.in_force(tx), timing, key)
    # As nothing is placed in this plan, that it leaves free slots means nothing.
    found = [one for _, one in blockers_of(taken, np.array([-1])) if one.code != "left"]
    if taken.tasks.ahead[0] < 0:  # no cluster can take it, or its tenant's quota is used up
        return found
    higher, same = snapshot_tasks.before(tx, snapshot_tasks.alone(tx, key))
    return [*found, Blocker("turn", (float(higher), float(same)))] if higher or same else found


def _shown(tx: Transaction, blocker: Blocker, owner: str | None) -> dict[str, Any]:
    """A blocker as it is shown: another tenant's task has no name."""
    if blocker.code == "reserved" and owner is not None:
        try:
            queries.find(tx, blocker.word, owner)
        except NotFoundError:
            blocker = replace(blocker, word="a larger task")
    return blocker.document()


def history(found: dict[str, Any], placements: list[dict[str, Any]]) -> dict[str, Any]:
    """What happened to a task, in order, and the end of what its last run printed."""
    entries = [_entry(found["submitted"], "submitted", None, f"by tenant {found['tenant']}")]
    for one in placements:
        entries.append(_entry(one["offered"], "placed", one, f"by round {one['round']}"))
        if one["granted"] is not None:
            entries.append(_entry(one["granted"], "granted", one, "its lease begins"))
        if one["started"] is not None:
            entries.append(_entry(one["started"], "started", one, "its agent lists it"))
        if one["ended"] is not None:
            entries.append(_entry(one["ended"], one["outcome"] or one["state"], one, _end(one)))
    if found["ended"] is not None:
        entries.append(_entry(found["ended"], found["state"], None, "the task has ended"))
    printed = [one["log"] for one in placements if one["log"] is not None]
    entries.sort(key=lambda entry: entry["at"])
    return {"task": found["uid"], "entries": entries, "output": printed[-1] if printed else None}


def _entry(at: float, what: str, one: dict[str, Any] | None, text: str) -> dict[str, Any]:
    return {
        "at": at,
        "what": what,
        "attempt": None if one is None else one["attempt"],
        "cluster": None if one is None else one["cluster"],
        "text": text,
    }


def _end(one: dict[str, Any]) -> str:
    parts = []
    if one["seconds"] is not None:
        parts.append(f"after {one['seconds']:.3g} s")
    if one["exit_code"] is not None:
        parts.append(f"exit code {one['exit_code']}")
    return ", ".join(parts)
