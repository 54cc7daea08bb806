"""The smoothed problem's parts: formulas written out, derivatives by automatic differentiation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
import torch

from walras.errors import InputError
from walras.matching.smoothed import (
    Curve,
    Smoothed,
    Smoothing,
    State,
    covariance,
    curvatures,
    even_load,
    features,
    log_steps,
    pulled,
    unvector,
    vector,
)

B, M, N = 2, 3, 4


def number(*values: float) -> torch.Tensor:
    return torch.tensor(values, dtype=torch.float64)


CURVE = Curve(number(0.6, 0.5, 0.8), number(0.5, 0.3, 0.9))


def problem(
    barrier: str = "log", curve: Curve | None = None, barred: bool = False
) -> tuple[Smoothed, torch.Tensor]:
    """Two random rounds of three clusters and four tasks, and a matching inside."""
    rng = np.random.default_rng(3)
    t = torch.as_tensor(rng.lognormal(size=(B, M, N)))
    a = torch.as_tensor(rng.uniform(0.5, 1.0, (B, M, N)))
    x = torch.softmax(torch.as_tensor(rng.normal(size=(B, M, N))), -2)
    out = None
    if barred:
        out = torch.zeros(B, M, N, dtype=torch.bool)
        out[0, 1, 2] = out[1, 0, 0] = True
        t, x = t.masked_fill(out, 0.0), x.masked_fill(out, 0.0)
        x = x / x.sum(-2, keepdim=True)
    smoothing = Smoothing(0.3, 4.0, barrier, weight=0.07, width=0.05, price=3.0)
    return Smoothed(t, a, number(0.7, 0.95), smoothing, curve, out), x


EVERY = [
    (barrier, curve, barred)
    for barrier in ("log", "elastic")
    for curve in (None, CURVE)
    for barred in (False, True)
]
each = pytest.mark.parametrize(("barrier", "curve", "barred"), EVERY)


def gradient(of: Callable[[torch.Tensor], torch.Tensor], at: torch.Tensor) -> torch.Tensor:
    point = at.clone().requires_grad_()
    (found,) = torch.autograd.grad(of(point).sum(), point)
    return found


def close(got: torch.Tensor, wanted: torch.Tensor, tolerance: float = 1e-12) -> None:
    torch.testing.assert_close(got, wanted, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("barrier", ["log", "elastic"])
def test_the_floor_costs_what_is_written_and_its_derivatives_follow(barrier: str) -> None:
    s = Smoothing(barrier=barrier, weight=0.3, width=0.25, price=2.0)
    g = number(-1.0, -0.1, 0.0, 0.2, 0.25, 0.3, 1.0)
    value, slope, curvature = s.floor_cost(g)

    def phi(g: torch.Tensor) -> torch.Tensor:
        if barrier == "elastic":
            return 2.0 * 0.25 * torch.log(1 + torch.exp(-g / 0.25))
        d = g - 0.25  # beyond the width the logarithm, below its second-order expansion there
        below = -np.log(0.25) - d / 0.25 + d * d / (2 * 0.25**2)
        return 0.3 * torch.where(g < 0.25, below, -torch.log(g.clamp_min(0.25)))

    close(value, phi(g))
    close(slope, -gradient(phi, g))
    close(curvature, gradient(lambda u: gradient_graph(phi, u), g))


def gradient_graph(of: Callable[[torch.Tensor], torch.Tensor], at: torch.Tensor) -> torch.Tensor:
    (found,) = torch.autograd.grad(of(at).sum(), at, create_graph=True)
    return found


def test_the_ratio_and_its_derivatives() -> None:
    n = torch.as_tensor(np.random.default_rng(0).uniform(0.2, 5.0, (B, M)))

    def zeta(n: torch.Tensor) -> torch.Tensor:
        return CURVE.limit + (1 - CURVE.limit) * torch.exp(-CURVE.rate * (n - 1))

    value, slope, curvature = CURVE.at(n)
    close(value, zeta(n))
    close(slope, gradient(zeta, n))
    close(curvature, gradient(lambda u: gradient_graph(zeta, u), n))


def written(p: Smoothed, x: torch.Tensor) -> torch.Tensor:
    """F without its entropy, from the docstring's formula."""
    sums, counts = (p.t * x).sum(-1), x.sum(-1)
    loads = sums
    if p.curve is not None:
        loads = sums * (
            p.curve.limit + (1 - p.curve.limit) * torch.exp(-p.curve.rate * (counts - 1))
        )
    beta = p.smoothing.sharpness
    smooth = torch.log(torch.exp(beta * loads).sum(-1)) / beta
    success = (p.a * x).sum((-2, -1)) / N
    return smooth + p.smoothing.floor_cost(success - p.floor)[0]


@each
def test_the_objective_is_what_is_written(barrier: str, curve: Curve | None, barred: bool) -> None:
    p, x = problem(barrier, curve, barred)
    close(p.cost(x), written(p, x))
    entropy = torch.where(x > 0, x * torch.log(x.clamp_min(1e-300)), 0.0).sum((-2, -1))
    close(p.value(x), written(p, x) + 0.3 / N * entropy)
    assert p.tasks == N
    assert p.tau == pytest.approx(0.3 / N)


@each
def test_costs_and_slopes_are_derivatives(barrier: str, curve: Curve | None, barred: bool) -> None:
    p, x = problem(barrier, curve, barred)
    free = torch.ones_like(x, dtype=torch.bool) if p.barred is None else ~p.barred
    by = p.forces(p.state(x))
    wanted = gradient(lambda u: written(p, u), x)
    close(p.costs(by)[free], wanted[free])
    z = torch.log(x.clamp_min(1e-300))
    close(p.slopes(by, z)[free], (wanted + p.tau * z)[free])
    if p.barred is not None:
        assert bool(torch.isinf(p.costs(by)[p.barred]).all())
        assert p.slopes(by, z)[p.barred].tolist() == [0.0, 0.0]
    shares = torch.where(free, torch.exp(-wanted / p.tau), 0.0)
    close(p.logits(by).exp(), shares / shares.sum(-2, keepdim=True), 1e-10)


@each
def test_the_residual_is_the_largest_distance_from_a_columns_mean(
    barrier: str, curve: Curve | None, barred: bool
) -> None:
    p, x = problem(barrier, curve, barred)
    slope = gradient(lambda u: written(p, u), x) + p.tau * torch.log(x.clamp_min(1e-300))
    worst = np.zeros(B)
    for b in range(B):
        for j in range(N):
            used = [i for i in range(M) if p.barred is None or not p.barred[b, i, j]]
            mean = sum(float(x[b, i, j] * slope[b, i, j]) for i in used)
            worst[b] = max(worst[b], *(abs(float(slope[b, i, j]) - mean) for i in used))
    close(p.residual(x), torch.as_tensor(worst), 1e-10)


def test_a_share_that_has_underflowed_may_be_dear_but_not_cheap() -> None:
    """One task, two clusters: all on the first. The second is dearer, or cheaper, by its time."""
    smoothing = Smoothing(1e-3, 1.0, "elastic", price=0.0)
    x = number(1.0, 0.0).reshape(1, 2, 1)
    for times, optimal in ((number(1.0, 9.0), True), (number(9.0, 1.0), False)):
        t = times.reshape(1, 2, 1)
        p = Smoothed(t, torch.ones_like(t), number(0.0), smoothing)
        residual = float(p.residual(x)[0])
        if optimal:
            assert residual < 1e-12
        else:
            # q = softmax of the loads 9 and 0: what the second lacks, less its entropy.
            q = np.exp([9.0, 0.0]) / np.exp([9.0, 0.0]).sum()
            assert residual == pytest.approx(9 * q[0] - q[1] - 1e-3 * np.log(1e-280), rel=1e-9)


def test_state_loads_and_the_uniform_matching() -> None:
    p, x = problem(curve=CURVE)
    at = p.state(x)
    for b in range(B):
        for i in range(M):
            own = sum(float(p.t[b, i, j] * x[b, i, j]) for j in range(N))
            count = float(x[b, i].sum())
            ratio = float(CURVE.at(number(count).expand(M))[0][i])
            assert float(at.sums[b, i]) == pytest.approx(own)
            assert float(at.counts[b, i]) == pytest.approx(count)
            assert float(p.loads(at)[b, i]) == pytest.approx(ratio * own)
        assert float(at.success[b]) == pytest.approx(float((p.a[b] * x[b]).sum()) / N)
    close(p.uniform(), torch.full_like(x, 1 / 3))
    barred, _ = problem(barred=True)
    spread = barred.uniform()
    assert spread[0, :, 2].tolist() == [0.5, 0.0, 0.5]
    assert spread[1, :, 1].tolist() == pytest.approx([1 / 3] * 3)


@each
def test_curvatures_are_the_derivative_of_the_forces(
    barrier: str, curve: Curve | None, barred: bool
) -> None:
    p, x = problem(barrier, curve, barred)
    counts = curve is not None
    y = vector(p.state(x), counts=counts)
    k = y.shape[-1]
    assert k == (2 * M + 1 if counts else M + 1)

    def potential(y: torch.Tensor) -> torch.Tensor:
        """F as a function of the state."""
        at = unvector(y, M)
        beta = p.smoothing.sharpness
        smooth = torch.logsumexp(beta * p.loads(at), -1) / beta
        return smooth + p.smoothing.floor_cost(at.success - p.floor)[0]

    by = p.forces(p.state(x))
    parts = [by.q, by.w] if counts else [by.q]
    close(torch.cat([*parts, -by.nu[:, None]], -1), gradient(potential, y))
    found = curvatures(p, p.state(x), by)
    for b in range(B):
        hessian = torch.autograd.functional.hessian(
            lambda one, b=b: potential(torch.cat([y[:b], one[None], y[b + 1 :]]))[b], y[b]
        )
        close(found[b], hessian, 1e-9)


@pytest.mark.parametrize("counts", [False, True])
def test_covariances_are_summed_over_columns(counts: bool) -> None:
    p, x = problem()
    found = covariance(x, p.t, p.a, counts=counts)
    k = 2 * M + 1 if counts else M + 1
    for b in range(B):
        wanted = np.zeros((k, k))
        for j in range(N):
            # A cluster drawn by the column's shares gives one of these vectors.
            vectors = np.zeros((M, k))
            for i in range(M):
                vectors[i, i] = p.t[b, i, j]
                if counts:
                    vectors[i, M + i] = 1.0
                vectors[i, -1] = p.a[b, i, j] / N
            share = x[b, :, j].numpy()
            mean = share @ vectors
            wanted += (vectors - mean).T @ np.diag(share) @ (vectors - mean)
        np.testing.assert_allclose(found[b].numpy(), wanted, atol=1e-13)


@pytest.mark.parametrize("curve", [None, CURVE], ids=["apart", "together"])
def test_features_and_their_transpose(curve: Curve | None) -> None:
    p, x = problem(curve=curve)
    close(features(p, x), vector(p.state(x), counts=curve is not None))
    rng = np.random.default_rng(5)
    w = torch.as_tensor(rng.normal(size=x.shape))
    v = torch.as_tensor(rng.normal(size=features(p, x).shape))
    close((features(p, w) * v).sum(-1), (pulled(p, v) * w).sum((-2, -1)))


def test_vectors_and_states_are_each_others_inverse() -> None:
    p, x = problem()
    at = p.state(x)
    both = unvector(vector(at, counts=True), M)
    close(both.sums, at.sums)
    close(both.counts, at.counts)
    close(both.success, at.success)
    alone = unvector(vector(at, counts=False), M)
    close(alone.sums, at.sums)
    close(alone.success, at.success)
    assert alone.counts.tolist() == [[0.0] * M] * B


@pytest.mark.parametrize("barred", [False, True])
@pytest.mark.parametrize("barrier", ["log", "elastic"])
def test_the_dual_function_is_the_least_of_the_lagrangian(barrier: str, barred: bool) -> None:
    """``H(p)/beta + nu R + phi(R - gamma) - tau sum_j log sum_i exp(-cost_ij/tau)``, by loops."""
    p, x = problem(barrier, None, barred)
    at = p.state(x)
    by = p.forces(at)
    found = p.dual(at, by)
    weights = torch.softmax(p.smoothing.sharpness * at.sums, -1)
    for b in range(B):
        nu = -float(gradient(lambda g: p.smoothing.floor_cost(g)[0], at.success - p.floor)[b])
        total = -float((weights[b] * torch.log(weights[b])).sum()) / p.smoothing.sharpness
        total += nu * float(at.success[b])
        total += float(p.smoothing.floor_cost(at.success - p.floor)[0][b])
        for j in range(N):
            terms = [
                np.exp(
                    -(float(weights[b, i] * p.t[b, i, j]) - nu * float(p.a[b, i, j]) / N) / p.tau
                )
                for i in range(M)
                if p.barred is None or not p.barred[b, i, j]
            ]
            total -= p.tau * np.log(sum(terms))
        assert float(found[b]) == pytest.approx(total, rel=1e-10)
    assert bool((found <= p.value(x)).all())


def test_some_of_the_rounds_and_other_temperatures() -> None:
    p, x = problem(barred=True)
    one = p.take(torch.tensor([1]))
    assert one.barred is not None
    assert p.barred is not None
    close(one.value(x[1:]), p.value(x)[1:])
    assert one.barred.tolist() == p.barred[1:].tolist()
    assert p.take(torch.tensor([0, 1])) is p
    plain, _ = problem()
    assert plain.take(torch.tensor([0])).barred is None
    warm = p.at(0.9)
    assert warm.smoothing == replace(p.smoothing, temperature=0.9)
    assert warm.tau == pytest.approx(0.9 / N)


def test_an_even_load_counts_the_clusters_that_run_a_task() -> None:
    """Mean times 2 and 6 over two clusters; without the second cluster for task 1, 2 and 4."""
    t = number(1.0, 4.0, 3.0, 8.0).reshape(1, 2, 2)
    assert even_load(t).tolist() == [(2 + 6) / 2]
    t[0, 1, 1] = torch.inf
    assert even_load(t).tolist() == [(2 + 4) / 2]


@pytest.mark.parametrize("count", [1, 2, 5])
def test_factors_fall_to_one_evenly_in_their_logarithm(count: int) -> None:
    steps = log_steps(16.0, count)
    assert steps == pytest.approx(np.geomspace(16.0, 1.0, count).tolist())
    assert len(steps) == count


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"barrier": "wall"}, "setting barrier: is 'wall'; allowed: log, elastic"),
        ({"temperature": 0.9e-9}, "temperature"),
        ({"temperature": 1.1e9}, "temperature"),
        ({"sharpness": 0.0}, "sharpness"),
        ({"weight": 0.0}, "weight"),
        ({"width": 0.0}, "width"),
        ({"price": -1e-9}, "price"),
        ({"price": 1.1e9}, "price"),
    ],
)
def test_smoothings_out_of_range_are_refused(change: dict[str, float], words: str) -> None:
    with pytest.raises(InputError, match=words):
        Smoothing(**change)  # type: ignore[arg-type]


def test_smoothings_at_the_ends_of_their_ranges_are_taken() -> None:
    for end in (1e-9, 1e9):
        Smoothing(temperature=end, sharpness=end, weight=end, width=end)
    Smoothing(price=0.0)
    Smoothing(price=1e9)


def test_a_state_of_no_floor_pulls_nothing() -> None:
    """Under no price success has no force; the loads' weights sum to one."""
    smoothing = Smoothing(0.3, 4.0, "elastic", price=0.0)
    p = replace(problem()[0], smoothing=smoothing)
    by = p.forces(State(torch.ones(B, M, dtype=torch.float64), torch.zeros(B, M), number(0.1, 0.9)))
    close(by.p, torch.full((B, M), 1 / 3, dtype=torch.float64))
    assert by.nu.tolist() == [0.0, 0.0]
    assert by.w.tolist() == [[0.0] * M] * B
