"""First-order methods for the smoothed matching: mirror descent, and the paper's Algorithm 1."""

from __future__ import annotations

import torch

from walras.matching.smoothed import Smoothed

_FIRST = 1.0
_GROWTH = 1.3
_SMALLEST = 1e-12


def descend(problem: Smoothed, x: torch.Tensor, steps: int, tolerance: float = 0.0) -> torch.Tensor:
    """Mirror descent with backtracking: F never rises.

    In logarithms ``Z <- (1 - eta tau) Z - eta grad``, ``X = softmax(Z)``: the step that minimises
    the linearised smooth part, the entropy, and the Kullback-Leibler distance over eta.

    Args:
        problem: The problems.
        x: (rounds, clusters, tasks) where to begin.
        steps: Steps at most.
        tolerance: Residual at which to stop.
    """
    z = torch.log(x.clamp_min(1e-300))
    value = problem.value(x)
    rate = torch.full_like(value, _FIRST)
    for k in range(steps):
        cost = problem.costs(problem.forces(problem.state(x)))
        # eta in (0, 1/tau): at 1/tau the step goes all the way to softmax(-cost / tau).
        eta = (rate / (1.0 + rate * problem.tau))[:, None, None]
        trial = torch.log_softmax((1.0 - eta * problem.tau) * z - eta * cost, -2)
        new = trial.exp()
        found = problem.value(new)
        lower = (found <= value) & torch.isfinite(found)
        z = torch.where(lower[:, None, None], trial, z)
        x = torch.where(lower[:, None, None], new, x)
        value = torch.where(lower, found, value)
        rate = torch.where(lower, rate * _GROWTH, rate * 0.5).clamp_min(_SMALLEST)
        if tolerance > 0.0 and k % 10 == 9 and bool((problem.residual(x) <= tolerance).all()):
            break
    return x


def as_printed(problem: Smoothed, rate: float, iterations: int) -> torch.Tensor:
    """Algorithm 1 as printed: ``X <- softmax(X - eta grad F(X))``, from the uniform matching.

    F has no entropy there. Its fixed points are not those of F: ``log x - x + eta grad F`` is
    constant along each column, so they are stationary for

        F(X) + 1/eta sum_ij (x_ij log x_ij - x_ij - x_ij^2 / 2),

    and the learning rate is a temperature. The barrier is extended, since the printed one is not
    defined at matchings that miss the floor, and the success is the mean over tasks.

    Args:
        problem: The problems; their temperature is not used.
        rate: eta.
        iterations: Steps.
    """
    x = problem.uniform()
    for _ in range(iterations):
        cost = problem.costs(problem.forces(problem.state(x)))
        x = torch.softmax(x - rate * cost, -2)
    return x
