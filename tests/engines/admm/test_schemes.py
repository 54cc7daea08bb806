"""The schemes come to the optimum, or stop by their own rule, from nothing."""

from __future__ import annotations

import numpy as np
import pytest
from tests.engines.admm.proofs.points import standing_at
from tests.engines.admm.test_admm import OBJECTIVES, cluster

import walras as wl
from walras.certificate.certify import minimised_value
from walras.engines.admm.method import Method
from walras.engines.admm.options import ADMMOptions
from walras.engines.admm.schemes import Collapsed, Joint, Published, Scheme, Splitting
from walras.separable import Separable
from walras.types import Floats

Point = tuple[Floats, Floats, Floats]


def iterated(
    problem: Separable, scheme: Scheme, most: int, *, collapse: bool = False
) -> tuple[Method, Point]:
    """The method after some iterations from zero, or fewer where the scheme stops; its point."""
    start = np.zeros(problem.entries), np.zeros(problem.scalars), np.zeros(problem.rows.count)
    with standing_at(problem, *start, collapse=collapse) as (method, _):
        for _ in range(most):
            if scheme.iterate(method):
                break
        return method, method.point()


@pytest.mark.parametrize("objective", [OBJECTIVES[0], OBJECTIVES[2]])  # from zero, which logs bar
@pytest.mark.parametrize("way", ["plain", "restarts", "collapsed", "collapsed restarts"])
def test_iterates_come_to_the_optimum(objective: object, way: str) -> None:
    problem = cluster(objective, 3, 8)
    collapse, restarts = "collapsed" in way, "restarts" in way
    scheme = Collapsed(restarts=restarts) if collapse else Splitting(1.6, restarts=restarts)
    method, (x, t, _) = iterated(problem, scheme, 1500, collapse=collapse)
    best = wl.solve(problem, engine="exact", tolerance=1e-9)
    exact = minimised_value(problem, best.entries, best.scalars)
    assert minimised_value(problem, x, t) == pytest.approx(exact, rel=5e-3, abs=5e-3)
    rows = problem.rows
    over = rows.matrix @ x + rows.scalar_matrix @ t - rows.upper
    assert np.max(over) <= 2e-2 * np.abs(rows.upper[np.isfinite(rows.upper)]).max()
    assert method.count == 1500


def test_the_published_scheme_stops_at_its_residual() -> None:
    problem = cluster(OBJECTIVES[2], 3, 8)
    loose, tight = (iterated(problem, Published(stop), 3000)[0] for stop in (1e-1, 1e-3))
    assert 1 < loose.count < tight.count < 3000
    for method, stop in ((loose, 1e-1), (tight, 1e-3)):
        assert max(method.residuals.primal, method.residuals.dual) <= stop


def test_joint_minimisation_raises_the_penalty_or_moves_multipliers() -> None:
    problem = cluster(OBJECTIVES[2], 3, 8)
    rule = ADMMOptions().joint
    penalty = iterated(problem, Joint(multipliers=False), 5 * rule.sweeps)[0]
    assert penalty.rho == pytest.approx(rule.growth**5, rel=1e-9) or penalty.rho > rule.growth
    assert penalty.rho <= rule.largest_penalty * rule.growth
    moved = iterated(problem, Joint(multipliers=True), 5 * rule.sweeps)[0]
    assert moved.rho == 1.0
