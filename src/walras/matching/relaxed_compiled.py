"""The smoothed matching on a CPU, through the compiled kernel: no cost a torch operation."""

from __future__ import annotations

import numpy as np
import torch

from walras.kernels.matching.derivatives import pull_back
from walras.kernels.matching.relaxed import solve_relaxed
from walras.matching.smoothed import Smoothed, State, vector
from walras.types import Floats


def compiles(problem: Smoothed) -> bool:
    """Whether the kernel takes a problem: on a CPU, tasks one after the other."""
    return problem.curve is None and problem.t.device.type == "cpu"


def solve_compiled(
    problem: Smoothed, tolerance: float, start: State | None
) -> tuple[torch.Tensor, torch.Tensor]:
    """Newton's method on the dual function of every round.

    Its answers are those of :func:`walras.matching.relaxed_newton.newton`: the minimum is unique.

    Args:
        problem: One that :func:`compiles`.
        tolerance: Of the residual in every part of the state.
        start: A state near the solution.

    Returns:
        (rounds, clusters, tasks) matchings, and (rounds,) steps.
    """
    at = None if start is None else vector(start, counts=False).numpy()
    x, steps = solve_relaxed(*_arrays(problem), tolerance, at, torch.get_num_threads())
    return torch.from_numpy(x), torch.from_numpy(steps)


def pull_compiled(
    problem: Smoothed, x: torch.Tensor, by_x: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """A loss' derivatives by times over the scale, chances and floor.

    Args:
        problem: One that :func:`compiles`.
        x: (rounds, clusters, tasks) its stationary matchings.
        by_x: (rounds, clusters, tasks) the derivative by them.
    """
    found = pull_back(
        *_arrays(problem),
        x.contiguous().numpy(),
        by_x.detach().contiguous().numpy(),
        torch.get_num_threads(),
    )
    by_t, by_a, by_floor = (torch.from_numpy(v) for v in found)
    return by_t, by_a, by_floor


def _arrays(problem: Smoothed) -> tuple[Floats, Floats, Floats, Floats, float, float]:
    s, t = problem.smoothing, problem.t
    if problem.barred is not None:
        t = t.masked_fill(problem.barred, torch.inf)
    law = np.array([float(s.barrier == "elastic"), s.weight, s.width, s.price])
    t, a, floor = (v.contiguous().numpy() for v in (t, problem.a, problem.floor))
    return t, a, floor, law, s.sharpness, problem.tau
