"""Newton's method on the sums and the mean success, with continuation in the temperature.

At temperature tau a state y = (S, R) is stationary when ``y = h(y)``, the state of the X of its
forces. With G the derivative of the forces by y and K that of -h by the forces, the Newton
direction solves

    (I + K G) d = h(y) - y,

M + 1 unknowns (2M + 1 where tasks run together). For zeta = 1 the same d is the Newton direction of
the concave dual function D, taken along the curve ``p = softmax(beta L)`` that stays in its domain:
backtracking on D makes it converge from anywhere. Where F is not convex a step must lower the
residual; if none does, mirror descent lowers F instead, until Newton's method takes hold again.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch

from walras.matching.relaxed_descent import descend
from walras.matching.smoothed import (
    Forces,
    Smoothed,
    State,
    covariance,
    curvatures,
    log_steps,
    unvector,
    vector,
)

_FIRST = 30.0  # first temperature, in the last one's
_LEVELS = 6
_STEPS = 3  # at a level but the last
_LAST_STEPS = 60
_HALVINGS = 30
_ARMIJO = 1e-4
_ROUNDING = 1e-11  # rises of D below this share of it are decided by the residual
_DESCENT = 60  # steps of mirror descent where Newton's method does not take hold
_STALLS = 12


@dataclass(frozen=True, eq=False)
class Solved:
    """States where the method ended.

    Attributes:
        at: The states.
        steps: (rounds,) Newton steps taken.
    """

    at: State
    steps: torch.Tensor


def newton(problem: Smoothed, tolerance: float, start: State | None = None) -> Solved:
    """Solve a batch of problems to a residual.

    Args:
        problem: The problems.
        tolerance: Of the residual in every part of the state.
        start: A state near the solution, for which no continuation is needed.
    """
    together = problem.curve is not None
    at = problem.state(problem.uniform()) if start is None else start
    y = vector(at, counts=together)
    steps = torch.zeros(len(y), dtype=torch.int64, device=y.device)
    factors = log_steps(_FIRST, _LEVELS) if start is None else [1.0]
    for factor in factors:
        last = factor == factors[-1]
        work = _Level(problem, problem.tau * factor, together)
        for _ in range(_LAST_STEPS if last else _STEPS):
            residual = work.residual(y)
            active = residual.abs().amax(-1) > (tolerance if last else 1e-3)
            if not bool(active.any()):
                break
            y = torch.where(active[:, None], work.step(y, residual), y)
            steps += active
    if together:
        y, steps = _globalised(problem, y, steps, tolerance)
    return Solved(unvector(y, problem.t.shape[-2]), steps)


def _globalised(
    problem: Smoothed, y: torch.Tensor, steps: torch.Tensor, tolerance: float
) -> tuple[torch.Tensor, torch.Tensor]:
    """Descend F from the states that Newton's method has left unsolved, and try again."""
    work = _Level(problem, problem.tau, together=True)
    for _ in range(_STALLS):
        open_ = work.residual(y).abs().amax(-1) > tolerance
        if not bool(open_.any()):
            break
        x = problem.matching(problem.forces(unvector(y, problem.t.shape[-2])))
        lower = vector(problem.state(descend(problem, x, _DESCENT)), counts=True)
        y = torch.where(open_[:, None], lower, y)
        for _ in range(_LAST_STEPS):
            residual = work.residual(y)
            active = open_ & (residual.abs().amax(-1) > tolerance)
            if not bool(active.any()):
                break
            moved = torch.where(active[:, None], work.step(y, residual), y)
            if bool((moved == y).all()):
                break
            y = moved
            steps = steps + active
    return y, steps


@dataclass(frozen=True, eq=False)
class _Level:
    """The problem at one temperature."""

    problem: Smoothed
    tau: float
    together: bool

    def forces(self, y: torch.Tensor) -> tuple[State, Forces]:
        at = unvector(y, self.problem.t.shape[-2])
        return at, self.problem.forces(at)

    def residual(self, y: torch.Tensor) -> torch.Tensor:
        """(rounds, k) y - h(y)."""
        _, by = self.forces(y)
        new = self.problem.state(self.problem.matching(by, self.tau))
        return y - vector(new, counts=self.together)

    def step(self, y: torch.Tensor, residual: torch.Tensor) -> torch.Tensor:
        """One Newton step with backtracking; where no step is accepted y stays."""
        p = self.problem
        at, by = self.forces(y)
        x = p.matching(by, self.tau)
        k = covariance(x, p.t, p.a, counts=self.together) / self.tau
        g = curvatures(p, at, by)
        eye = torch.eye(y.shape[-1], dtype=y.dtype, device=y.device)
        d = torch.linalg.solve(eye + k @ g, -residual)
        if self.together:
            return self._by_residual(y, d, residual)
        # dD/ds = -r' G d = r' (G^-1 + K)^-1 r >= 0.
        slope = -(residual * (g @ d[..., None])[..., 0]).sum(-1)
        return self._by_dual(y, d, residual, p.dual(at, by, self.tau), slope)

    def _by_dual(
        self, y: torch.Tensor, d: torch.Tensor, residual: torch.Tensor, dual: torch.Tensor,
        slope: torch.Tensor,
    ) -> torch.Tensor:  # fmt: skip
        norm, out = residual.norm(dim=-1), y.clone()
        todo, size = torch.ones_like(norm, dtype=torch.bool), 1.0
        flat = slope <= _ROUNDING * (1.0 + dual.abs())
        for _ in range(_HALVINGS):
            trial = y + size * d
            at, by = self.forces(trial)
            rises = self.problem.dual(at, by, self.tau) >= dual + _ARMIJO * size * slope
            if bool((todo & flat).any()):
                shrinks = self.residual(trial).norm(dim=-1) < (1.0 - _ARMIJO * size) * norm
                rises = torch.where(flat, shrinks, rises)
            take = todo & rises
            out = torch.where(take[:, None], trial, out)
            todo = todo & ~take
            if not bool(todo.any()):
                break
            size *= 0.5
        return out

    def _by_residual(
        self, y: torch.Tensor, d: torch.Tensor, residual: torch.Tensor
    ) -> torch.Tensor:
        norm, out = residual.norm(dim=-1), y.clone()
        todo, size = torch.isfinite(d).all(-1), 1.0
        for _ in range(_HALVINGS // 3):
            trial = y + size * d
            inside = (unvector(trial, self.problem.t.shape[-2]).counts >= 0).all(-1)
            shrinks = self.residual(trial).norm(dim=-1) < (1.0 - 0.1 * size) * norm
            take = todo & shrinks & inside
            out = torch.where(take[:, None], trial, out)
            todo = todo & ~take
            if not bool(todo.any()):
                break
            size *= 0.5
        return out
