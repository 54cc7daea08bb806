"""A gradient self-check: implicit, dense, forward and central differences beside each other."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch

from walras import checks
from walras.learn.forward import forward_gradient
from walras.learn.implicit import Gradient, dense_gradient, implicit_gradient
from walras.matching.relaxed import Relaxed, minimise, relaxed_match
from walras.matching.smoothed import Smoothing
from walras.matching.speedup import Decay

_DENSE = 400  # clusters x tasks up to which the dense system is solved
_STEP, _MOST_STEP = 0.2, 1e-2  # first of the differences: what moves the shares, and at most
_HALVINGS = 6
_FORWARD = 0.002  # step of the forward gradient, likewise
_ACCURATE, _DOUBT = 1e-6, 0.01  # what passes, and how uncertain the differences may be
_SAFE = 2.0  # growth of the change from one step to the next at which the halving ends
_NOTHING = 1e-10  # derivatives below this part of what they can be count as 0
_FORWARD_NOTHING = 1e-9  # likewise, for one-sided differences: the rounding of both ends counts


@dataclass(frozen=True)
class GradientCheck:
    """Largest relative differences from the central differences, over the probed entries.

    A difference is relative to the largest derivative of its kind. One that is not finite is NaN
    here, and does not pass.

    Attributes:
        implicit: Of the low-rank implicit derivative.
        dense: Of the dense optimality system; NaN where the rounds are too large for it.
        forward: Of the forward gradient with N orthogonal directions a row, over all entries and
            relative to the norm.
        uncertainty: Of the central differences, as their extrapolation tells it: the colder the
            matching, the less can differences tell.
        probes: Entries of times and of chances that were probed.
        residual: Of the solutions.
        solved: Whether every round is solved; see :attr:`walras.matching.relaxed.Relaxed.solved`.

    Example:
        >>> from walras.learn import GradientCheck
        >>> GradientCheck(implicit=1e-9, dense=1e-9, forward=0.01, uncertainty=1e-8, probes=24,
        ...               residual=1e-13, solved=True).passed
        True
    """

    implicit: float
    dense: float
    forward: float
    uncertainty: float
    probes: int
    residual: float
    solved: bool

    @property
    def passed(self) -> bool:
        """Whether the implicit derivative is right to 1e-6 and the forward one to 5 per cent.

        The implicit one to the uncertainty of the differences, where that is larger and at most 1
        per cent.
        """
        sure = self.solved and self.uncertainty <= _DOUBT
        allowed = max(_ACCURATE, self.uncertainty)
        return sure and self.implicit <= allowed and self.forward <= 0.05


def check_gradient(
    times: Any,
    success: Any,
    min_success: Any = 0.8,
    smoothing: Smoothing | None = None,
    *,
    speedup: Decay | None = None,
    step: float | None = None,
    probes: int = 12,
    seed: int = 0,
) -> GradientCheck:
    """Compare the derivatives of a random linear loss of the relaxed matching.

    Source: Huo et al. (ICPP 2025), equation 15 and Algorithm 2; Ridders (1982) for the differences.

    Args:
        times: (rounds, clusters, tasks) times, > 0, in one unit.
        success: (rounds, clusters, tasks) chances of success, 0 to 1.
        min_success: Least mean success of a round, one or (rounds,).
        smoothing: See :class:`walras.matching.Smoothing`.
        speedup: Curve of tasks that run together on a cluster; see
            :func:`walras.matching.relaxed_match`.
        step: Largest of the central differences, in units of the scale, 1e-12 to 0.1; if None, a
            fifth of what moves the shares, at most 0.01.
        probes: Entries of the times, and as many of the chances, to probe, at least 1.
        seed: Seed of the loss and of the probed entries.

    Returns:
        The largest differences.

    Raises:
        InputError: As :func:`walras.matching.relaxed_match`, or a setting outside its range.

    Warns:
        InaccuracyWarning: Rounds are not solved.

    Example:
        >>> import numpy as np
        >>> import walras as wl
        >>> rng = np.random.default_rng(0)
        >>> times, success = rng.uniform(0.5, 1.5, (1, 3, 5)), rng.uniform(0.8, 1.0, (1, 3, 5))
        >>> wl.learn.check_gradient(times, success, 0.85, probes=2).passed
        True
    """
    found = relaxed_match(times, success, min_success, smoothing, speedup=speedup)
    unit = _unit(found)
    own_step = min(_STEP * unit, _MOST_STEP) if step is None else step
    own_step = checks.number(own_step, "setting step", 1e-12, 1e-1)
    probes = checks.whole(probes, "setting probes", 1, 10**6)
    generator = torch.Generator().manual_seed(seed)
    by_x = torch.randn(tuple(found.x.shape), generator=generator, dtype=torch.float64)
    by_x = by_x.to(found.x.device)
    own = [implicit_gradient(found, by_x)]
    if found.x.shape[1] * found.x.shape[2] <= _DENSE:
        own.append(dense_gradient(found, by_x))
    entries = [
        (which, tuple(int(torch.randint(k, (1,), generator=generator)) for k in found.x.shape))
        for which in ("times", "success")
        for _ in range(probes)
    ]
    slopes = [_slope(found, by_x, which, at, own_step) for which, at in entries]
    sizes = _sizes(found, by_x, own[0], _NOTHING)
    worst = [_worst(gradient, entries, slopes, sizes) for gradient in own]
    doubts = [error / sizes[entry[0]] for entry, (_, error) in zip(entries, slopes, strict=True)]
    estimate = forward_gradient(found, by_x, seed=seed, step=_FORWARD * unit)
    forward_sizes = _sizes(found, by_x, own[0], _FORWARD_NOTHING)
    return GradientCheck(
        implicit=worst[0],
        dense=worst[1] if len(own) > 1 else float("nan"),
        forward=_apart(estimate, own[0], forward_sizes),
        uncertainty=max(doubts),
        probes=2 * probes,
        residual=float(found.residual.max()),
        solved=bool(found.solved.all()),
    )


def _unit(found: Relaxed) -> float:
    """A change of a time or a chance that moves the shares by a part of about 1."""
    by_success = float(found.forces.nu.max()) / found.problem.tasks
    return found.problem.tau / max(1.0, by_success)


def _sizes(
    found: Relaxed, by_x: torch.Tensor, gradient: Gradient, nothing: float
) -> dict[str, float]:
    """The largest derivative of each kind, or the least that counts."""
    least = nothing * float(by_x.abs().max()) / found.problem.tau
    return {
        "times": max(float(gradient.times.abs().max()), least / float(found.scale.min())),
        "success": max(float(gradient.success.abs().max()), least),
    }


def _worst(
    gradient: Gradient,
    entries: list[tuple[str, tuple[int, ...]]],
    slopes: list[tuple[float, float]],
    sizes: dict[str, float],
) -> float:
    """The largest difference from the slopes at the entries, in the sizes; NaN if one is."""
    off = [
        abs(float(getattr(gradient, which)[at]) - slope) / sizes[which]
        for (which, at), (slope, _) in zip(entries, slopes, strict=True)
    ]
    return float(np.max(off))  # Python's max passes over NaN


def _slope(
    found: Relaxed, by_x: torch.Tensor, which: str, at: tuple[int, ...], step: float
) -> tuple[float, float]:
    """The slope of ``<by_x, X>`` in one entry of the times or of the chances, and its error.

    Ridders' method (Advances in Engineering Software 4, 1982): central differences of halved steps,
    extrapolated to a step of nothing; of the table the entry that changes least.
    """
    last: list[float] = []
    best, error = math.nan, math.inf
    halved = step * 0.5 ** torch.arange(_HALVINGS + 1, dtype=torch.float64, device=found.x.device)
    for difference in _differences(found, by_x, which, at, halved):
        row = [difference]
        for order, before in enumerate(last, 1):
            row.append(row[-1] + (row[-1] - before) / (4.0**order - 1.0))
            change = max(abs(row[-1] - row[-2]), abs(row[-1] - before))
            if not change >= error:
                best, error = row[-1], change
        if last and not abs(row[-1] - last[-1]) < _SAFE * error:
            break  # rounding outweighs what smaller steps gain
        last = row
    unit = float(found.scale[at[0]]) if which == "times" else 1.0
    return best / unit, error / unit


def _differences(
    found: Relaxed, by_x: torch.Tensor, which: str, at: tuple[int, ...], steps: torch.Tensor
) -> list[float]:
    """Central differences, times counting in units of the scale.

    The rounds are not checked again: a chance of 1 is probed on both of its sides.
    """
    moves = torch.cat([steps, -steps])
    here = found.problem.take(torch.tensor([at[0]] * len(moves), device=found.x.device))
    t, a = here.t.clone(), here.a.clone()
    (t if which == "times" else a)[:, at[1], at[2]] += moves
    x, _ = minimise(replace(here, t=t, a=a), start=here.state(found.x[at[0]].expand_as(t)))
    ahead, behind = (by_x[at[0]] * x).sum((-2, -1)).chunk(2)
    slopes: list[float] = ((ahead - behind) / (2.0 * steps)).tolist()
    return slopes


def _apart(one: Gradient, other: Gradient, sizes: dict[str, float]) -> float:
    """Larger relative distance of the two parts, in the Euclidean norm; NaN if one is."""
    off = []
    for which, least in sizes.items():
        own = getattr(other, which)
        off.append(float((getattr(one, which) - own).norm()) / max(float(own.norm()), least))
    return float(np.max(off))
