"""Derivatives of a relaxed matching by perturbing what it is made from (Algorithm 2).

The scalar ``<v, X(t + step d)>`` is estimated along directions d of one cluster's row at a time,
the chances likewise, all directions of a batch in one solve. Orthogonal directions of length
sqrt(N) make the estimate exact up to the step at S = N; independent normal ones, as printed, leave
a relative error of about sqrt((N + 1) / S).
"""

from __future__ import annotations

from dataclasses import replace

import torch

from walras import checks
from walras.learn.implicit import Gradient
from walras.matching.relaxed import Relaxed, minimise
from walras.matching.smoothed import Smoothed, State

MODES = ("orthogonal", "paper")


def forward_gradient(
    relaxed: Relaxed,
    by_x: torch.Tensor,
    *,
    samples: int | None = None,
    step: float = 1e-4,
    seed: int = 0,
    mode: str = "orthogonal",
    iterations: int = 500,
    rate: float = 1.0,
    rows: torch.Tensor | None = None,
) -> Gradient:
    """Estimate a loss' derivative by the times and chances of a relaxed matching.

    The same seed draws the same directions, so that estimates of similar rounds share their noise.

    Source: Huo et al. (ICPP 2025), Algorithm 2; its error is theorem 3 there.

    Args:
        relaxed: The solution at the unperturbed point.
        by_x: (rounds, clusters, tasks) derivative of the loss by ``relaxed.x``.
        samples: S, directions a cluster's row; N if None.
        step: Size of the perturbations, in units of the scale for times; 1e-16 to 1.
        seed: Of the directions.
        mode: ``orthogonal``; or ``paper``: Algorithm 2 as printed, independent normal directions
            and its Algorithm 1 as the solver.
        iterations: Of Algorithm 1 in mode ``paper``.
        rate: Its learning rate.
        rows: (rounds,) the one cluster of each round whose row is wanted; all if None.

    Returns:
        The estimate, 0 in rows that are not wanted; nothing is estimated by the floor (NaN).

    Raises:
        InputError: A setting is outside its range.

    Warns:
        InaccuracyWarning: Rounds are not solved, so that differences from them mean little.

    Example:
        >>> import torch
        >>> import walras as wl
        >>> times = torch.tensor([[[1.0, 2.0], [2.0, 1.0]]], dtype=torch.float64)
        >>> found = wl.matching.relaxed_match(times, torch.full((1, 2, 2), 0.9), 0.8)
        >>> load = torch.tensor([[[1.0, 1.0], [0.0, 0.0]]], dtype=torch.float64)
        >>> estimate = wl.learn.forward_gradient(found, load).times
        >>> exact = wl.learn.implicit_gradient(found, load).times
        >>> bool((estimate - exact).norm() < 0.01 * exact.norm())
        True
    """
    checks.one_of(mode, "mode", MODES)
    count = relaxed.problem.tasks if samples is None else samples
    count = checks.whole(count, "setting samples", 1, 10**6)
    step = checks.number(step, "setting step", 1e-16, 1.0)
    if mode != "paper":
        relaxed.warn_unsolved("the derivative")
    directions = _directions(relaxed.problem, count, seed, mode)
    solver = _Solver(relaxed, mode, iterations, rate)
    parts = [
        _estimate(solver, by_x, directions, step, rows, times=which) for which in (True, False)
    ]
    nothing = torch.full_like(relaxed.problem.floor, torch.nan)
    return Gradient(parts[0] / relaxed.scale[:, None, None], parts[1], nothing)


def _directions(p: Smoothed, count: int, seed: int, mode: str) -> torch.Tensor:
    """(samples, tasks) directions whose mean outer product is the identity, on average."""
    generator = torch.Generator().manual_seed(seed)
    n = p.tasks

    def normal(rows: int) -> torch.Tensor:
        return torch.randn(rows, n, generator=generator, dtype=torch.float64)

    if mode == "paper":
        return normal(count).to(p.t.device)
    blocks = []
    for first in range(0, count, n):
        basis = torch.linalg.qr(normal(n)).Q * n**0.5
        blocks.append(basis[: min(n, count - first)])
    return torch.cat(blocks).to(p.t.device)


class _Solver:
    """Solves perturbed rounds as the unperturbed ones were, from their solution."""

    def __init__(self, relaxed: Relaxed, mode: str, iterations: int, rate: float) -> None:
        self.relaxed = relaxed
        self._mode = "paper" if mode == "paper" else "newton"
        self._iterations, self._rate = iterations, rate
        p = relaxed.problem
        self.base = self.solve(p.t, p.a) if mode == "paper" else relaxed.x

    def solve(self, t: torch.Tensor, a: torch.Tensor) -> torch.Tensor:
        """(copies x rounds, clusters, tasks) matchings; times in units of the scale."""
        p, at = self.relaxed.problem, self.relaxed.state
        copies = len(t) // len(p.floor)
        barred = None if p.barred is None else p.barred.repeat(copies, 1, 1)
        problem = replace(p, t=t, a=a, floor=p.floor.repeat(copies), barred=barred)
        near = State(
            *(v.repeat(copies, *[1] * (v.ndim - 1)) for v in (at.sums, at.counts, at.success))
        )
        start = near if self._mode == "newton" else None
        return minimise(
            problem, self._mode, start=start, iterations=self._iterations, rate=self._rate
        )[0]


def _estimate(
    solver: _Solver,
    by_x: torch.Tensor,
    directions: torch.Tensor,
    step: float,
    rows: torch.Tensor | None,
    *,
    times: bool,
) -> torch.Tensor:
    """``1/S sum_s <v, X(row i + step d_s) - X> / step d_s`` for the wanted clusters' rows i."""
    p = solver.relaxed.problem
    rounds, m, n = p.t.shape
    every = torch.arange(rounds, device=p.t.device)
    wanted = torch.arange(m, device=p.t.device)[:, None].expand(m, rounds)
    wanted = wanted if rows is None else rows[None]
    count, k = len(directions), len(wanted)
    t, a = (v.repeat(count * k, 1, 1).reshape(count, k, rounds, m, n) for v in (p.t, p.a))
    moved = t if times else a
    for which, row in enumerate(wanted):
        moved[:, which, every, row] += step * directions[:, None, :]
    shape = (count * k * rounds, m, n)
    x = solver.solve(t.reshape(shape), a.reshape(shape)).reshape(count, k, rounds, m, n)
    gain = ((x - solver.base) * by_x).sum((-2, -1)) / step  # (samples, rows, rounds)
    found = torch.zeros_like(p.t)
    for which, row in enumerate(wanted):
        found[every, row] = torch.einsum("sr,sj->rj", gain[:, which], directions) / count
    return found
