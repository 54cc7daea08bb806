"""Policies: what decides a round, each a function from a snapshot to a decision.

Names load when they are first used: the exchange needs placements alone.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from walras.lazy import FunctionsFirst, lazy_names

if TYPE_CHECKING:
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

_HOME = {
    "NAMED": "walras.policies.named",
    "PLACEMENTS": "walras.policies.named_placements",
    "SavingsBound": "walras.policies.savings",
    "allox": "walras.policies.allox",
    "best_fit": "walras.policies.placing",
    "dede": "walras.policies.dede",
    "exchange": "walras.policies.exchange",
    "fastest_cluster": "walras.policies.placing",
    "fifo": "walras.policies.fifo",
    "finish_time_fairness": "walras.policies.finish_time",
    "first_fit": "walras.policies.placing",
    "gandiva": "walras.policies.gandiva",
    "hierarchical": "walras.policies.hierarchical",
    "las": "walras.policies.las",
    "leximin": "walras.policies.leximin",
    "makespan": "walras.policies.makespan",
    "max_min": "walras.policies.max_min",
    "named": "walras.policies.named",
    "named_placement": "walras.policies.named_placements",
    "place": "walras.policies.place",
    "pop": "walras.policies.pop",
    "predicted": "walras.policies.predicted",
    "proportional_fairness": "walras.policies.proportional",
    "savings_bound": "walras.policies.savings",
    "shortest_remaining_time": "walras.policies.shortest",
    "total_duration": "walras.policies.total_duration",
    "total_throughput": "walras.policies.total_throughput",
    "placements": "walras.policies.placements",
}

__getattr__, __dir__ = lazy_names(__name__, _HOME, __all__)
sys.modules[__name__].__class__ = FunctionsFirst
