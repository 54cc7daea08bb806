"""The implicit derivative of a relaxed matching, by a system as small as its state.

A stationary X answers the forces kappa = (q, w, -nu) of its own state s = (S, n, R) (see
:mod:`walras.matching.smoothed`). With U the features ``(t_ij e_i, e_i, a_ij / N)``, the operator
``(P v)_ij = x_ij (v_ij - sum_k x_kj v_kj) N / tau``, K = U' P U and G the derivative of kappa by s,

    ds = (I + K G)^-1 (e - U' P b),      dX = -P (U G ds + b),
    b = q dt - nu da / N,                e = (sum_j x dt, 0, sum x da / N).

For a loss with derivative v by X, with u = P v, ``(I + G K) lam = G U' u`` and z = u - P U lam,

    dL/dt_ij = -q_i z_ij - lam_S,i x_ij,     dL/da_ij = (nu z_ij - lam_R x_ij) / N,

and by the floor ``phi'' sum_ij z_ij a_ij / N``. The system has M + 1 unknowns a round (2M + 1 where
tasks run together) in place of equation 15's 3MN + N.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch

from walras.matching.relaxed import Relaxed, relaxed_match
from walras.matching.relaxed_compiled import compiles, pull_compiled
from walras.matching.smoothed import (
    Smoothed,
    Smoothing,
    covariance,
    curvatures,
    features,
    pulled,
)
from walras.matching.speedup import Decay


@dataclass(frozen=True, eq=False)
class Gradient:
    """Derivatives of a loss by what a relaxed matching was made from.

    Attributes:
        times: (rounds, clusters, tasks) by the times.
        success: (rounds, clusters, tasks) by the chances.
        floor: (rounds,) by ``min_success``; NaN where it is not estimated.

    Example:
        >>> import torch
        >>> import walras as wl
        >>> times = torch.rand(1, 3, 5, dtype=torch.float64) + 0.5
        >>> found = wl.matching.relaxed_match(times, torch.full((1, 3, 5), 0.9), 0.8)
        >>> gradient = wl.learn.implicit_gradient(found, torch.ones_like(found.x))
        >>> gradient.times.shape, gradient.floor.shape
        (torch.Size([1, 3, 5]), torch.Size([1]))
    """

    times: torch.Tensor
    success: torch.Tensor
    floor: torch.Tensor


def implicit_gradient(relaxed: Relaxed, by_x: torch.Tensor) -> Gradient:
    """Pull a loss' derivative back through a relaxed matching, the scale held fixed.

    Source: Huo et al. (ICPP 2025), equation 15; here by a system with M + 1 unknowns a round.

    Args:
        relaxed: A solution by ``mode="newton"`` (or any stationary one).
        by_x: (rounds, clusters, tasks) derivative of the loss by ``relaxed.x``.

    Returns:
        The derivative by times, chances and floor.

    Warns:
        InaccuracyWarning: Rounds are not solved: what is differentiated there is no solution.

    Example:
        >>> import torch
        >>> import walras as wl
        >>> times = torch.tensor([[[1.0, 2.0], [2.0, 1.0]]], dtype=torch.float64)
        >>> found = wl.matching.relaxed_match(times, torch.full((1, 2, 2), 0.9), 0.8)
        >>> load = torch.tensor([[[1.0, 1.0], [0.0, 0.0]]], dtype=torch.float64)  # of cluster 0
        >>> bool(wl.learn.implicit_gradient(found, load).times[0, 0, 0] < 0.0)  # slower, less load
        True
    """
    relaxed.warn_unsolved("the derivative")
    p, x, n, m = relaxed.problem, relaxed.x, relaxed.problem.tasks, relaxed.x.shape[-2]
    if compiles(p):
        times, success, floor = pull_compiled(p, x, by_x)
        return Gradient(times / relaxed.scale[:, None, None], success, floor)
    by = relaxed.forces
    k = covariance(x, p.t, p.a, counts=p.curve is not None) / p.tau
    g = curvatures(p, relaxed.state, by)
    u = _spread(p, x, by_x)
    eye = torch.eye(g.shape[-1], dtype=x.dtype, device=x.device)
    lam = torch.linalg.solve(eye + g @ k, (g @ features(p, u)[..., None])[..., 0])
    z = u - _spread(p, x, pulled(p, lam))
    times = -(by.q[..., None] * z + lam[:, :m, None] * x) / relaxed.scale[:, None, None]
    success = (by.nu[:, None, None] * z - lam[:, -1][:, None, None] * x) / n
    floor = by.curvature * (z * p.a).sum((-2, -1)) / n
    if p.barred is not None:
        times = times.masked_fill(p.barred, 0.0)
    return Gradient(times, success, floor)


def _spread(p: Smoothed, x: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    """P v: minus the derivative of each column's softmax by its costs, applied to v."""
    return x * (v - (x * v).sum(-2, keepdim=True)) / p.tau


def dense_gradient(relaxed: Relaxed, by_x: torch.Tensor) -> Gradient:
    """The derivative of :func:`implicit_gradient` by the dense optimality system, for small rounds.

    It is the reference for tests.

    Source: Huo et al. (ICPP 2025), equation 15. As printed that system is singular: the Hessian of
    F has rank M at most, and every bound's multiplier is 0 at an interior X. With the entropy's
    ``tau / (N x)`` on its diagonal it is regular, and the multipliers drop out. In rows times x,
    shares of 0 are no exception:

        [x H + tau / N, x D'; D, 0] [dX; dv] = -[x (F_xt dt + F_xa da + F_xg dg); 0].

    Args:
        relaxed: A solution by ``mode="newton"`` (or any stationary one).
        by_x: (rounds, clusters, tasks) derivative of the loss by ``relaxed.x``.

    Returns:
        The derivative by times, chances and floor.

    Example:
        >>> import torch
        >>> import walras as wl
        >>> times = torch.tensor([[[1.0, 2.0], [2.0, 1.0]]], dtype=torch.float64)
        >>> found = wl.matching.relaxed_match(times, torch.full((1, 2, 2), 0.9), 0.8)
        >>> load = torch.tensor([[[1.0, 1.0], [0.0, 0.0]]], dtype=torch.float64)
        >>> dense, implicit = (f(found, load).times for f in
        ...                    (wl.learn.dense_gradient, wl.learn.implicit_gradient))
        >>> bool(torch.allclose(dense, implicit, rtol=1e-6, atol=1e-10))
        True
    """
    rounds, m, n = relaxed.x.shape
    parts: list[tuple[torch.Tensor, ...]] = []
    for b in range(rounds):
        p = relaxed.problem.take(torch.tensor([b], device=relaxed.x.device))
        parts.append(_dense_round(p, relaxed.x[b], by_x[b]))
    times, success, floor = (torch.stack(group) for group in zip(*parts, strict=True))
    scale = relaxed.scale[:, None, None]
    return Gradient(times.reshape(rounds, m, n) / scale, success.reshape(rounds, m, n), floor)


def _dense_round(
    p: Smoothed, x: torch.Tensor, by_x: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    m, n = x.shape
    size = m * n

    def value(
        x: torch.Tensor, t: torch.Tensor, a: torch.Tensor, floor: torch.Tensor
    ) -> torch.Tensor:
        problem = Smoothed(
            t.reshape(1, m, n), a.reshape(1, m, n), floor.reshape(1), p.smoothing, p.curve
        )
        return problem.cost(x.reshape(1, m, n))[0]

    inputs = (x.reshape(-1), p.t.reshape(-1), p.a.reshape(-1), p.floor.reshape(1))
    with torch.enable_grad():
        blocks: Any = torch.autograd.functional.hessian(value, inputs)
    rows = torch.eye(n, dtype=x.dtype).repeat(1, m)  # D: the shares of a task sum to 1
    system = torch.zeros(size + n, size + n, dtype=x.dtype)
    shares = x.reshape(-1)
    system[:size, :size] = shares[:, None] * blocks[0][0] + p.tau * torch.eye(size, dtype=x.dtype)
    system[size:, :size], system[:size, size:] = rows, shares[:, None] * rows.T
    right = torch.cat([by_x.reshape(-1), torch.zeros(n, dtype=x.dtype)])
    adjoint = torch.linalg.solve(system.T, right)[:size] * shares
    t, a, floor = (-(adjoint @ blocks[0][k]) for k in (1, 2, 3))
    return t, a, floor[0]


class _Matched(torch.autograd.Function):  # type: ignore[misc] # torch is outside the type check
    @staticmethod
    def forward(
        ctx: Any,
        times: torch.Tensor,
        success: torch.Tensor,
        floor: torch.Tensor,
        options: dict[str, Any],
    ) -> torch.Tensor:
        ctx.relaxed = relaxed_match(times, success, floor, **options)
        ctx.kinds = times.dtype, success.dtype, floor.dtype
        return ctx.relaxed.x.to(times.dtype)

    @staticmethod
    def backward(ctx: Any, *by: torch.Tensor) -> Any:
        found = implicit_gradient(ctx.relaxed, by[0].to(torch.float64))
        parts = found.times, found.success, found.floor
        return (*(v.to(kind) for v, kind in zip(parts, ctx.kinds, strict=True)), None)


def matched(
    times: torch.Tensor,
    success: torch.Tensor,
    min_success: torch.Tensor | float = 0.8,
    smoothing: Smoothing | None = None,
    *,
    scale: torch.Tensor | None = None,
    speedup: Decay | None = None,
    tolerance: float = 1e-12,
) -> torch.Tensor:
    """A relaxed matching that autograd differentiates by times, success and the floor.

    Source: Huo et al. (ICPP 2025), problem 10 as the forward step, equation 15 as the backward one.

    Args:
        times: (rounds, clusters, tasks) predicted times, > 0, in one unit.
        success: (rounds, clusters, tasks) predicted chances, 0 to 1.
        min_success: Least mean success, one or (rounds,).
        smoothing: See :class:`walras.matching.Smoothing`.
        scale: (rounds,) unit of time, held fixed under differentiation; see
            :func:`walras.matching.relaxed_match`.
        speedup: Curve of tasks that run together; see :func:`walras.matching.relaxed_match`.
        tolerance: Residual at which a round is solved; see :func:`walras.matching.relaxed_match`.

    Returns:
        (rounds, clusters, tasks) shares, in the dtype of ``times``.

    Raises:
        InputError: As :func:`walras.matching.relaxed_match`.

    Example:
        >>> import torch
        >>> import walras as wl
        >>> times = torch.tensor([[[1.0, 2.0], [2.0, 1.0]]]).double().requires_grad_()
        >>> shares = wl.learn.matched(times, torch.full((1, 2, 2), 0.9), 0.8)
        >>> (times * shares).sum(-1).amax(-1).mean().backward()  # of the largest load
        >>> shares.sum(1).detach().round(decimals=6), times.grad.shape
        (tensor([[1., 1.]], dtype=torch.float64), torch.Size([1, 2, 2]))
    """
    floor = torch.as_tensor(min_success, dtype=torch.float64, device=times.device)
    options = {"smoothing": smoothing, "scale": scale, "speedup": speedup, "tolerance": tolerance}
    shares: torch.Tensor = _Matched.apply(times, success, floor.expand(len(times)), options)
    return shares
