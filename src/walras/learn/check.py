"""A gradient self-check: implicit, dense, forward and central differences beside each other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch

from walras.engines.settings import check_range
from walras.learn.forward_gradient import forward_gradient
from walras.learn.implicit import dense_gradient, implicit_gradient
from walras.matching.relaxed import relaxed_match
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
    shape = tuple(found.x.shape)
    by_x = torch.randn(shape, generator=generator, dtype=torch.float64).to(found.x.device)
    small = shape[1] * shape[2] <= _DENSE
    implicit = implicit_gradient(found, by_x)
    others = [implicit, *([dense_gradient(found, by_x)] if small else [])]
    worst = [0.0, 0.0]
    t, a = found.problem.t * found.scale[:, None, None], found.problem.a
    for which in ("times", "success"):
        size = float(getattr(implicit, which).abs().max())
        for _ in range(probes):
            at = tuple(int(torch.randint(k, (1,), generator=generator)) for k in shape)
            unit = step * (float(found.scale[at[0]]) if which == "times" else 1.0)
            ends = []
            for sign in (1.0, -1.0):
                moved = [t.clone(), a.clone()]
                moved[which == "success"][at] += sign * unit
                x = relaxed_match(
                    moved[0], moved[1], found.problem.floor, smoothing, speedup=speedup,
                    scale=found.scale, start=found,
                ).x  # fmt: skip
                ends.append(float((by_x * x).sum()))
            slope = (ends[0] - ends[1]) / (2.0 * unit)
            for k, other in enumerate(others):
                worst[k] = max(worst[k], abs(float(getattr(other, which)[at]) - slope) / size)
    estimate = forward_gradient(found, by_x, seed=seed, speedup=speedup)
    off = max(
        float((getattr(estimate, w) - getattr(implicit, w)).norm() / getattr(implicit, w).norm())
        for w in ("times", "success")
    )
    return GradientCheck(
        worst[0], worst[1] if small else float("nan"), off, 2 * probes,
        float(found.residual.max()),
    )  # fmt: skip
