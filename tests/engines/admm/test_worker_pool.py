"""Answers of slices combined as their pass says, by threads that end with the pool."""

from __future__ import annotations

import threading
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from tests.engines.admm.test_admm import cluster

import walras as wl
from walras.engines.admm.form import make_form
from walras.engines.admm.passes import Reduction
from walras.engines.admm.slices.slice import cut
from walras.engines.admm.tree_reduction import Tree
from walras.engines.admm.worker_pool import Executor, Threads, combined

cs = wl.domains.cluster_scheduling
ONE, OTHER = np.array([[1.0, 5.0]]), np.array([[3.0, -2.0]])


@pytest.mark.parametrize(
    ("reduction", "expected"),
    [
        (Reduction.SUM, [4.0, 3.0]),
        (Reduction.MAX, [[3.0, 5.0]]),
        (Reduction.GATHER, [[1.0, 5.0], [3.0, -2.0]]),
    ],
)
def test_answers_are_combined_as_the_pass_says(reduction: Reduction, expected: Any) -> None:
    one: Any = SimpleNamespace(reduction=reduction)
    tree = Tree([range(1), range(1, 2)])
    found = combined(one, tree, [ONE, OTHER])
    assert np.asarray(found).tolist() == expected


def test_ranges_widen_and_a_silent_pass_has_no_answer() -> None:
    tree = Tree([range(1), range(1, 2)])
    ranges: Any = SimpleNamespace(reduction=Reduction.RANGE)
    found = combined(ranges, tree, [np.array([[2.0], [1.0]]), np.array([[4.0], [-1.0]])])
    assert np.asarray(found).tolist() == [[4.0], [-1.0]]  # the highest and the lowest
    silent: Any = SimpleNamespace(reduction=Reduction.NONE)
    assert combined(silent, tree, [None, None]) is None


def test_threads_give_the_bits_of_one_and_end_with_the_pool() -> None:
    problem = cluster(cs.total_throughput, 5, 40)
    form = make_form(problem, collapse=True)
    found = []
    before = threading.active_count()
    for count in (1, 3):
        x = np.linspace(0.0, 1.0, problem.entries)
        pool = Threads().open(cut(form, count, x, np.zeros(form.groups.kind.shape)))
        try:
            found.append((pool.passes.activities(), pool.passes.entries()))
            assert (pool.traffic, pool.replaced) == (0.0, 0)
            assert pool.work >= 0.0
        finally:
            pool.close()
    for one, other in zip(*found, strict=True):
        np.testing.assert_array_equal(one, other)
    x = found[0][1]
    used = problem.rows.matrix.toarray()[form.narrow.source[:-1]][:, form.order] @ x
    np.testing.assert_allclose(found[0][0][:-1], used, rtol=1e-12)
    assert threading.active_count() == before


def test_threads_are_an_executor_of_one_slice_a_worker() -> None:
    assert isinstance(Threads(), Executor)
    assert Threads().slices(7) == 7
    with Threads().persistent() as kept:
        assert kept == Threads()
