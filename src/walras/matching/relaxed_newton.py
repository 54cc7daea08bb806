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

from dataclasses import dataclass, replace

import torch

from walras.matching.relaxed_compiled import descend_compiled
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
_HALVINGS = 25
_ARMIJO = 1e-4
_ROUNDING = 1e-13  # of D, relative
_FLAT = 1e3  # roundings; a Newton step that promises less is judged by the residual, too
_DESCENT = 60  # steps of mirror descent where Newton's method does not take hold
_STALLS = 8  # times; each descends twice as long as the one before
_ROUGH = 1e-3  # residual at a level but the last
_SOLVED = 1e-9  # residual up to which a state that Newton's method leaves is solved
_NEAR_ONE = 0.1  # shorter steps than this gain nothing next to the solution


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
    if start is None and problem.smoothing.barrier == "elastic":
        y[:, -1] = problem.floor  # where the elastic cost bends; further off it is saturated
    steps = torch.zeros(len(y), dtype=torch.int64, device=y.device)
    factors = log_steps(_FIRST, _LEVELS) if start is None else [1.0]
    for factor in factors[:-1]:
        y, spent = _iterate(problem, factor, y, _STEPS, _ROUGH)
        steps += spent
    y, spent = _iterate(problem, 1.0, y, _LAST_STEPS, tolerance)
    steps += spent
    if together:
        y, steps = _globalised(problem, y, steps, tolerance)
    return Solved(unvector(y, problem.t.shape[-2]), steps)


def _iterate(
    problem: Smoothed, factor: float, y: torch.Tensor, most: int, tolerance: float
) -> tuple[torch.Tensor, torch.Tensor]:
    """Newton steps at one temperature, on the rounds that are not solved yet, and their number."""
    steps = torch.zeros(len(y), dtype=torch.int64, device=y.device)
    open_ = torch.arange(len(y), device=y.device)
    y = y.clone()
    for _ in range(most):
        work = _Level(problem.take(open_), problem.tau * factor, problem.curve is not None)
        own = y[open_]
        residual = work.residual(own)
        active = residual.abs().amax(-1) > tolerance
        if not bool(active.any()):
            break
        if not bool(active.all()):
            open_, own, residual = open_[active], own[active], residual[active]
            work = _Level(problem.take(open_), work.tau, work.together)
        moved = work.step(own, residual)
        y[open_] = moved
        steps[open_] += 1
        open_ = open_[(moved != own).any(-1)]  # at the rounding of the residual nothing moves
        if not len(open_):
            break
    return y, steps


def _globalised(
    problem: Smoothed, y: torch.Tensor, steps: torch.Tensor, tolerance: float
) -> tuple[torch.Tensor, torch.Tensor]:
    """Descend F from the states that Newton's method has left unsolved, and try again."""
    m = problem.t.shape[-2]
    for k in range(_STALLS):
        residual = _Level(problem, problem.tau, together=True).residual(y)
        open_ = torch.nonzero(residual.abs().amax(-1) > _SOLVED)[:, 0]
        if not len(open_):
            break
        part = problem.take(open_)
        x = part.matching(part.forces(unvector(y[open_], m)))
        method = descend_compiled if x.device.type == "cpu" else descend
        lower = vector(part.state(method(part, x, _DESCENT * 2**k)), counts=True)
        found, spent = _iterate(part, 1.0, lower, _LAST_STEPS, tolerance)
        y, steps = y.clone(), steps.clone()
        y[open_] = found
        steps[open_] += spent
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
        norm = residual.norm(dim=-1)
        if self.together:
            return self._backtracked(y, d, norm, None)
        # dD/ds = -r' G d = r' (G^-1 + K)^-1 r >= 0.
        slope = -(residual * (g @ d[..., None])[..., 0]).sum(-1)
        return self._backtracked(y, d, norm, torch.stack([p.dual(at, by, self.tau), slope]))

    def _backtracked(
        self, y: torch.Tensor, d: torch.Tensor, norm: torch.Tensor, merit: torch.Tensor | None
    ) -> torch.Tensor:
        """Halve each round's step until it is accepted; ``merit`` is D and its slope along d."""
        out, size = y.clone(), 1.0
        todo = torch.nonzero(torch.isfinite(d).all(-1))[:, 0]
        for _ in range(_HALVINGS):
            part = replace(self, problem=self.problem.take(todo))
            trial = y[todo] + size * d[todo]
            if merit is None:
                good = part._lowers_residual(trial, norm[todo], size)
                near = torch.zeros_like(good)
            else:
                good, near = part._raises_dual(trial, norm[todo], size, merit[:, todo])
            out[todo[good]] = trial[good]
            todo = todo[~good & ~near]
            if not len(todo):
                break
            size *= 0.5
        return out

    def _raises_dual(
        self, trial: torch.Tensor, norm: torch.Tensor, size: float, merit: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Whether D rises enough, and whether shorter steps are of no use either."""
        dual, slope = merit
        rounding = _ROUNDING * (1.0 + dual.abs())
        # Next to the optimum, and where the elastic cost is saturated, D says little.
        flat = slope <= _FLAT * rounding
        at, by = self.forces(trial)
        gain = self.problem.dual(at, by, self.tau) - dual
        good = gain >= torch.maximum(_ARMIJO * size * slope, rounding)
        if bool((flat & ~good).any()):
            shrinks = self.residual(trial).norm(dim=-1) < (1.0 - _ARMIJO * size) * norm
            good = good | (flat & shrinks & (gain > -rounding))
        return good, flat & (norm < _SOLVED) & (size < _NEAR_ONE)

    def _lowers_residual(
        self, trial: torch.Tensor, norm: torch.Tensor, size: float
    ) -> torch.Tensor:
        """Whether the residual falls enough, with no count below 0."""
        inside = (unvector(trial, self.problem.t.shape[-2]).counts >= 0).all(-1)
        return inside & (self.residual(trial).norm(dim=-1) < (1.0 - 0.1 * size) * norm)
