"""Policies: what decides a round, each a function from a snapshot to a decision."""

from __future__ import annotations

from walras.policies.allox import allox
from walras.policies.dede import dede
from walras.policies.exchange import exchange
from walras.policies.fifo import fifo
from walras.policies.finish_time import finish_time_fairness
from walras.policies.gandiva import gandiva
from walras.policies.hierarchical import hierarchical
from walras.policies.las import las
from walras.policies.leximin import leximin
from walras.policies.makespan import makespan
from walras.policies.max_min import max_min
from walras.policies.named import NAMED, named
from walras.policies.named_placements import PLACEMENTS, named_placement
from walras.policies.place import place
from walras.policies.placing import best_fit, fastest_cluster, first_fit
from walras.policies.pop import pop
from walras.policies.predicted import predicted
from walras.policies.proportional import proportional_fairness
from walras.policies.savings import SavingsBound, savings_bound
from walras.policies.shortest import shortest_remaining_time
from walras.policies.total_duration import total_duration
from walras.policies.total_throughput import total_throughput

__all__ = [
    "NAMED",
    "PLACEMENTS",
    "SavingsBound",
    "allox",
    "best_fit",
    "dede",
    "exchange",
    "fastest_cluster",
    "fifo",
    "finish_time_fairness",
    "first_fit",
    "gandiva",
    "hierarchical",
    "las",
    "leximin",
    "makespan",
    "max_min",
    "named",
    "named_placement",
    "place",
    "pop",
    "predicted",
    "proportional_fairness",
    "savings_bound",
    "shortest_remaining_time",
    "total_duration",
    "total_throughput",
]
