"""One gradient step through relaxed rounds: Walras' implicit derivative, and cvxpylayers."""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np

from benchmarks.gradients import Law, scales, upstream
from benchmarks.matching import MatchInstance
from benchmarks.problem import Budget, Outcome

_TIGHT = 1e-12  # tolerances of Clarabel under finite differences
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


def cvxpylayers(
    instance: MatchInstance, objective: str, budget: Budget, *, perturbed: bool
) -> Outcome:
    """The same problem as a CvxpyLayer; building it is not part of the step.

    Args:
        instance: The rounds.
        objective: ``gradient-step``.
        budget: Its threads solve rounds beside each other.
        perturbed: Whether the derivative is taken by the mode that solves perturbed problems
            (LPGD) with Clarabel, in place of LSQR and SCS, which it comes with.
    """
    import torch

    torch.set_num_threads(budget.threads)
    start = time.perf_counter()
    layer = _layer(instance)
    built = time.perf_counter()
    options: dict[str, Any] = {
        "n_jobs_forward": budget.threads,
        "n_jobs_backward": budget.threads,
    }
    if perturbed:
        options |= {
            "solve_method": "Clarabel",
            "mode": "lpgd",
            "derivative_kwargs": {"tau": _STEP, "rho": 0.0},
            **dict.fromkeys(("tol_gap_abs", "tol_gap_rel", "tol_feas"), _TIGHT),
        }
    scale = scales(instance)
    t = torch.tensor(instance.times / scale[:, None, None], requires_grad=True)
    a, floor = torch.tensor(instance.success, requires_grad=True), torch.tensor(instance.floor)
    by_x = torch.tensor(upstream(instance))
    began = time.perf_counter()
    with warnings.catch_warnings():  # of inaccurate solves: the judge says how far they are off
        warnings.simplefilter("ignore")
        (x,) = layer(t, a, floor, solver_args=options)
        forward = time.perf_counter() - began
        x.backward(by_x)
    seconds = time.perf_counter() - began
    by_t = t.grad.numpy() / scale[:, None, None]
    answer = np.stack([x.detach().numpy(), by_t, a.grad.numpy()])
    return Outcome(answer, built - start, seconds, numbers={"forward": forward})


def _layer(instance: MatchInstance) -> Any:
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
    return CvxpyLayer(cp.Problem(cp.Minimize(cost), rows), [t, a, floor], [x])
