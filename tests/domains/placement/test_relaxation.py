"""Bounds from prices: valid where something is known to fit, and tight where nothing is pooled."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from tests.domains.placement.instances import best_value, drawn

from walras.domains.placement.inputs import make_instance
from walras.domains.placement.instance import Instance, Kinds, kinds_of
from walras.domains.placement.relaxation import demand_bound, dual_bound, node_bound
from walras.kernels.packing.machines import fitting
from walras.programs.highs import LinearProgram
from walras.types import Bools


def _stated(instance: Instance) -> tuple[Kinds, Bools]:
    kinds = kinds_of(instance.empty())
    count = len(instance.types.value)
    fits = np.stack([fitting(kinds.machines, instance.types, j) for j in range(count)], axis=1)
    return kinds, fits.astype(np.bool_)


@pytest.mark.parametrize("seed", range(4))
def test_the_bound_is_above_the_optimum(seed: int) -> None:
    nodes, tasks = drawn(seed, 4, 14)
    instance = make_instance(nodes, tasks)
    kinds, fits = _stated(instance)
    bound, price, placed = demand_bound(instance.types, instance.count, kinds, fits)
    assert bound >= best_value(nodes, tasks) - 1e-9
    assert np.all(price >= 0)
    assert np.all(placed.sum(axis=0) <= instance.count + 1e-6)


@pytest.mark.parametrize("seed", range(4))
def test_the_prices_alone_prove_the_bound(seed: int) -> None:
    instance = make_instance(*drawn(seed, 4, 14))
    kinds, fits = _stated(instance)
    types, count = instance.types, instance.count
    bound, price, _ = demand_bound(types, count, kinds, fits)
    worth = np.maximum(types.value - price, 0.0)
    of_nodes = [node_bound(types, count, kinds, k, fits, worth)[0] for k in range(len(kinds.count))]
    # A node in whole numbers is worth no more than a pooled one.
    assert price @ count + kinds.count @ np.array(of_nodes) <= bound * (1 + 1e-6) + 1e-6


def test_shares_of_gpus_are_patterns_not_sums() -> None:
    nodes = pd.DataFrame({"cpu": [99.0] * 3, "gpus": [2] * 3})
    tasks = pd.DataFrame({"cpu": [1.0] * 20, "gpus": [0.6] * 20})
    instance = make_instance(nodes, tasks)
    kinds, fits = _stated(instance)
    bound, _, _ = demand_bound(instance.types, instance.count, kinds, fits)
    assert bound == pytest.approx(6 * 0.6)  # sums would admit 6 / 0.6 tasks


def test_many_sizes_are_rounded_down_and_stay_a_bound() -> None:
    rng = np.random.default_rng(5)
    nodes = pd.DataFrame({"cpu": [99.0], "gpus": [4]})
    tasks = pd.DataFrame({"cpu": np.ones(60), "gpus": rng.uniform(0.02, 0.5, 60)})
    instance = make_instance(nodes, tasks)
    kinds, fits = _stated(instance)
    bound, _, _ = demand_bound(instance.types, instance.count, kinds, fits)
    assert 4.0 - 1e-6 <= bound <= 5.0


def test_one_node_in_whole_numbers() -> None:
    nodes = pd.DataFrame({"cpu": [10.0]})
    tasks = pd.DataFrame({"cpu": [6.0, 6.0, 3.0], "value": [5.0, 5.0, 2.0]})
    instance = make_instance(nodes, tasks)
    kinds, fits = _stated(instance)
    types, count = instance.types, instance.count
    bound, pattern = node_bound(types, count, kinds, 0, fits, types.value)
    assert bound == pytest.approx(7.0)
    assert types.value @ pattern == pytest.approx(7.0)
    nothing = node_bound(types, count, kinds, 0, fits, np.zeros(2))
    assert nothing[0] == 0.0


def test_any_prices_prove_a_bound() -> None:
    import scipy.sparse as sp

    program = LinearProgram(
        cost=np.array([-3.0, -2.0]),
        lower=np.zeros(2),
        upper=np.array([4.0, 5.0]),
        matrix=sp.csc_array(np.array([[1.0, 1.0]])),
        row_lower=np.array([-np.inf]),
        row_upper=np.array([6.0]),
    )
    assert dual_bound(program, np.array([2.0])) == pytest.approx(16.0)  # the optimum
    assert dual_bound(program, np.array([0.0])) == pytest.approx(22.0)
    assert dual_bound(program, np.array([7.0])) == pytest.approx(42.0)
