"""What engines are expected to cost: cases, features, and the coefficients that were learned."""

from __future__ import annotations

import json
from importlib import resources

import numpy as np
import pytest
from tests.bank.bank import CASES

import walras as wl
from walras.select import cost_model as costs
from walras.select.cost_model import features, left_over, narrow_rows, predicted
from walras.separable import Leximin, Side

cs, te = wl.domains.cluster_scheduling, wl.domains.traffic_engineering
PROBLEMS = [case.base for case in CASES if not isinstance(case.problem, Leximin)]
LEARNED = json.loads(resources.files("walras.engines").joinpath(costs.FILE).read_text())


def cluster(objective: object, m: int, n: int) -> wl.Separable:
    rng = np.random.default_rng(m)
    return objective(rng.lognormal(0, 1, (m, n)), np.ones(n), np.full(m, 5.0))  # type: ignore[operator]


def test_every_problem_is_a_case_that_was_learned() -> None:
    for problem in PROBLEMS:
        for engine in ("interior", "exact", "admm"):
            case, values = features(problem, engine, 1e-2)
            assert len(LEARNED["coefficients"][case]) == len(values)
            assert 0.0 < predicted(problem, engine, 1e-2) < 60.0


def test_coefficients_are_not_negative_and_tell_how_they_were_learned() -> None:
    assert all(min(values) >= 0.0 < max(values) for values in LEARNED["coefficients"].values())
    assert set(LEARNED["factor off"]) == set(LEARNED["coefficients"])
    assert all(one["runs"] >= 3 for one in LEARNED["factor off"].values())
    assert LEARNED["machine"]["cores"] >= 1


@pytest.mark.parametrize(
    ("objective", "shape", "case"),
    [
        (cs.max_min, (5, 40), "exact, scalar"),
        (cs.proportional_fairness, (5, 40), "exact, cone"),
        (cs.total_throughput, (5, 40), "exact, primal"),
        (cs.total_throughput, (300, 300), "exact, sifted"),
    ],
)
def test_the_exact_engines_case_is_what_it_will_do(
    objective: object, shape: tuple[int, int], case: str
) -> None:
    assert features(cluster(objective, *shape), "exact", 1e-6)[0] == case


def test_a_tolerance_counts_for_first_order_iterations_alone() -> None:
    problem = cluster(cs.max_min, 5, 40)
    assert predicted(problem, "admm", 1e-2) < predicted(problem, "admm", 1e-3)
    assert predicted(problem, "interior", 1e-2) == predicted(problem, "interior", 1e-6)


def test_rows_of_the_narrow_side_are_counted() -> None:
    problem = cluster(cs.max_min, 5, 40)
    assert narrow_rows(problem) == left_over(problem, Side.DEMAND) == 5
    assert left_over(problem, Side.RESOURCE) == 80
