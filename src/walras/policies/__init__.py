"""Policies: what decides a round, each a function from a snapshot to a decision."""

from __future__ import annotations

from walras.policies.allox import allox
from walras.policies.exchange import exchange
from walras.policies.fifo import fifo
from walras.policies.finish_time import finish_time_fairness
from walras.policies.las import las
from walras.policies.makespan import makespan
from walras.policies.named import NAMED, named
from walras.policies.proportional import proportional_fairness

__all__ = [
    "NAMED",
    "allox",
    "exchange",
    "fifo",
    "finish_time_fairness",
    "las",
    "makespan",
    "named",
    "proportional_fairness",
]
