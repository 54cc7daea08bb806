"""One gradient step through relaxed rounds: Walras' implicit derivative, cvxpylayers, Moreau."""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np

from benchmarks.gradients import Law, scales, upstream
from benchmarks.matching import MatchInstance
from benchmarks.problem import Budget, Outcome

# Tolerances of Clarabel under finite differences, and of Moreau.
_TIGHT = dict.fromkeys(("tol_gap_abs", "tol_gap_rel", "tol_feas"), 1e-12)
_STEP = 2e-5  # of these


def walras(instance: MatchInstance, objective: str, budget: Budget) -> Outcome:
    """The matching as training calls it: forward by Newton, backward by the low-rank form."""
    import torch

    from walras.learn.implicit import matched
    from walras.matching import Smoothing

    torch.set_num_threads(budget.threads)
    smoothing = Smoothing(instance.temperature, barrier=instance.barrier)
    t, a, floor = (torch.tensor(v) for v in (instance.times, instance.success, instance.floor))
    t.requires_grad_(), a.requires_grad_()
    by_x = torch.tensor(upstream(instance))
    start = time.perf_counter()
    x = matched(t, a, floor, smoothing)
    forward = time.perf_counter() - start
    x.backward(by_x)
    seconds = time.perf_counter() - start
    answer = np.stack([v.numpy() for v in (x.detach(), t.grad, a.grad)])
    return Outcome(answer, 0.0, seconds, numbers={"forward": forward})


def cvxpylayers(instance: MatchInstance, objective: str, budget: Budget, *, way: str) -> Outcome:
    """The same problem as a CvxpyLayer; building it is not part of the step.

    Args:
        instance: The rounds.
        objective: ``gradient-step``.
        budget: Its threads solve rounds beside each other.
        way: ``lsqr``, with SCS, which it comes with; ``lpgd``, the mode that solves perturbed
            problems, with Clarabel; or ``moreau``, which solves and differentiates the batch.
    """
    import torch

    torch.set_num_threads(budget.threads)
    start = time.perf_counter()
    layer = _layer(instance, way)
    built = time.perf_counter()
    options = {} if way == "moreau" else _options(way, budget)
    scale = scales(instance)
    t = torch.tensor(instance.times / scale[:, None, None], requires_grad=True)
    a, floor = torch.tensor(instance.success, requires_grad=True), torch.tensor(instance.floor)
    by_x = torch.tensor(upstream(instance))
    began = time.perf_counter()
    with warnings.catch_warnings():  # of inaccurate solves: the judge says how far they are off
        warnings.simplefilter("ignore")
        (x,) = layer(t, a, floor, solver_args=options)
        forward = time.perf_counter() - began
        broken = _pulled(x, by_x)
    seconds = time.perf_counter() - began
    if broken:
        return Outcome(None, built - start, forward, message=broken, numbers={"forward": forward})
    by_t = t.grad.numpy() / scale[:, None, None]
    answer = np.stack([x.detach().numpy(), by_t, a.grad.numpy()])
    return Outcome(answer, built - start, seconds, numbers={"forward": forward})


def _pulled(x: Any, by_x: Any) -> str:
    """Go back through a layer; what it says where it breaks down, nothing where it does not."""
    try:
        x.backward(by_x)
    except BaseException as error:
        if type(error).__name__ != "PanicException":  # how Moreau's Rust code ends
            raise
        return str(error).partition(".")[0]
    return ""


def _options(way: str, budget: Budget) -> dict[str, Any]:
    """What the layer takes for each solve."""
    options: dict[str, Any] = {
        "n_jobs_forward": budget.threads,
        "n_jobs_backward": budget.threads,
    }
    if way == "lpgd":
        derivative = {"mode": "lpgd", "derivative_kwargs": {"tau": _STEP, "rho": 0.0}}
        options |= {"solve_method": "Clarabel", **derivative, **_TIGHT}
    return options


def _layer(instance: MatchInstance, way: str) -> Any:
    """The smoothed problem of one round in cvxpy, its numbers Parameters."""
    import cvxpy as cp
    from cvxpylayers.torch import CvxpyLayer

    (m, n), law = instance.shape, Law(instance.temperature, instance.barrier)
    x, t, a, floor = cp.Variable((m, n)), cp.Parameter((m, n)), cp.Parameter((m, n)), cp.Parameter()
    loads = cp.sum(cp.multiply(t, x), axis=1)
    above = cp.sum(cp.multiply(a, x)) / n - floor
    cost = cp.log_sum_exp(law.sharpness * loads) / law.sharpness
    cost = cost - law.temperature / n * cp.sum(cp.entr(x))
    rows = [cp.sum(x, axis=0) == 1]
    if law.barrier == "elastic":
        cost = cost + law.price * law.width * cp.logistic(-above / law.width)
    else:  # the logarithm and its parabola, as the least sum of both over h + v = R - gamma
        h, v = cp.Variable(), cp.Variable()
        parabola = cp.square(v / law.width) / 2 - v / law.width
        cost = cost + law.weight * (parabola - cp.log(h))
        rows += [h >= law.width, v <= 0, h + v == above]
    problem = cp.Problem(cp.Minimize(cost), rows)
    own = {"solver": "MOREAU", "solver_args": {"ipm_settings": _TIGHT}} if way == "moreau" else {}
    return CvxpyLayer(problem, [t, a, floor], [x], **own)
