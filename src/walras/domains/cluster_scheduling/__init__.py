"""Cluster scheduling: shares of time on different GPU types for jobs of different speeds.

    s = wl.solve(cluster_scheduling.max_min(throughput, size, capacity))

The package states each objective directly as arrays, with priorities, restricted types, quotas and
a price on churn. It also has the baselines that clusters run today, and an evaluation that does not
depend on any solver.
"""

from walras.domains.cluster_scheduling.baselines import equal_share, greedy
from walras.domains.cluster_scheduling.completion_time import (
    CompletionTimes,
    min_total_completion_time,
)
from walras.domains.cluster_scheduling.evaluate import Evaluation, evaluate
from walras.domains.cluster_scheduling.finish_time import FinishTimes, finish_time_fairness
from walras.domains.cluster_scheduling.hierarchical import Hierarchy, WaterLevel, hierarchical
from walras.domains.cluster_scheduling.normalise import normalise
from walras.domains.cluster_scheduling.objectives import (
    alpha_fair,
    leximin,
    max_min,
    min_makespan,
    proportional_fairness,
    total_throughput,
)
from walras.domains.cluster_scheduling.per_cost import ThroughputPerCost, throughput_per_cost
from walras.domains.cluster_scheduling.quota import Quota
from walras.domains.cluster_scheduling.sharing import Pairs, shares
from walras.domains.cluster_scheduling.strategy_proof import StrategyProof, strategy_proof

__all__ = [
    "CompletionTimes",
    "Evaluation",
    "FinishTimes",
    "Hierarchy",
    "Pairs",
    "Quota",
    "StrategyProof",
    "ThroughputPerCost",
    "WaterLevel",
    "alpha_fair",
    "equal_share",
    "evaluate",
    "finish_time_fairness",
    "greedy",
    "hierarchical",
    "leximin",
    "max_min",
    "min_makespan",
    "min_total_completion_time",
    "normalise",
    "proportional_fairness",
    "shares",
    "strategy_proof",
    "throughput_per_cost",
    "total_throughput",
]
