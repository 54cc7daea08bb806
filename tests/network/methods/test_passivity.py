"""Tracking over one-way links: advised steps against the spectrum of the iteration itself."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.network.instances import quadratic

from walras import network as wn
from walras.errors import InputError
from walras.network._simulate import simulate
from walras.network.methods.passivity import lag
from walras.types import Floats


def regression(centres: int, seed: int = 0) -> wn.NetworkProblem:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(30 * centres, 3)) * rng.uniform(0.3, 3.0, 3)
    t = x @ rng.normal(size=3) + 0.1 * rng.normal(size=len(x))
    return quadratic(centres, loss=wn.LeastSquares(), shards=wn.split(x, t, centres, seed=seed))


def spectrum(network: wn.Network, hessians: Floats, step: float, alpha: float) -> Floats:
    """Moduli of (y, s) -> (y - step (R y + alpha (H y + s)), s - step C (H y + s)), descending."""
    n, m, _ = hessians.shape
    receive, send = (np.kron(g.toarray(), np.eye(m)) for g in (network.receive, network.send))
    bent, eye = np.zeros((n * m, n * m)), np.eye(n * m)
    for i in range(n):
        bent[i * m : (i + 1) * m, i * m : (i + 1) * m] = hessians[i]
    top = np.hstack([eye - step * (receive + alpha * bent), -step * alpha * eye])
    low = np.hstack([-step * send @ bent, eye - step * send])
    return np.sort(np.abs(np.linalg.eigvals(np.vstack([top, low]))))[::-1]


DIGRAPHS = {
    "ring of 8": wn.Network.ring(8, directed=True),
    "ring of 20": wn.Network.ring(20, directed=True),
    "random": wn.Network.erdos_renyi(20, 0.2, seed=3, directed=True),
    "both ways": wn.Network.of(3, [(0, 1), (1, 0), (1, 2), (2, 1)], directed=True),
    "uneven": wn.Network.of(4, [(0, 1), (1, 2), (2, 3), (3, 0), (0, 2)], directed=True),
}


@pytest.mark.parametrize("name", DIGRAPHS)
def test_the_iteration_at_the_advised_step_is_stable(name: str) -> None:
    network = DIGRAPHS[name]
    problem = regression(network.centres)
    loss, data = problem.learning
    hessians = loss.hessian(np.zeros(4), data, network.centres)  # type: ignore[attr-defined]
    steps = wn.advise(problem, network, links=wn.Ideal()).steps
    radii = spectrum(network, hessians, steps.model, steps.alpha)
    # The four ones are the sum of surpluses, which starts at 0 and stays.
    np.testing.assert_allclose(radii[:4], 1.0, atol=1e-9)
    assert radii[4] < 1.0 - 1e-6


@settings(max_examples=25)
@given(st.integers(3, 8), st.integers(0, 10**6), st.floats(0.3, 0.8))
def test_any_convex_losses_on_any_digraph_are_stable(n: int, seed: int, p: float) -> None:
    """Hessians from 0 to L, a different one each: the criterion holds for all."""
    rng = np.random.default_rng(seed)
    try:
        network = wn.Network.erdos_renyi(n, p, seed=seed, directed=True)
    except InputError:
        return  # not connected in a hundred draws
    size = 0.5 / float(max(network.out_weight.max(), network.in_weight.max()))
    beta = 0.999 / lag(network, size)
    for _ in range(5):
        hessians = rng.choice([0.0, 0.01, 0.5, 1.0], (n, 1, 1)) * rng.choice([1.0, rng.random()])
        assert spectrum(network, hessians, size, beta / size)[0] < 1.0 + 1e-7


def test_the_criterion_is_jurys_bound_on_symmetric_weights() -> None:
    """The largest stable step times alpha L, by bisection on the spectrum, for equal losses."""
    network, step = wn.Network.ring(8), 0.7
    low, high = 0.0, 4.0
    for _ in range(40):
        beta = 0.5 * (low + high)
        stable = all(
            spectrum(network, np.full((8, 1, 1), c), step, beta / step)[0] < 1.0 + 1e-9
            for c in np.geomspace(1e-3, 1.0, 20)
        )
        low, high = (beta, high) if stable else (low, beta)
    assert 1.0 / lag(network, step) == pytest.approx(low, rel=1e-3)


@pytest.mark.parametrize("name", ["ring of 8", "random", "uneven"])
def test_default_steps_reach_the_model_on_digraphs(name: str) -> None:
    network = DIGRAPHS[name]
    run = simulate(regression(network.centres), network, steps=6000, every=500)
    assert run.model_error < 1e-6
    assert run.consensus_error[-1] < 1e-8
    assert not run.halvings


@pytest.mark.parametrize("every", [5, 20])
def test_balanced_digraphs_that_change_descend(every: int) -> None:
    network = wn.Network.ring(6, directed=True).switching(every)
    run = simulate(regression(6), network, steps=1500, every=500)
    assert run.model_error < 0.1
    assert run.consensus_error[-1] < 1e-4


def test_a_given_alpha_is_kept_or_refused() -> None:
    network, problem = DIGRAPHS["ring of 8"], regression(8)
    bound = wn.advise(problem, network).steps.alpha_bound
    steps = wn.advise(problem, network, method=wn.Surplus(alpha=0.4 * bound)).steps
    assert steps.alpha == 0.4 * bound
    run = simulate(problem, network, steps=3000, every=500, method=wn.Surplus(alpha=0.4 * bound))
    assert run.consensus_error[-1] < 1e-4
    with pytest.raises(InputError, match=r"alpha: is .*unsafe=True"):
        simulate(problem, network, steps=5, method=wn.Surplus(alpha=3.0 * bound))
