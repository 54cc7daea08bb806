"""Conic programs by Clarabel: points moved inside, runs that end short, and what breaks down."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest

import walras as wl
from walras.problem import conic, proof

x, y, w = cp.Variable(name="x"), cp.Variable(2, name="y"), cp.Variable(3, name="w")


@pytest.mark.parametrize("least", [1.0, 5.0, 10.0])
def test_a_point_moves_inside_no_farther_than_it_must(least: float) -> None:
    p = wl.Problem(cp.Minimize(cp.exp(x)), [x >= least])
    assert p.solve(threads=1).certificate.violation <= 1e-9
    assert least - 1e-9 * least <= x.value <= least * (1 + 1e-6)


def test_without_an_inside_a_point_is_given_with_its_violation(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Values are kept up to what is stated, and said to be inaccurate above the tolerance."""
    monkeypatch.setattr(conic, "_inner_point", lambda program: None)
    monkeypatch.setattr(proof, "ALLOWED", 1e-10)
    p = wl.Problem(cp.Minimize(cp.exp(x) + cp.norm(y)), [x >= 5, y == [3, 4]])
    s = p.solve(threads=1)
    assert 1e-10 < s.certificate.violation <= 1e-5
    assert s.status is wl.Status.INACCURATE
    assert x.value == pytest.approx(5.0, abs=1e-3)
    assert "breaks" in s.message
    assert f"{s.certificate.violation:.1e}" in s.message


def test_a_run_that_ends_short_leaves_its_point(monkeypatch: pytest.MonkeyPatch) -> None:
    """As where rounding lets Clarabel make no progress."""
    p = wl.Problem(cp.Minimize(cp.norm(y - 3)), [y <= 1])
    data, chain, _ = conic.chain_of(p.to_cvxpy(), cp.CLARABEL)
    raw = chain.solver.solve_via_data(data, False, False, {})

    class Short:
        x, z, s = raw.x, raw.z, raw.s
        obj_val, obj_val_dual = raw.obj_val, raw.obj_val_dual
        r_prim, r_dual = raw.r_prim, raw.r_dual
        status = "InsufficientProgress"

    monkeypatch.setattr(type(chain.solver), "solve_via_data", lambda *_: Short)
    s = p.solve(threads=1)
    assert s.status == "optimal"  # the certificate judges it
    assert y.value == pytest.approx([1.0, 1.0], abs=1e-6)


def test_a_panic_of_clarabel_is_one_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conic, "_summing_to_one", list)  # Clarabel insists that they do
    alphas = np.array([0.1, 0.2, 0.7 + 1e-9])
    p = wl.Problem(cp.Maximize(x), [cp.PowConeND(w, x, alphas), w <= 1])
    with pytest.raises(wl.EngineError, match="Clarabel broke down: assertion failed"):
        p.solve(threads=1)


def test_what_cvxpy_cannot_turn_into_cones_is_one_error() -> None:
    p = wl.Problem(cp.Minimize(cp.norm(y, 2, keepdims=True)), [y >= 1])
    with pytest.raises(wl.EngineError, match="cvxpy cannot turn it into cones"):
        p.solve(threads=1)
