"""Losses of decisions: from predicted and true rounds to what the decision costs, differentiable.

All of them count times in units of an even load. The loss of a relaxed matching X is its true cost

    1/beta log sum_i exp(beta L_i(X)) + phi(R(X) - gamma)

(equation 12 of Huo et al., ICPP 2025, the price of missing success in place of the barrier unless
that is asked for).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch

from walras.learn.forward import forward_gradient
from walras.learn.implicit import matched
from walras.learn.settings import LearnSettings
from walras.matching.relaxed import Relaxed, curve_of, relaxed_match
from walras.matching.smoothed import Smoothed, Smoothing

MEAN_LOAD = 1e-3  # sharpness at which the smoothed maximum is the mean load, up to a constant
KINK = 1e-4  # width of the hard penalty's corner
_TOLERANCE = 1e-9


@dataclass(frozen=True, eq=False)
class Rounds:
    """True rounds of a step.

    Attributes:
        t: (rounds, M, N) true times over the even load.
        a: (rounds, M, N) true chances.
        floor: gamma.
        price: Of a unit of missing mean success, in even loads.
        key: Draws this step's noise.
    """

    t: torch.Tensor
    a: torch.Tensor
    floor: float
    price: float
    key: tuple[int, ...]

    @property
    def unit(self) -> torch.Tensor:
        """(rounds,) ones: the scale that the times are in."""
        return torch.ones_like(self.t[:, 0, 0])


Loss = Callable[[torch.Tensor, torch.Tensor, Rounds], torch.Tensor]
"""(rounds,) costs from predicted times over the even load, predicted chances and the truth."""


def smoothing_of(settings: LearnSettings) -> Smoothing:
    """How the settings smooth the matching; the ablations of table 1 are two of them."""
    return Smoothing(
        settings.temperature,
        MEAN_LOAD if settings.linear_loss else settings.sharpness,
        barrier="log" if settings.barrier == "log" else "elastic",
        width=KINK if settings.barrier == "hard" else 0.005,
        price=settings.price,
    )


def true_cost(x: torch.Tensor, truth: Rounds, smoothing: Smoothing, speedup: Any) -> torch.Tensor:
    """(rounds,) smoothed cost of matchings in truth, differentiable by them."""
    floor, curve = truth.floor * truth.unit, curve_of(speedup, truth.t)
    problem = Smoothed(truth.t, truth.a, floor, smoothing, curve)
    at, beta = problem.state(x), smoothing.sharpness
    longest = torch.logsumexp(beta * problem.loads(at), -1) / beta
    return longest + smoothing.floor_cost(at.success - floor)[0]


def implicit_loss(settings: LearnSettings) -> Loss:
    """MFCP-AD: through the relaxed matching by its implicit derivative."""
    smoothing, speedup = smoothing_of(settings), settings.speedup

    def loss(t: torch.Tensor, a: torch.Tensor, truth: Rounds) -> torch.Tensor:
        x = matched(
            t, a, truth.floor, smoothing, scale=truth.unit, speedup=speedup, tolerance=_TOLERANCE
        )
        return true_cost(x, truth, smoothing, speedup)

    return loss


def forward_loss(settings: LearnSettings) -> Loss:
    """MFCP-FG: through the relaxed matching by directions, the same at every step."""
    if settings.mode == "paper":
        return _as_printed(settings)
    smoothing, speedup = smoothing_of(settings), settings.speedup
    options = {"samples": settings.samples, "step": settings.step, "seed": settings.seed}

    def loss(t: torch.Tensor, a: torch.Tensor, truth: Rounds) -> torch.Tensor:
        relaxed = relaxed_match(
            t, a, truth.floor, smoothing, scale=truth.unit, speedup=speedup, tolerance=_TOLERANCE
        )
        x = _Perturbed.apply(t, a, relaxed, options)
        return true_cost(x, truth, smoothing, speedup)

    return loss


class _Perturbed(torch.autograd.Function):  # type: ignore[misc] # torch is outside the type check
    """A relaxed matching whose derivative is estimated along directions."""

    @staticmethod
    def forward(
        ctx: Any, t: torch.Tensor, a: torch.Tensor, relaxed: Relaxed, options: dict[str, Any]
    ) -> torch.Tensor:
        ctx.relaxed, ctx.options = relaxed, options
        return relaxed.x

    @staticmethod
    def backward(ctx: Any, *by: torch.Tensor) -> Any:
        found = forward_gradient(ctx.relaxed, by[0], **ctx.options)
        return found.times, found.success, None, None


def _as_printed(settings: LearnSettings) -> Loss:
    """Algorithm 2: cluster i's row is predicted, all others are true, for every i in turn.

    Line 3 prints the predicted row in the last place; it stands for the row of cluster i.
    """
    smoothing, speedup = smoothing_of(settings), settings.speedup
    solver: dict[str, Any] = {"iterations": settings.iterations, "rate": settings.rate}

    def loss(t: torch.Tensor, a: torch.Tensor, truth: Rounds) -> torch.Tensor:
        rounds, m, _ = t.shape
        rows = torch.arange(m, device=t.device).repeat_interleave(rounds)
        own = (rows[:, None] == torch.arange(m, device=t.device))[..., None]
        true_t, true_a = truth.t.repeat(m, 1, 1), truth.a.repeat(m, 1, 1)
        mixed_t = torch.where(own, t.repeat(m, 1, 1), true_t)
        mixed_a = torch.where(own, a.repeat(m, 1, 1), true_a)
        many = Rounds(true_t, true_a, truth.floor, truth.price, truth.key)
        relaxed = relaxed_match(
            mixed_t,
            mixed_a,
            truth.floor,
            smoothing,
            scale=many.unit,
            mode="paper",
            speedup=speedup,
            **solver,
        )
        options = {
            "samples": settings.samples,
            "step": settings.step,
            "mode": "paper",
            "rows": rows,
            "seed": int(sum(truth.key)),
            **solver,
        }
        x = _Perturbed.apply(mixed_t, mixed_a, relaxed, options)
        return true_cost(x, many, smoothing, speedup).reshape(m, rounds).mean(0)

    return loss
