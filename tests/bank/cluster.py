"""Cluster scheduling problems with closed forms, stated through the domain.

On one resource of capacity C a job that gets work y needs y/T of it: max-min gives
t = C / sum w/T; alpha-fairness equates w T (T x)^-alpha = p for all jobs (Mo and Walrand 2000);
with alpha = 1 on several resources prices are those of a Fisher market (Eisenberg and Gale 1959).
"""

from __future__ import annotations

import numpy as np
from tests.bank.case import Case

from walras.domains import cluster_scheduling as cs
from walras.domains.cluster_scheduling import Quota


def cases() -> list[Case]:
    """All cluster cases."""
    return [*_max_min(), *_leximin(), *_proportional(), *_alpha(), *_throughput()]


def one(*speeds: float) -> np.ndarray:
    """Throughputs of jobs on one resource."""
    return np.array([speeds])


def ones(count: int) -> np.ndarray:
    """Sizes or weights of one."""
    return np.ones(count)


def _max_min() -> list[Case]:
    quota = Quota({"team": [0, 1]}, {"team": 0.5})
    allowed = np.array([[True, False], [True, True]])
    two = np.array([[4.0, 4.0], [1.0, 1.0]])
    return [
        Case(
            "max-min on one resource",
            cs.max_min(one(2, 4), ones(2), [1.0]),
            4 / 3,
            [2 / 3, 1 / 3],
            {"capacity[0]": 4 / 3, "throughput[0]": 2 / 3, "throughput[1]": 1 / 3, "time[0]": 0},
        ),
        Case(
            "max-min with weights",
            cs.max_min(one(2, 4), ones(2), [1.0], weight=[1.0, 2.0]),
            1.0,
            [0.5, 0.5],
            {"capacity[0]": 1.0, "throughput[0]": 0.5, "throughput[1]": 0.5},
        ),
        Case(
            "max-min with sizes",
            cs.max_min(one(2, 4), [1.0, 6.0], [1.0]),
            0.5,
            [0.25, 0.125],
            {"capacity[0]": 0.5},
        ),
        Case(
            "max-min decided by one job's best type",
            cs.max_min(two / [[4], [1]] * [[3], [1]], ones(2), [5.0, 5.0], weight=[1.0, 2.0]),
            1.5,
        ),
        # Job 0 has the slow type for itself; job 1 could only share the fast one with it.
        Case("max-min with a mask", cs.max_min(two, ones(2), [0.1, 2.0], allowed=allowed), 1.0),
        Case(
            "max-min under a quota",
            cs.max_min(one(1, 1, 1), ones(3), [3.0], quota=quota),
            0.25,
            prices={"quota[team]": 0.5, "throughput[0]": 0.5, "throughput[1]": 0.5},
        ),
        # Moving d to the second job earns d and costs 2 d / 4.
        Case(
            "max-min with churn that pays",
            cs.max_min(one(1, 1), ones(2), [1.0], previous=one(1, 0), churn=0.25),
            0.25,
        ),
        Case(
            "max-min with churn too dear",
            cs.max_min(one(1, 1), ones(2), [1.0], previous=one(1, 0), churn=1.0),
            0.0,
        ),
        Case(
            "makespan",
            cs.min_makespan(one(2, 4), ones(2), [1.0], steps=[10.0, 40.0]),
            1 / 15,
            [1 / 3, 2 / 3],
            {"capacity[0]": 1 / 15},
        ),
    ]


def _leximin() -> list[Case]:
    # The first job runs all the time for 1; what it leaves is shared, then the third alone.
    speeds = one(1, 10, 10)
    # Limits 1, 2 and 9 a job, capacity for all of them but the last.
    three = np.array([[1.0, 2.0, 9.0]])
    return [
        Case("leximin in two levels", cs.leximin(speeds, ones(3), [2.0]), 1.0, levels=[1.0, 5.0]),
        Case(
            "leximin in three levels",
            cs.leximin(three, ones(3), [2.5]),
            1.0,
            levels=[1.0, 2.0, 4.5],
        ),
    ]


def _proportional() -> list[Case]:
    market = np.array([[4.0, 3.0, 1.0], [1.0, 2.0, 1.0]])
    indifferent = np.array([[3.0, 1.0], [1.0, 1.0]])
    return [
        Case(
            "proportional shares of one resource",
            cs.proportional_fairness(one(2, 5, 1), ones(3), [0.5], weight=[1.0, 2.0, 2.0]),
            float(np.log(0.2) + 2 * np.log(1.0) + 2 * np.log(0.2)),
            [0.1, 0.2, 0.2],
            {"capacity[0]": 10.0, "throughput[0]": -5.0, "throughput[1]": -2.0},
            splits=True,
        ),
        # Prices 1.8 and 1.2 make the second job indifferent: 3/1.8 = 2/1.2.
        Case(
            "Fisher market",
            cs.proportional_fairness(market, ones(3), [1.0, 1.0]),
            float(np.log(20 / 9 * 5 / 3 * 5 / 6)),
            [5 / 9, 0, 4 / 9, 1 / 6, 0, 5 / 6],
            {"capacity[0]": 1.8, "capacity[1]": 1.2, "throughput[0]": -0.45},
        ),
        # Prices 2 and 2: the second job is indifferent yet buys nothing of the first type.
        Case(
            "Fisher market without strict complementarity",
            cs.proportional_fairness(indifferent, ones(2), [0.5, 0.5]),
            float(np.log(1.5) + np.log(0.5)),
            [0.5, 0, 0, 0.5],
            {"capacity[0]": 2.0, "capacity[1]": 2.0, "throughput[0]": -2 / 3},
        ),
        Case(
            "proportional fairness of value zero",
            cs.proportional_fairness(np.array([[2.0, 1.0], [1.0, 2.0]]), ones(2), [0.5, 0.5]),
            0.0,
            [0.5, 0, 0, 0.5],
            {"capacity[0]": 2.0, "capacity[1]": 2.0},
        ),
        Case(
            "proportional fairness bound by time",
            cs.proportional_fairness(one(2, 3), ones(2), [5.0]),
            float(np.log(6.0)),
            [1.0, 1.0],
            {"time[0]": 1.0, "time[1]": 1.0, "capacity[0]": 0.0},
        ),
    ]


def _alpha() -> list[Case]:
    root = float(np.sqrt(5.0))
    return [
        Case(
            "alpha 2",
            cs.alpha_fair(one(1, 4), ones(2), [1.0], alpha=2.0),
            -2.25,
            [2 / 3, 1 / 3],
            {"capacity[0]": 2.25},
        ),
        Case(
            "alpha 1/2",
            cs.alpha_fair(one(1, 4), ones(2), [1.0], alpha=0.5),
            2 * root,
            [0.2, 0.8],
            {"capacity[0]": root},
        ),
        Case(
            "alpha 3",
            cs.alpha_fair(one(1, 8), ones(2), [0.625], alpha=3.0),
            -2.5,
            [0.5, 0.125],
            {"capacity[0]": 8.0, "throughput[0]": -8.0, "throughput[1]": -1.0},
        ),
        Case(
            "alpha 2 with weights",
            cs.alpha_fair(one(1, 1), ones(2), [1.5], weight=[1.0, 4.0], alpha=2.0),
            -6.0,
            [0.5, 1.0],
            {"capacity[0]": 4.0},
        ),
    ]


def _throughput() -> list[Case]:
    speeds = np.array([[4.0, 3.0, 1.0], [1.0, 2.0, 1.0]])
    return [
        Case(
            "total throughput",
            cs.total_throughput(speeds, ones(3), [1.0, 1.0]),
            6.0,
            [1, 0, 0, 1, 0, 0],
            splits=True,
        ),
        Case(
            "total throughput with weights",
            cs.total_throughput(one(4, 3), ones(2), [0.5], weight=[1.0, 2.0]),
            3.0,
            [0.0, 0.5],
            {"capacity[0]": 6.0, "time[0]": 0.0, "time[1]": 0.0},
            splits=True,
        ),
    ]
