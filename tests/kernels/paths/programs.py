"""Random path programs, and what the dual simplex method makes of them."""

from __future__ import annotations

import numpy as np
import pytest

from walras.kernels.paths.basis import Basis, PathProgram, copied, first_basis
from walras.kernels.paths.dual_simplex import follow, judge, make_work
from walras.types import Floats


def program(seed: int, *, scaled: bool) -> PathProgram:
    """Pairs with one to four random paths; a path without links is each pair's last one unless
    the capacities are scaled.
    """
    rng = np.random.default_rng(seed)
    links, pairs = int(rng.integers(3, 12)), int(rng.integers(1, 12))
    count = rng.integers(1, 5, pairs)
    sets = [
        [*rng.permutation(links)[: rng.integers(1, 4)]] if scaled or k < n - 1 else []
        for n in count
        for k in range(n)
    ]
    hops = np.array([len(each) for each in sets])
    flat = np.array([e for each in sets for e in each], dtype=np.int32)
    flat.setflags(write=False)  # as those of te.Paths
    users = np.repeat(np.arange(len(sets), dtype=np.int32), hops)[np.argsort(flat, kind="stable")]
    return PathProgram(
        first=np.concatenate(([0], np.cumsum(count))),
        pair=np.repeat(np.arange(pairs, dtype=np.int32), count),
        pointer=np.concatenate(([0], np.cumsum(hops))),
        links=flat,
        user_pointer=np.concatenate(([0], np.cumsum(np.bincount(flat, minlength=links)))),
        users=users,
        cost=(hops == 0).astype(float),
        perturbed=(hops == 0) + 1e-10 * hops * rng.random(len(hops)),
        capacity=rng.choice([0.5, 1.0, 2.0], links),
        scaled=int(scaled),
    )


def demands_of(case: PathProgram, seed: int, count: int = 6) -> Floats:
    rng = np.random.default_rng(seed)
    shape = (count, len(case.first) - 1)
    return rng.choice([0.0, 1.0, 1.0, 2.0], shape) * rng.choice([1.0, 0.7], shape)


def solved(
    case: PathProgram, demands: Floats, start: Basis | None = None, most: int = 10_000
) -> tuple[Basis, Floats, Floats]:
    """The last basis, the values and the bounds."""
    first, flow = first_basis(case), np.zeros((len(demands), len(case.pair)))
    basis = copied(first if start is None else start)
    price, pivots = np.zeros((len(demands), len(case.capacity))), np.zeros(len(demands), dtype=int)
    follow(case, basis, first, demands, most, make_work(case), flow, price, pivots)
    fullest, low = np.zeros((2, len(demands)))
    judge(case, demands, flow, price, fullest, low)
    if not case.scaled:
        assert fullest.max() <= 1.0 + 1e-9
    assert flow.min() >= 0.0
    served = np.add.reduceat(flow, case.first[:-1], axis=1)
    assert served == pytest.approx(demands, abs=1e-9)
    return basis, fullest if case.scaled else flow @ case.cost, low
