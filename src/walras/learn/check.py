"""A gradient self-check: implicit, dense, forward and central differences beside each other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch

from walras.engines.settings import check_range
from walras.learn.forward import forward_gradient
from walras.learn.implicit import Gradient, dense_gradient, implicit_gradient
from walras.matching.relaxed import Relaxed, relaxed_match
from walras.matching.smoothed import Smoothing
from walras.matching.speedup import Decay

_DENSE = 400  # clusters x tasks up to which the dense system is solved


@dataclass(frozen=True)
class GradientCheck:
    """Largest relative differences from the central differences, over the probed entries.

    Attributes:
        implicit: Of the low-rank implicit derivative.
        dense: Of the dense optimality system; NaN where the rounds are too large for it.
        forward: Of the forward gradient with N orthogonal directions a row, over all entries and
            relative to the norm.
        probes: Entries of times and of chances that were probed.
        residual: Of the solutions.
    """

    implicit: float
    dense: float
    forward: float
    probes: int
    residual: float

    @property
    def passed(self) -> bool:
        """Whether the implicit derivative is right to 1e-6 and the forward one to 5 per cent."""
        return self.implicit <= 1e-6 and self.forward <= 0.05


def check_gradient(
    times: Any,
    success: Any,
    min_success: Any = 0.8,
    smoothing: Smoothing | None = None,
    *,
    speedup: Decay | None = None,
    step: float = 1e-5,
    probes: int = 12,
    seed: int = 0,
) -> GradientCheck:
    """Compare the derivatives of a random linear loss of the relaxed matching.

    Args:
        times: (rounds, clusters, tasks).
        success: (rounds, clusters, tasks).
        min_success: Floor.
        smoothing: See :class:`walras.matching.Smoothing`.
        speedup: See :func:`walras.matching.relaxed_match`.
        step: Of the central differences, in units of the scale.
        probes: Entries of the times, and as many of the chances, to probe.
        seed: Of the loss and the entries.

    Raises:
        InputError: As :func:`walras.matching.relaxed_match`, or a setting outside its range.
    """
    check_range("step", step, 1e-9, 1e-1)
    check_range("probes", probes, 1, 10**6, whole=True)
    found = relaxed_match(times, success, min_success, smoothing, speedup=speedup)
    generator = torch.Generator().manual_seed(seed)
    by_x = torch.randn(tuple(found.x.shape), generator=generator, dtype=torch.float64)
    by_x = by_x.to(found.x.device)
    small = found.x.shape[1] * found.x.shape[2] <= _DENSE
    own = [implicit_gradient(found, by_x), *([dense_gradient(found, by_x)] if small else [])]
    worst = [0.0 for _ in own]
    for which in ("times", "success"):
        size = float(getattr(own[0], which).abs().max())
        for _ in range(probes):
            shape = found.x.shape
            at = tuple(int(torch.randint(k, (1,), generator=generator)) for k in shape)
            slope = _difference(found, by_x, which, at, step, speedup)
            for k, gradient in enumerate(own):
                off = abs(float(getattr(gradient, which)[at]) - slope) / size
                worst[k] = max(worst[k], off)
    estimate = forward_gradient(found, by_x, seed=seed, speedup=speedup)
    return GradientCheck(
        worst[0], worst[1] if small else float("nan"), _apart(estimate, own[0]), 2 * probes,
        float(found.residual.max()),
    )  # fmt: skip


def _difference(
    found: Relaxed, by_x: torch.Tensor, which: str, at: tuple[int, ...], step: float,
    speedup: Decay | None,
) -> float:  # fmt: skip
    """Central difference of ``<by_x, X>`` by one entry of the times or of the chances."""
    p, b = found.problem, at[0]
    unit = step * (float(found.scale[b]) if which == "times" else 1.0)
    ends = []
    for sign in (1.0, -1.0):
        moved = {"times": p.t * found.scale[:, None, None], "success": p.a.clone()}
        if p.barred is not None:
            moved["times"] = moved["times"].masked_fill(p.barred, torch.inf)
        moved[which][at] += sign * unit
        own = {name: value[b : b + 1] for name, value in moved.items()}
        x = relaxed_match(
            own["times"], own["success"], p.floor[b : b + 1], p.smoothing, speedup=speedup,
            scale=found.scale[b : b + 1],
        ).x  # fmt: skip
        ends.append(float((by_x[b] * x[0]).sum()))
    return (ends[0] - ends[1]) / (2.0 * unit)


def _apart(one: Gradient, other: Gradient) -> float:
    """Larger relative distance of the two parts, in the Euclidean norm."""
    pairs = (one.times, other.times), (one.success, other.success)
    return max(float((a - b).norm() / b.norm()) for a, b in pairs)
