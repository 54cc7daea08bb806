"""States of tasks, placements, clusters, rounds and predictors; the legal moves as tables.

Code and documentation read the same tables. Every move of a row is one guarded update, so that a
message that comes late or twice changes nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

Moves = Mapping[str, tuple[str, ...]]
"""State -> the states that may follow it."""

TASK: Final[Moves] = {
    "pending": ("placed", "cancelled", "expired"),
    "placed": ("leased", "pending", "cancelled", "succeeded", "failed"),
    "leased": ("running", "pending", "held", "succeeded", "failed", "cancelled"),
    "running": ("succeeded", "failed", "cancelled", "pending", "held", "leased"),
    "held": ("leased", "running", "succeeded", "failed", "cancelled", "pending"),
    "succeeded": (),
    "failed": (),
    "cancelled": (),
    "expired": (),
}
"""A task. ``held``: its run cannot stop itself, and its agent is not heard; see the agent protocol.

``leased``: its run was granted and has not begun: it may wait in the queue of the cluster's own
scheduler, which may also put one back there (``running -> leased``).
``placed -> succeeded`` or ``failed``, and ``pending -> placed`` later: a run that was given up
reports after all, before a newer run was granted.
"""

PLACEMENT: Final[Moves] = {
    "offered": ("leased", "withdrawn"),
    "leased": ("running", "succeeded", "failed", "cancelled", "preempted", "unreachable"),
    "running": ("leased", "succeeded", "failed", "cancelled", "preempted", "unreachable"),
    "unreachable": ("leased", "running", "succeeded", "failed", "cancelled", "preempted"),
    "succeeded": (),
    "failed": (),
    "cancelled": (),
    "preempted": (),
    "withdrawn": (),
}
"""One attempt of a task on a cluster. ``unreachable -> leased`` or ``running``: it was held."""

CLUSTER: Final[Moves] = {
    "up": ("cordoned", "draining"),
    "cordoned": ("up", "draining"),
    "draining": ("up", "cordoned"),
}
"""What the operator set. A cluster whose agents are not heard is shown as ``down``."""

ROUND: Final[Moves] = {
    "computing": ("published", "fallback", "failed"),
    "published": (),
    "fallback": (),
    "failed": (),
}

PREDICTOR: Final[Moves] = {
    "training": ("shadow", "rejected"),
    "shadow": ("active", "rejected"),
    "active": ("retired",),
    "retired": ("active",),
    "rejected": (),
}

OPEN_TASK: Final = ("pending", "placed", "leased", "running", "held")
ENDED_TASK: Final = ("succeeded", "failed", "cancelled", "expired")
ON_CLUSTER: Final = ("placed", "leased", "running", "held")
"""Open tasks that are on a cluster."""

BAD_END: Final = ("failed", "cancelled", "expired")
"""Tasks that ended without success."""

LIVE_PLACEMENT: Final = ("leased", "running")
"""Placements whose run holds a lease."""

COUNTED: Final = ("completed", "failed", "timeout", "out_of_memory", "node_fail")
"""Outcomes that say something about the task on the cluster; the others never count."""

OUTCOMES: Final = (*COUNTED, "cancelled", "preempted", "unreachable")
"""Outcomes that an agent may report; the names of :data:`walras.predict.logs.log.OUTCOMES`."""


def placement_state(outcome: str) -> str:
    """The state of a placement with an outcome: the kinds of failure are one state."""
    if outcome == "completed":
        return "succeeded"
    return "failed" if outcome in COUNTED else outcome
