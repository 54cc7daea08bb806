"""Why a task is where it is, and what happened to it, in words and numbers."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from walras.exchange.service import queries
from walras.exchange.store.schema import round_
from walras.exchange.store.statements import Statement, Transaction

_LAST = Statement(
    sa.select(round_.c.id, round_.c.state, round_.c.started, round_.c.blockers, round_.c.why)
    .where(round_.c.state != "computing")
    .order_by(round_.c.id.desc())
    .limit(1)
)
_WORDS = {
    "placed": "offered to {cluster}; its agent takes it at its next sync",
    "leased": "granted to {cluster}; its agent is about to start it",
    "running": "runs on {cluster}",
    "held": "its run on {cluster} cannot stop itself and its agent is silent; "
    "it waits for the agent, for its time limit, or for walras task release",
    "succeeded": "has succeeded on {cluster}",
    "failed": "has failed {failures} times of {max_attempts}",
    "cancelled": "was cancelled",
    "expired": "was not placed by its deadline",
}


def why_of(tx: Transaction, uid: str, owner: str | None) -> dict[str, Any]:
    """Why a task is where it is; of one that waits, every blocker of the last round.

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
        return made | {"text": _WORDS[found["state"]].format(**found)}
    last = tx.first(_LAST)
    if last is None or last[2] < found["submitted"]:
        return made | {"round": None, "text": "waits for its first round"}
    seq, state, _, _, why = last
    text = f"round {seq} did not place it"
    if state == "failed":
        text = f"round {seq} failed: {why}"
    return made | {"round": int(seq), "text": text}


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
