"""Corrections of slices add up to the correction of all entries."""

from __future__ import annotations

import numpy as np
import pytest
from tests.bank.random_problems import build

from walras.engines.admm.form import make_form
from walras.engines.admm.proofs.correction import RIDGE, Correction
from walras.engines.admm.slices import cut
from walras.separable import Utility


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("collapse", [False, True])
@pytest.mark.parametrize("count", [1, 3])
def test_the_eliminated_equations_are_those_of_all_rows(
    seed: int, count: int, *, collapse: bool
) -> None:
    problem = build(Utility.LOG, seed, 4, 6)
    form, rng = make_form(problem, collapse=collapse), np.random.default_rng(seed)
    rows, spread = problem.rows.count, rng.uniform(0.1, 1.0, problem.entries)
    spread[rng.random(problem.entries) < 0.2] = 0.0
    held = rng.random(rows) < 0.6
    error = np.where(held, rng.normal(size=rows), 0.0)
    of_groups = np.append(error, 0.0)[form.groups.source]
    tight_groups = np.append(held, False)[form.groups.source]
    narrow = form.narrow.source[:-1]
    tight = np.flatnonzero(held[narrow])
    place = np.full(len(narrow) + 1, -1)
    place[tight] = np.arange(len(tight))

    slices = cut(form, count, np.zeros(problem.entries), np.zeros(form.groups.kind.shape))
    total, parts, first = np.zeros((len(tight), len(tight) + 2)), [], 0
    for part in slices:
        groups = slice(first, first + len(part.groups.kind))
        entries = slice(int(form.entries.ptr[groups.start]), int(form.entries.ptr[groups.stop]))
        named = place if part.entries.place is None else place[part.entries.place]
        one = Correction(
            part.entries, np.array(part.edges), spread[form.order][entries], named, len(tight),
            Errors(of_groups[groups], tight_groups[groups], *_no_own(part)),
        )  # fmt: skip
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
        part.entries, np.array(part.edges), np.zeros(problem.entries),
        np.full(len(form.narrow.source), -1), 0,
        Errors(
            np.ones(form.groups.kind.shape), np.ones(form.groups.kind.shape, dtype=bool),
            *_no_own(part),
        ),
    )  # fmt: skip
    x = np.ones(problem.entries)
    assert all(system.shape == (0, 2) for system in one.systems())
    one.move(x, np.zeros(0))
    assert np.all(x == 1.0)
