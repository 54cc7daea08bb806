"""What each demand reaches by itself, against HiGHS, and solves that end there."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import scipy.optimize as so
from hypothesis import given, settings
from hypothesis import strategies as st

import walras as wl
from walras.engines.admm.form import make_form
from walras.engines.admm.scalar_bounds import ceiling, ceilings

te = wl.domains.traffic_engineering


def demands(seed: int, rows: int) -> tuple[SimpleNamespace, SimpleNamespace, int]:
    """Random demands; entries that no packing row holds have a bound."""
    rng = np.random.default_rng(seed)
    count = rng.integers(1, 6, 5)
    ptr, n = np.append(0, np.cumsum(count)), int(np.sum(count))
    local = rng.uniform(0.5, 2.0, (rows, n)) * (rng.random((rows, n)) < 0.8)
    own = int(rng.integers(rows))
    packed = np.any(np.delete(local, own, axis=0) > 0, axis=0)
    upper = np.where(packed & (rng.random(n) < 0.5), np.inf, rng.uniform(0.1, 1.0, n))
    local[own] *= -1.0
    bounds = rng.uniform(0.5, 2.0, (5, rows))
    bounds[rng.random((5, rows)) < 0.2] = 3.0
    bounds[:, own] = 0.0
    shift = np.zeros((5, rows))
    shift[:, own] = rng.uniform(0.5, 2.0, 5)
    entries = SimpleNamespace(ptr=ptr, local=local, upper=upper)
    return entries, SimpleNamespace(upper=bounds, shift=shift), own


def alone(e: SimpleNamespace, r: SimpleNamespace, own: int, j: int, k: int) -> float:
    """The most of demand j under its packing row k, by HiGHS."""
    some = slice(e.ptr[j], e.ptr[j + 1])
    gain = -e.local[own, some]
    pairs = [(0.0, None if np.isinf(u) else u) for u in e.upper[some]]
    if k == own:
        found = so.linprog(-gain, bounds=pairs)
    else:
        found = so.linprog(-gain, e.local[[k], some], [r.upper[j, k]], bounds=pairs)
    return float(-found.fun / r.shift[j, own]) if found.status == 0 else np.inf  # type: ignore[operator]


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 3))
def test_ceilings_are_the_least_of_one_knapsack_a_row(seed: int, rows: int) -> None:
    e, r, own = demands(seed, rows)
    found = ceilings(e, r, own)  # type: ignore[arg-type]
    for j in range(5):
        some = slice(e.ptr[j], e.ptr[j + 1])
        known = [alone(e, r, own, j, k) for k in range(rows)]
        assert found.most[j] == pytest.approx(min(known), rel=1e-9, abs=1e-12)
        if np.isinf(min(known)):
            continue
        # Weak duality at the price of the row that limits it: nothing is lost.
        k, price = int(found.pack[j]), found.ratio[j]
        gain, a = -e.local[own, some], np.zeros(some.stop - some.start)
        room = 0.0
        if k >= 0:
            a, room = e.local[k, some], float(r.upper[j, k])
        left = np.maximum(gain - price * a, 0.0)
        kept = left > 1e-12
        proved = price * room + float(left[kept] @ e.upper[some][kept])
        assert proved / r.shift[j, own] == pytest.approx(found.most[j], rel=1e-9, abs=1e-12)


def loose(seed: int) -> tuple[wl.Separable, int]:
    """Max-min fair flows of a network that serves everybody, some pairs by a single path."""
    rng = np.random.default_rng(seed)
    n = 6
    ring = [(i, (i + 1) % n) for i in range(n)] + [((i + 1) % n, i) for i in range(n)]
    links = sorted({*ring, (0, 3), (3, 0), (1, 4)})
    net = te.Network(
        node_names=tuple("abcdef"),
        source=np.array([a for a, _ in links]),
        target=np.array([b for _, b in links]),
        capacity=rng.lognormal(0.0, 1.0, len(links)),
    )
    demand = rng.lognormal(0.0, 2.0, (n, n)) * (rng.random((n, n)) < 0.5)
    np.fill_diagonal(demand, 0.0)
    paths = te.candidate_paths(net, k=3)
    most = wl.solve(te.max_concurrent_flow(net, demand, paths)).value
    spec = te.max_min_fair(net, 0.999 * most * demand, paths)
    return spec.problem, int(np.count_nonzero(demand))


@pytest.mark.parametrize("options", [{}, {"restarts": True}, {"collapse": True}], ids=str)
@pytest.mark.parametrize("seed", range(4))
def test_where_everybody_is_served_the_ceiling_is_the_bound(
    seed: int, options: dict[str, Any]
) -> None:
    """Rows that ask for all, and rows that allow no more, pull against each other without end."""
    problem, _ = loose(seed)
    assert ceiling(make_form(problem))[0] == pytest.approx(1.0, rel=1e-12)
    s = wl.solve(problem, engine=wl.engines.ADMM(**options), tolerance=1e-3, time_limit=20.0)
    assert s.engine == "admm"
    assert s.status is wl.Status.OPTIMAL
    assert s.value == pytest.approx(1.0, rel=1e-3)
    assert len(s.history) < 4000
