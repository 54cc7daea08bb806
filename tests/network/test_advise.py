"""Step rules against spectra: what is safe is stable, and what is proved is not far off."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.network.instances import learning, net, quadratic

from walras import network as wn
from walras.errors import InputError
from walras.network._advise import spectrum, threshold
from walras.network._simulate import simulate
from walras.network.methods.steps import _model_bound


def _iteration(laplacian: np.ndarray, h: np.ndarray, alpha: float, step: float) -> float:
    """Spectral radius of the discrete iteration, its excluded mode left out; scalar models."""
    return float(np.abs(1 + step * spectrum(laplacian, h[:, None, None], alpha)).max())


@given(st.integers(0, 10**6), st.floats(-4, 4))
def test_convex_losses_are_stable_at_every_alpha_under_the_step_rule(
    seed: int, log_alpha: float
) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 12))
    network = wn.Network.erdos_renyi(n, 0.6, seed=seed) if n > 4 else wn.Network.ring(n)
    h = rng.uniform(0, 1, n) * (rng.random(n) < 0.7)
    h[0] = 1.0
    alpha = math.exp(log_alpha)
    step = 0.9999 * _model_bound(network.spectral_bound, alpha * h.max())
    assert step > 1.9 / (2 * network.spectral_bound + alpha * h.max())  # the weaker rule's
    assert spectrum(network.receive.toarray(), h[:, None, None], alpha).real.max() < 1e-9
    assert _iteration(network.receive.toarray(), h, alpha, step) < 1 + 1e-9


def test_the_alpha_bound_is_tight_for_two_centres_that_disagree() -> None:
    """n = 2, h = (1, -1): exactly lambda_2 / L by Routh's criterion."""
    laplacian = np.array([[0.5, -0.5], [-0.5, 0.5]])
    found = threshold(laplacian, np.array([1.0, -0.999999])[:, None, None])
    assert found == pytest.approx(1.0, rel=1e-4)
    assert threshold(laplacian, np.array([1.0, 0.5])[:, None, None]) == math.inf


@given(st.integers(0, 10**6))
def test_locally_non_convex_losses_are_stable_below_lambda_2_over_l(seed: int) -> None:
    rng = np.random.default_rng(seed)
    network = wn.Network.erdos_renyi(8, 0.6, seed=seed)
    h = rng.uniform(-1, 1, 8)
    h += max(0.0, 0.1 - h.mean())  # A1: convex in sum
    bound = network.eigenvalues[0] / np.abs(h).max()
    values = spectrum(network.receive.toarray(), h[:, None, None], 0.99 * bound)
    assert values.real.max() < 1e-9


def test_the_advice_names_steps_bounds_and_bits() -> None:
    advice = wn.advise(learning(), net())
    steps = advice.steps
    assert steps.share == pytest.approx(0.5 * steps.share_bound)
    assert steps.alpha_bound == math.inf
    assert steps.model == pytest.approx(0.9 * steps.model_bound)
    assert advice.bits_per_step == 2 * net().links * (16 + (16 + 24))
    table = advice.frame().set_index("what")["value"]
    assert table["lambda_2"] == advice.algebraic_connectivity
    assert 100 < table["steps to 1e-6"] < 1e5
    assert wn.advise(quadratic(), net()).frame()["what"].tolist().count("alpha") == 0


def test_tracking_sends_two_messages_and_takes_half_its_bound() -> None:
    advice = wn.advise(learning(), net(), method=wn.Surplus(learner="tracking"))
    assert advice.steps.model == pytest.approx(0.5 * advice.steps.model_bound)
    assert advice.bits_per_step == 2 * net().links * (16 + 2 * (16 + 24))
    row = advice.frame().set_index("what").loc["model messages a step"]
    assert row["value"] == 2
    assert row["why"] == "gradient tracking: the settings ask for it"


@pytest.mark.parametrize("faults", [None, wn.Faults(loss=0.2)])
def test_the_bits_are_those_of_a_run_with_lower_limits(faults: wn.Faults | None) -> None:
    x, t = np.ones((40, 2)), np.where(np.arange(40) % 2, 1.0, -1.0)
    problem = quadratic(boxes=(0.1, 9.0), loss=wn.Logistic(0.1), shards=wn.split(x, t, 20))
    run = simulate(problem, net(), steps=4, faults=faults, backend="vectorised")
    assert run.bits[-1] == 4 * wn.advise(problem, net(), faults=faults).bits_per_step


def test_losses_that_need_not_be_convex_bound_alpha() -> None:
    steps = wn.advise(_non_convex(), net()).steps
    assert 0 < steps.alpha < steps.alpha_bound < math.inf
    with pytest.raises(InputError, match="alpha"):
        wn.advise(_non_convex(), net(), method=wn.Surplus(alpha=2 * steps.alpha_bound))


def _non_convex() -> wn.NetworkProblem:
    problem = learning()

    class Declared(wn.SmoothHinge):
        convex = False

    return quadratic(loss=Declared(), shards=problem.data)


def test_faults_halve_the_steps_and_coarser_codes_shorten_them() -> None:
    safe = wn.advise(learning(), net()).steps
    faulty = wn.advise(learning(), net(), faults=wn.Faults(loss=0.1)).steps
    coarse = wn.advise(learning(), net(), links=wn.LogQuantizer(1.0)).steps
    assert faulty.share == pytest.approx(0.5 * safe.share)
    assert faulty.momentum == 0.0
    assert coarse.share < safe.share


@pytest.mark.parametrize(
    ("faults", "bits"),
    # weight, two codes or numbers, quanta; weight and two messages of three scalars
    [(None, (64 + 2 * 16 + 64) + 2 * 40), (wn.Faults(loss=0.1), 4 * 64 + (64 + 2 * 3 * 64))],
)
def test_one_way_links_state_mixing_and_bits(faults: wn.Faults | None, bits: int) -> None:
    network = wn.Network.erdos_renyi(20, 0.2, seed=3, directed=True)
    advice = wn.advise(learning(), network, faults=faults)
    assert advice.steps.share == advice.steps.mixing**-1.5 < advice.steps.share_bound
    row = advice.frame().set_index("what").loc["share step"]
    assert f"mixing time of {advice.steps.mixing:g} steps" in row["why"]
    run = simulate(learning(), network, steps=3, faults=faults, backend="vectorised")
    assert run.bits[-1] == 3 * advice.bits_per_step == 3 * network.links * bits


@pytest.mark.parametrize("alpha", [0.0, -1.0, math.nan])
def test_an_alpha_that_is_no_weight_is_refused(alpha: float) -> None:
    with pytest.raises(InputError, match="alpha"):
        wn.advise(learning(), net(), method=wn.Surplus(alpha=alpha))
