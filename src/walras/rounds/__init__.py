"""Rounds as data: what a round decides from, what it decided, and the independent check.

A :class:`Snapshot` and a :class:`Decision` are arrays and names with canonical bytes and a hash, so
that a round can be stored, replayed and compared. Nothing here solves, reads a clock or draws.
"""

from __future__ import annotations

from walras.rounds.blocked import Circumstances, blockers_of
from walras.rounds.blockers import CODES, Blocker, Blockers
from walras.rounds.check import check
from walras.rounds.decision import BINDS, Decision
from walras.rounds.files import load
from walras.rounds.forecast import Forecast, Predict, prior
from walras.rounds.jobs import JobsSnapshot
from walras.rounds.parts import STATES, Clusters, FeatureSet, Rest, Rules, Tasks, Tenants
from walras.rounds.planned import planned
from walras.rounds.shares import Shares
from walras.rounds.snapshot import Snapshot
from walras.rounds.violation import Violation

__all__ = [
    "BINDS",
    "CODES",
    "STATES",
    "Blocker",
    "Blockers",
    "Circumstances",
    "Clusters",
    "Decision",
    "FeatureSet",
    "Forecast",
    "JobsSnapshot",
    "Predict",
    "Rest",
    "Rules",
    "Shares",
    "Snapshot",
    "Tasks",
    "Tenants",
    "Violation",
    "blockers_of",
    "check",
    "load",
    "planned",
    "prior",
]
