"""Corrections of slices add up to the correction of all entries."""

from __future__ import annotations

import numpy as np
import pytest
from tests.bank.random_problems import build

import walras as wl
from walras.engines.admm.form import make_form
from walras.engines.admm.slices.block_normal_equations import RIDGE, Correction, Errors
from walras.engines.admm.slices.slice import cut
from walras.separable import Separable, Utility

te = wl.domains.traffic_engineering


def problem_of(kind: str, seed: int) -> Separable:
    """A random problem, or flows by link, which have many rows a source."""
    if kind == "random":
        return build(Utility.LOG, seed, 4, 6)
    net = te.load_topology("B4", synthetic=True)
    traffic = te.lognormal_traffic(net, seed=seed)
    traffic[4:] = 0.0
    return te.max_total_flow_by_link(net, traffic)


def held_rows(problem: Separable, seed: int) -> np.ndarray:
    """(rows,) some of them."""
    return np.random.default_rng(seed).random(problem.rows.count) < 0.6


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("kind", ["random", "collapsed", "own rows"])
@pytest.mark.parametrize("count", [1, 3])
def test_the_eliminated_equations_are_those_of_all_rows(seed: int, count: int, kind: str) -> None:
    problem = problem_of("flows" if kind == "own rows" else "random", seed)
    form = make_form(problem, collapse=kind == "collapsed", own=kind == "own rows")
    assert (len(form.own.source) > 0) == (kind == "own rows")
    rng = np.random.default_rng(seed)
    spread = rng.uniform(0.1, 1.0, problem.entries)
    spread[rng.random(problem.entries) < 0.2] = 0.0
    held = held_rows(problem, seed)
    error = np.where(held, rng.normal(size=problem.rows.count), 0.0)
    of_groups = np.append(error, 0.0)[form.groups.source]
    tight_groups = np.append(held, False)[form.groups.source]
    narrow = form.narrow.source[:-1]
    tight = np.flatnonzero(held[narrow])

    slices = cut(form, count, np.zeros(problem.entries), np.zeros(form.groups.kind.shape))
    total, parts, first = np.zeros((len(tight), len(tight) + 2)), [], 0
    for part in slices:
        groups = slice(first, first + len(part.groups.kind))
        entries = slice(int(form.entries.ptr[groups.start]), int(form.entries.ptr[groups.stop]))
        place = np.full(part.narrow, -1)
        place[tight] = np.arange(len(tight))
        named = place if part.entries.place is None else place[part.entries.place]
        mine = form.own.source[form.own_ptr[groups.start] : form.own_ptr[groups.stop]]
        of_own = error[mine], held[mine], part.own_ptr, len(narrow)
        one = Correction(
            part.entries,
            np.array(part.edges),
            (spread**2)[form.order][entries],
            named,
            len(tight),
            Errors(of_groups[groups], tight_groups[groups], *of_own),
        )
        parts.append((one, entries))
        for system in one.systems():
            total += system
        first = groups.stop
    between, through = total[:, :-2], total[:, -2]
    ridge = np.diag(RIDGE * total[:, -1] + np.finfo(float).tiny)
    y = np.linalg.solve(between + ridge, error[narrow][tight] - through)
    moved = np.zeros(problem.entries)
    for one, entries in parts:
        one.move(moved[entries], np.asarray(y, dtype=np.float64))

    G = problem.rows.matrix.toarray()[held]
    M = G * spread**2 @ G.T
    can = np.diag(M) > 0
    price = np.linalg.lstsq(M[np.ix_(can, can)], error[held][can], rcond=1e-10)[0]
    expected = spread**2 * (G[can].T @ price)
    if np.linalg.matrix_rank(G[can] * spread) == np.sum(can):
        assert moved == pytest.approx(expected[form.order], rel=1e-6, abs=1e-9)
        assert G[can] @ expected == pytest.approx(error[held][can])


def test_what_cannot_move_is_left_alone() -> None:
    problem = build("quadratic", 0, 2, 3)
    form = make_form(problem)
    part = cut(form, 1, np.zeros(problem.entries), np.zeros(form.groups.kind.shape))[0]
    one = Correction(
        part.entries,
        np.array(part.edges),
        np.zeros(problem.entries),
        np.full(len(form.narrow.source), -1),
        0,
        Errors(
            np.ones(form.groups.kind.shape),
            np.ones(form.groups.kind.shape, dtype=bool),
            np.zeros(0),
            np.zeros(0, dtype=bool),
            part.own_ptr,
            len(form.narrow.source) - 1,
        ),
    )
    x = np.ones(problem.entries)
    assert all(system.shape == (0, 2) for system in one.systems())
    one.move(x, np.zeros(0))
    assert np.all(x == 1.0)
