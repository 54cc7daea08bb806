"""Newton's step against the Hessian of F, first-order steps against their formulas, statements."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from tests.matching.rounds import batch
from tests.matching.test_smoothed import CURVE, close, gradient, number, problem, written

import walras as wl
from walras.matching import Decay, Smoothing, relaxed_match
from walras.matching.relaxed import curve_of, minimise
from walras.matching.relaxed_compiled import compiles
from walras.matching.relaxed_descent import as_printed, descend
from walras.matching.relaxed_newton import _convex, _iterate, _Step, newton
from walras.matching.smoothed import Curve, Smoothed, covariance, curvatures


def hessian(p: Smoothed, x: torch.Tensor, b: int) -> np.ndarray:
    """Second derivatives of F in round b's shares, column by column."""

    def value(one: torch.Tensor) -> torch.Tensor:
        every = torch.cat([x[:b], one.reshape(x.shape[1:])[None], x[b + 1 :]])
        entropy = (every * torch.log(every)).sum((-2, -1))
        return (written(p, every) + p.tau * entropy)[b]

    found = torch.autograd.functional.hessian(value, x[b].reshape(-1))
    return np.asarray(found)


@pytest.mark.parametrize("barrier", ["log", "elastic"])
@pytest.mark.parametrize("curve", [None, Curve(number(0.9, 0.95, 0.99), number(0.5, 0.3, 0.2))])
def test_a_step_is_newtons_on_the_simplices(barrier: str, curve: Curve | None) -> None:
    """It minimises the quadratic model of F whose columns stay of sum 1."""
    p, x = problem(barrier, curve)
    p = replace(p, smoothing=replace(p.smoothing, temperature=1.0))
    step = _Step.of(p, torch.log(x))
    m, n = x.shape[1:]
    slope = gradient(lambda u: written(p, u), x) + p.tau * (torch.log(x) + 1)
    for b in range(len(x)):
        h, g = hessian(p, x, b), slope[b].reshape(-1).numpy()
        ones = np.kron(np.ones(m), np.eye(n))  # (n, m n): sums of columns
        kkt = np.block([[h, ones.T], [ones, np.zeros((n, n))]])
        dx = np.linalg.solve(kkt, np.concatenate([-g, np.zeros(n)]))[: m * n].reshape(m, n)
        np.testing.assert_allclose((x[b] * step.dz[b]).numpy(), dx, rtol=1e-8, atol=1e-10)
        assert float(step.slope[b]) == pytest.approx(g @ dx.ravel(), rel=1e-8)
        assert float(step.slope[b]) < 0
    close(step.residual, p.residual(x))


def test_some_steps_are_those_of_their_rounds() -> None:
    p, x = problem()
    step = _Step.of(p, torch.log(x))
    one = step.take(torch.tensor([1]))
    close(one.dz, step.dz[1:])
    close(one.slope, step.slope[1:])
    close(one.residual, step.residual[1:])
    assert step.take(torch.tensor([0, 1])) is step


def test_a_step_is_halved_until_f_falls() -> None:
    p, x = problem()
    step = _Step.of(p, torch.log(x))
    z, moved = step.halved()
    assert moved.tolist() == [True, True]
    assert bool((p.value(z.exp()) < p.value(x)).all())
    close(z.exp().sum(-2), torch.ones(2, 4, dtype=torch.float64))
    # A step a thousand times too long is cut to about its right length.
    z, moved = replace(step, dz=1000 * step.dz, slope=1000 * step.slope).halved()
    assert moved.tolist() == [True, True]
    assert bool((p.value(z.exp()) < p.value(x)).all())
    # One that ascends moves nothing, and one that is no number neither.
    z, moved = replace(step, dz=-step.dz).halved()
    assert (moved.tolist(), torch.equal(z, step.z)) == ([False, False], True)
    dz = step.dz.clone()
    dz[0, 0, 0] = torch.nan
    z, moved = replace(step, dz=dz).halved()
    assert moved.tolist() == [False, True]
    assert torch.equal(z[0], step.z[0])


def test_a_whole_step_is_taken_where_f_falls_enough() -> None:
    p, _ = problem()
    near, _ = newton(p, 1e-2)
    step = _Step.of(p, torch.log(near))
    whole = torch.log_softmax(step.z + step.dz, -2)
    fall = p.value(whole.exp()) - p.value(near)
    assert bool((fall <= 1e-4 * step.slope).all())
    z, moved = step.halved()
    assert moved.tolist() == [True, True]
    close(z, whole)
    # Half of twice as long a step is that step.
    far = replace(step, dz=64 * step.dz, slope=64 * step.slope)
    z, _ = far.halved()
    sizes = [0.5**k * 64 for k in range(30)]
    for b in range(2):
        for size in sizes:
            trial = torch.log_softmax(step.z + size * step.dz, -2)
            if float((p.value(trial.exp()) - p.value(near))[b]) <= 1e-4 * size * float(
                step.slope[b]
            ):
                close(z[b], trial[b])
                break


@pytest.mark.parametrize("most", [1, 3])
def test_steps_are_counted_one_by_one(most: int) -> None:
    p, _ = problem()
    z, steps = _iterate(p, torch.log(p.uniform()), most, 0.0)
    assert steps.tolist() == [most, most]
    again = torch.log(p.uniform())
    for _ in range(most):
        again, moved = _Step.of(p, again).halved()
        assert bool(moved.all())
    close(z, again)
    solved, _ = newton(p, 1e-12)
    z, steps = _iterate(p, torch.log(solved), 5, 1e-6)
    assert steps.tolist() == [0, 0]
    assert torch.equal(z, torch.log(solved))


def test_a_solved_round_beside_an_open_one_stays_as_it_is() -> None:
    p, x = problem()
    solved, _ = newton(p, 1e-12)
    mixed = torch.stack([solved[0], x[1]])
    z, steps = _iterate(p, torch.log(mixed), 50, 1e-9)
    assert torch.equal(z[0], torch.log(mixed)[0])
    assert int(steps[0]) == 0 < int(steps[1])
    assert float(p.residual(z.exp()).max()) <= 1e-9


def test_a_bent_model_is_raised_to_the_moduli_of_its_eigenvalues() -> None:
    """Eigenvalues of I + K^1/2 G K^1/2 below a tenth become their moduli, a tenth at least."""
    rng = np.random.default_rng(4)
    k = 5
    root = rng.normal(size=(1, k, k))
    cover = torch.as_tensor(root @ root.transpose(0, 2, 1) + 0.5 * np.eye(k))
    values, axes = torch.linalg.eigh(cover)
    half = axes @ torch.diag_embed(values.sqrt()) @ axes.transpose(1, 2)
    back = torch.linalg.inv(half)
    frame = torch.as_tensor(np.linalg.qr(rng.normal(size=(k, k)))[0])[None]
    model = number(-3.0, -0.05, 0.05, 0.4, 2.0)  # of I + K^1/2 G K^1/2
    g = back @ (frame @ torch.diag_embed(model - 1.0)[None] @ frame.transpose(1, 2)) @ back
    raised = _convex(g, cover)
    found = torch.linalg.eigvalsh(torch.eye(k) + half @ raised @ half)[0]
    close(found, number(0.1, 0.1, 0.4, 2.0, 3.0), 1e-9)
    fine = back @ (frame @ torch.diag_embed(model.abs() + 0.2)[None] @ frame.transpose(1, 2)) @ back
    assert _convex(fine, cover) is fine


@pytest.mark.parametrize("curve", [None, CURVE], ids=["apart", "together"])
@pytest.mark.parametrize("barred", [False, True])
def test_newton_ends_at_a_stationary_point_from_anywhere(curve: Curve | None, barred: bool) -> None:
    p, x = problem(curve=curve, barred=barred)
    cold, steps = newton(p, 1e-12)
    assert float(p.residual(cold).max()) <= 1e-9
    assert bool((steps > 0).all())
    assert bool((p.value(cold) <= p.value(x)).all())
    warm, few = newton(p, 1e-12, p.state(cold))
    close(warm, cold, 1e-8)
    assert bool((few < steps).all())


def test_newton_stops_at_the_residual_that_was_asked_for() -> None:
    p, _ = problem()
    loose, few = newton(p, 1e-2)
    tight, more = newton(p, 1e-12)
    assert bool((p.residual(loose) <= 1e-2).all())
    assert bool((few <= more).all())
    assert int(few.sum()) < int(more.sum())
    assert newton(p, 1e-2, p.state(tight))[1].tolist() == [0, 0]


@pytest.mark.parametrize("barred", [False, True])
def test_algorithm_1_is_a_softmax_of_its_own_step(barred: bool) -> None:
    p, _ = problem(barred=barred)
    x = p.uniform()
    for _ in range(2):
        cost = gradient(lambda u: written(p, u), x)
        shares = torch.exp(x - 0.7 * cost)
        if p.barred is not None:
            shares = shares.masked_fill(p.barred, 0.0)
        x = shares / shares.sum(-2, keepdim=True)
    close(as_printed(p, 0.7, 2), x)
    close(as_printed(p, 0.7, 0), p.uniform())


def test_mirror_descent_minimises_the_linearised_part_and_the_distance() -> None:
    """One step from eta = 1 / (1 + tau); it never rises, and stops at the residual."""
    p, x = problem()
    cost = gradient(lambda u: written(p, u), x)
    eta = 1.0 / (1.0 + p.tau)
    shares = torch.exp((1 - eta * p.tau) * torch.log(x) - eta * cost)
    first = shares / shares.sum(-2, keepdim=True)
    assert bool((p.value(first) < p.value(x)).all())
    close(descend(p, x, 1), first)
    close(descend(p, x, 0), x)
    values = torch.stack([p.value(descend(p, x, k)) for k in range(12)])
    assert bool((values.diff(dim=0) <= 0).all())
    assert bool((values[11] < values[10]).all())  # without a tolerance it goes on
    end = descend(p, x, 200, 0.05)
    assert bool((p.residual(end) <= 0.05).all())
    # It looks at the residual every ten steps, and stops at the first that is small enough.
    looks = [p.residual(descend(p, x, k)).max() for k in range(10, 200, 10)]
    first_small = next(k for k, worst in enumerate(looks) if worst <= 0.05)
    assert torch.equal(end, descend(p, x, 10 * (first_small + 1)))


def test_a_step_that_rises_is_not_taken_and_the_next_is_shorter() -> None:
    p, _ = problem()
    sharp = replace(p, smoothing=Smoothing(1e-3, 400.0, weight=0.07, width=0.05))
    x = sharp.uniform()
    values = torch.stack([sharp.value(descend(sharp, x, k)) for k in range(40)])
    assert bool((values.diff(dim=0) <= 0).all())
    assert bool((values[-1] < values[0]).all())
    assert bool((values.diff(dim=0) == 0).any())  # some steps were refused


# How rounds are stated


def test_times_count_in_units_of_the_even_load_or_of_a_given_scale() -> None:
    times, success = batch(1, 3, 2, 4)
    found = relaxed_match(times, success, 0.8)
    even = times.mean(axis=1).sum(axis=-1) / 2
    np.testing.assert_allclose(found.scale.numpy(), even)
    np.testing.assert_allclose(found.problem.t.numpy(), times / even[:, None, None])
    assert found.problem.barred is None
    given = relaxed_match(times, success, [0.7, 0.8, 0.9], scale=[1.0, 2.0, 4.0])
    np.testing.assert_allclose(given.problem.t.numpy(), times / [[[1.0]], [[2.0]], [[4.0]]])
    assert given.problem.floor.tolist() == [0.7, 0.8, 0.9]
    assert relaxed_match(times, success, scale=0.5).problem.floor.tolist() == [0.8] * 3
    one = relaxed_match(times, success, 0.8, scale=2.0)
    assert one.scale.tolist() == [2.0] * 3
    np.testing.assert_allclose(
        one.loads.numpy(), (times * one.x.numpy()).sum(-1), rtol=1e-12
    )  # in the unit of the times again
    np.testing.assert_allclose(
        one.mean_success.numpy(), (success * one.x.numpy()).sum((-2, -1)) / 4, rtol=1e-12
    )


def test_pairs_that_cannot_run_are_barred_at_time_zero() -> None:
    times, success = batch(1, 2, 2, 3)
    times[1, 0, 2] = np.inf
    p = relaxed_match(times, success, 0.5).problem
    assert p.barred is not None
    assert torch.nonzero(p.barred).tolist() == [[1, 0, 2]]
    assert float(p.t[1, 0, 2]) == 0.0


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"min_success": -1e-9}, "min_success: .*one number or .2,., 0 to 1"),
        ({"min_success": 1 + 1e-9}, "min_success"),
        ({"min_success": np.nan}, "min_success"),
        ({"min_success": [[0.5, 0.5]]}, "min_success"),
        ({"scale": 0.0}, "scale"),
        ({"scale": [1.0, 2.0, 3.0]}, "scale: has shape"),
        ({"tolerance": 0.9e-14}, "tolerance"),
        ({"tolerance": 1.1}, "tolerance"),
        ({"iterations": 1.5}, "iterations"),
        ({"iterations": 10**9 + 1}, "iterations"),
        ({"rate": 0.9e-12}, "rate"),
        ({"rate": 1.1e12}, "rate"),
        ({"mode": "guess"}, "mode: is 'guess'; allowed: newton, mirror, paper"),
    ],
)
def test_numbers_out_of_range_are_refused(options: dict[str, Any], words: str) -> None:
    with pytest.raises(wl.InputError, match=words):
        relaxed_match(*batch(1, 2, 2, 3), **options)


def test_numbers_at_the_ends_of_their_ranges_are_taken() -> None:
    times, success = batch(1, 2, 2, 3)
    for options in (
        {"tolerance": 1e-14},
        {"tolerance": 1.0},
        {"rate": 1e12},
        {"rate": 1e-12},
        {"min_success": 0.0},
        {"min_success": 1.0},
        {"mode": "paper", "iterations": 1},
        {"iterations": 10**9},
    ):
        assert relaxed_match(times, success, **options).x.shape == (2, 2, 3)


@pytest.mark.parametrize(
    ("times", "words"),
    [
        (np.ones((2, 3)), r"times: has shape \(2, 3\); allowed: \(rounds"),
        (np.ones((0, 2, 3)), r"times: has shape \(0, 2, 3\)"),
        ([[["a"]]], "times: is not numeric"),
        (-np.ones((1, 2, 3)), r"times\(0, 0, 0\): is -1"),
    ],
)
def test_what_is_no_batch_is_refused(times: object, words: str) -> None:
    with pytest.raises(wl.InputError, match=words):
        relaxed_match(times, np.ones((1, 2, 3)))


def test_curves_are_those_of_the_clusters() -> None:
    t = torch.ones(1, 2, 3, dtype=torch.float64)
    found = curve_of(Decay(np.array([0.5, 0.7]), 0.4), t)
    assert found is not None
    assert (found.limit.tolist(), found.rate.tolist()) == ([0.5, 0.7], [0.4, 0.4])
    assert curve_of(None, t) is None
    for wrong, where in ((Decay(np.array([0.5])), "limit"), (Decay(0.5, np.ones(3)), "rate")):
        with pytest.raises(wl.InputError, match=rf"speedup.{where}: has shape .*\(2,\), or one"):
            curve_of(wrong, t)


def test_solved_is_up_to_the_tolerance_or_a_hundred_millionth() -> None:
    times, success = batch(1, 4, 2, 3)
    assert relaxed_match(times, success).tolerance == 1e-8
    loose = relaxed_match(times, success, mode="mirror", tolerance=1e-2, iterations=500)
    assert loose.tolerance == 1e-2
    assert loose.steps.tolist() == [500] * 4
    assert bool(loose.solved.all())
    assert not bool(replace(loose, tolerance=1e-12).solved.any())
    rough = replace(loose, tolerance=1e-12)
    with pytest.warns(
        wl.InaccuracyWarning, match=r"it is not reliable in 4 of 4 rounds.*up to 1e-12"
    ):
        rough.warn_unsolved("it")
    assert {str(one) for one in rough.status} == {"optimal_inaccurate"}
    loose.warn_unsolved("it")  # in silence
    assert relaxed_match(times, success, mode="mirror", tolerance=1.0).steps.tolist() == [3000] * 4
    paper = relaxed_match(times, success, mode="paper", iterations=2)
    close(paper.x, as_printed(paper.problem, 1.0, 2))


def test_a_warning_is_of_who_asked_for_what_is_not_right() -> None:
    loose = relaxed_match(*batch(1, 2, 2, 3), mode="paper", iterations=1)

    def derivative() -> None:
        loose.warn_unsolved("the derivative")

    with pytest.warns(wl.InaccuracyWarning) as caught:
        derivative()
    assert caught[0].filename == __file__


def test_the_kernel_takes_tasks_one_after_the_other() -> None:
    assert compiles(problem()[0])
    assert not compiles(problem(curve=CURVE)[0])


def test_modes_count_their_steps_and_minimise_as_they_say() -> None:
    p, _ = problem()
    x, steps = minimise(p, "mirror", 1e-9, None, 40)
    close(x, descend(p, p.uniform(), 40, 1e-9))
    assert steps.tolist() == [40, 40]
    x, steps = minimise(p, "paper", 1e-9, None, 3, 0.2)
    close(x, as_printed(p, 0.2, 3))
    assert steps.tolist() == [3, 3]
    x, _ = minimise(p, "paper", iterations=2)
    close(x, as_printed(p, 1.0, 2))
    assert minimise(p, "mirror", 1e3)[1].tolist() == [3000, 3000]
    x, steps = minimise(p)
    assert bool((p.residual(x) <= 1e-9).all())
    together = problem(curve=CURVE)[0]
    x, steps = minimise(together)
    close(x, newton(together, 1e-13)[0])


def test_newton_matrices_are_of_one_size() -> None:
    p, x = problem(curve=CURVE)
    by = p.forces(p.state(x))
    assert covariance(x, p.t, p.a, counts=True).shape == curvatures(p, p.state(x), by).shape
