"""Newton's method on the smoothed matching, with continuation in the temperature.

With Z = log X, g the derivatives of F by X, U the features of a state, K their covariance over tau
and G the derivative of the forces by the state (see :mod:`walras.matching.smoothed`), the step dZ
that minimises the quadratic model of F in X takes M + 1 equations, 2M + 1 where tasks run together:

    (I + K G) v = -1/tau sum_j Cov_j(U, g),      dZ = -1/tau (g + U G v),

v being the change of the state. One task after the other F is convex. Together it is not, and
eigenvalues of ``I + K^1/2 G K^1/2`` that are not positive are replaced by their moduli, so that the
step descends in any case (Nocedal and Wright, Numerical Optimization, 2nd ed., section 3.4). Halved
until F falls enough, ``X <- softmax(Z + alpha dZ)`` converges from anywhere.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch

from walras.matching.smoothed import (
    Smoothed,
    State,
    covariance,
    curvatures,
    features,
    log_steps,
    pulled,
)

_FIRST, _WARM = 30.0, 0.3  # least first temperature, in the last one's and by itself
_RATIO = 2.0  # of a temperature to the next, about
_STEPS = 8  # at a level but the last
_LAST_STEPS = 200
_HALVINGS = 30
_ARMIJO = 1e-4
_ROUNDING = 1e-13  # of F, relative
_FLAT = 1e3  # roundings; a step that promises less is judged by the residual, too
_ROUGH = 1e-3  # residual at a level but the last
_SOLVED = 1e-9  # residual below which shorter steps gain nothing
_LEAST = 0.1  # of the eigenvalues of a model that is not convex


def newton(
    problem: Smoothed, tolerance: float, start: State | None = None
) -> tuple[torch.Tensor, torch.Tensor]:
    """Solve a batch of problems to a residual.

    Args:
        problem: The problems.
        tolerance: Of the residual, the largest distance of a derivative from its column's mean.
        start: A state near the solution, for which no continuation is needed.

    Returns:
        (rounds, clusters, tasks) matchings, and (rounds,) steps.
    """
    if start is None:
        z, steps = _follow(problem, tolerance)
        return z.exp(), steps
    z = problem.logits(problem.forces(start))
    z, steps = _iterate(problem, z, _LAST_STEPS, tolerance)
    far = torch.nonzero(~(problem.residual(z.exp()) <= _ROUGH))[:, 0]
    if len(far):
        z[far], spent = _follow(problem.take(far), tolerance)
        steps[far] += spent
    return z.exp(), steps


def _follow(problem: Smoothed, tolerance: float) -> tuple[torch.Tensor, torch.Tensor]:
    """Follow the solutions from a warm temperature down to the problem's own."""
    first = max(_FIRST, _WARM / problem.smoothing.temperature)
    z = torch.log(problem.uniform())
    steps = torch.zeros(len(z), dtype=torch.int64, device=z.device)
    for factor in log_steps(first, 1 + math.ceil(math.log(first, _RATIO)))[:-1]:
        warmer = problem.at(problem.smoothing.temperature * factor)
        z, spent = _iterate(warmer, z, _STEPS, _ROUGH)
        steps += spent
    z, spent = _iterate(problem, z, _LAST_STEPS, tolerance)
    return z, steps + spent


def _iterate(
    problem: Smoothed, z: torch.Tensor, most: int, tolerance: float
) -> tuple[torch.Tensor, torch.Tensor]:
    """Newton steps on the rounds that are not solved yet, and their number."""
    steps = torch.zeros(len(z), dtype=torch.int64, device=z.device)
    open_ = torch.arange(len(z), device=z.device)
    z = z.clone()
    for _ in range(most):
        work = _Step.of(problem.take(open_), z[open_])
        active = torch.nonzero(work.residual > tolerance)[:, 0]
        if not len(active):
            break
        open_ = open_[active]
        z[open_], moved = work.take(active).halved()
        steps[open_] += 1
        open_ = open_[moved]  # at the rounding of the residual nothing moves
        if not len(open_):
            break
    return z, steps


@dataclass(frozen=True, eq=False)
class _Step:
    """A Newton step.

    Attributes:
        problem: The problems.
        z: (rounds, clusters, tasks) logarithms of the shares.
        dz: (rounds, clusters, tasks) the step.
        slope: (rounds,) of F along it, at most 0.
        residual: (rounds,) as that of the problem.
    """

    problem: Smoothed
    z: torch.Tensor
    dz: torch.Tensor
    slope: torch.Tensor
    residual: torch.Tensor

    @classmethod
    def of(cls, p: Smoothed, z: torch.Tensor) -> _Step:
        x = z.exp()
        at = p.state(x)
        by = p.forces(at)
        slopes = p.slopes(by, z)
        slopes = slopes - (x * slopes).sum(-2, keepdim=True)
        k = covariance(x, p.t, p.a, counts=p.curve is not None) / p.tau
        g = _convex(curvatures(p, at, by), k)
        eye = torch.eye(g.shape[-1], dtype=x.dtype, device=x.device)
        right = -features(p, x * slopes / p.tau)
        forces = (g @ torch.linalg.solve(eye + k @ g, right)[..., None])[..., 0]
        dz = -(slopes + pulled(p, forces)) / p.tau
        dz = dz - (x * dz).sum(-2, keepdim=True)
        return cls(p, z, dz, (x * slopes * dz).sum((-2, -1)), p.residual(x))

    def take(self, rounds: torch.Tensor) -> _Step:
        """Some of the rounds."""
        if len(rounds) == len(self.z):
            return self
        return _Step(
            self.problem.take(rounds),
            self.z[rounds],
            self.dz[rounds],
            self.slope[rounds],
            self.residual[rounds],
        )

    def halved(self) -> tuple[torch.Tensor, torch.Tensor]:
        """Where each round arrives, and whether it has moved."""
        out, value = self.z.clone(), self.problem.value(self.z.exp())
        rounding = _ROUNDING * (1.0 + value.abs())
        flat = -self.slope < _FLAT * rounding
        todo = torch.nonzero(torch.isfinite(self.dz).all(-1).all(-1))[:, 0]
        moved = torch.zeros_like(flat)
        size = 1.0
        for _ in range(_HALVINGS):
            part = self.take(todo)
            trial = torch.log_softmax(part.z + size * part.dz, -2)
            x = trial.exp()
            rise = part.problem.value(x) - value[todo]
            good = rise <= _ARMIJO * size * part.slope
            if bool((flat[todo] & ~good).any()):  # F says little there
                falls = part.problem.residual(x) < part.residual
                good = good | (flat[todo] & falls & (rise <= rounding[todo]))
            out[todo[good]], moved[todo[good]] = trial[good], True
            todo = todo[~good & ~(flat[todo] & (part.residual < _SOLVED))]
            if not len(todo):
                break
            size *= 0.5
        return out, moved


def _convex(g: torch.Tensor, k: torch.Tensor) -> torch.Tensor:
    """G, raised where ``I + K^1/2 G K^1/2`` has eigenvalues that are not positive.

    With ``K = B B'``, an eigenvector w of ``B' G B`` is ``B' z`` for ``z = G B w / lambda``: adding
    ``delta z z'`` to G adds delta to its eigenvalue lambda and leaves the others.
    """
    spread, axes = torch.linalg.eigh(k)
    b = axes * spread.clamp_min(0.0).sqrt()[:, None, :]
    gb = g @ b
    model = b.transpose(1, 2) @ gb
    found, w = torch.linalg.eigh(0.5 * (model + model.transpose(1, 2)))
    bends = found < _LEAST - 1.0
    if not bool(bends.any()):
        return g
    delta = torch.where(bends, (1.0 + found).abs().clamp_min(_LEAST) - 1.0 - found, 0.0)
    z = gb @ w / torch.where(bends, found, 1.0)[:, None, :]
    return g + (z * delta[:, None, :]) @ z.transpose(1, 2)
