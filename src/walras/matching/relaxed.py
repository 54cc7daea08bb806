"""The relaxed matching that predictors are trained through: smoothed, batched, in torch."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import torch

from walras import checks
from walras.errors import InaccuracyWarning, InputError
from walras.matching.relaxed_compiled import compiles, solve_compiled
from walras.matching.relaxed_descent import as_printed, descend
from walras.matching.relaxed_newton import newton
from walras.matching.round import check_rounds
from walras.matching.smoothed import Curve, Forces, Smoothed, Smoothing, State, even_load
from walras.matching.speedup import Decay
from walras.short_repr import short_repr
from walras.status import Status

__all__ = ["Relaxed", "Smoothing", "relaxed_match"]

MODES = ("newton", "mirror", "paper")
SOLVED = 1e-8  # residual up to which a round counts as solved, unless a looser one was asked for


@short_repr
@dataclass(frozen=True, eq=False)
class Relaxed:
    """Fractional matchings of a batch of rounds: the minima of the smoothed problem.

    Attributes:
        x: (rounds, clusters, tasks) shares; each task's sum to 1.
        problem: The smoothed problem, with times in units of ``scale``.
        scale: (rounds,) the unit of time.
        steps: (rounds,) Newton steps, or the iterations of the other modes.
        mode: The method: ``newton``, ``mirror`` or ``paper``.
        tolerance: Residual up to which a round counts as solved.

    Example:
        >>> from walras.matching import relaxed_match
        >>> found = relaxed_match([[[3.0, 2.0], [2.0, 3.0]]], [[[0.9, 0.9], [0.9, 0.9]]])
        >>> found.x.shape, bool(found.solved.all()), found.status
        (torch.Size([1, 2, 2]), True, [<Status.OPTIMAL: 'optimal'>])
    """

    x: torch.Tensor
    problem: Smoothed
    scale: torch.Tensor
    steps: torch.Tensor
    mode: str
    tolerance: float = SOLVED

    @cached_property
    def state(self) -> State:
        """Sums, counts and mean success, in units of the scale."""
        return self.problem.state(self.x)

    @cached_property
    def forces(self) -> Forces:
        """Derivatives of the objective by the parts of the state."""
        return self.problem.forces(self.state)

    @property
    def loads(self) -> torch.Tensor:
        """(rounds, clusters) loads, in the unit of the times."""
        return self.problem.loads(self.state) * self.scale[:, None]

    @property
    def mean_success(self) -> torch.Tensor:
        """(rounds,) mean chance of success over the tasks."""
        return self.state.success

    @cached_property
    def residual(self) -> torch.Tensor:
        """(rounds,) how far the optimality conditions are from holding, recomputed from ``x``.

        The largest spread of the objective's derivatives within a task's column, in units of the
        scale: at a stationary point they are equal.
        """
        return self.problem.residual(self.x)

    @property
    def solved(self) -> torch.Tensor:
        """(rounds,) whether the residual is at most ``tolerance``."""
        return self.residual <= self.tolerance

    @property
    def status(self) -> list[Status]:
        """A round's status: ``optimal`` where it is solved, else ``optimal_inaccurate``."""
        return [Status.OPTIMAL if one else Status.INACCURATE for one in self.solved.tolist()]

    def warn_unsolved(self, what: str) -> None:
        """Warn of rounds that are not solved; returns at once if all are.

        Args:
            what: What is not right there, such as ``the derivative``.
        """
        unsolved = int((~self.solved).sum())
        if unsolved:
            warnings.warn(
                f"{what} is not reliable in {unsolved} of {len(self.solved)} rounds, whose relaxed "
                f"matching is not solved: residual {float(self.residual.max()):.1e}, solved up to "
                f"{self.tolerance:g}; raise Smoothing.temperature or lower Smoothing.sharpness",
                InaccuracyWarning,
                stacklevel=3,
            )

    @property
    def value(self) -> torch.Tensor:
        """(rounds,) the smoothed objective, in units of the scale."""
        return self.problem.value(self.x)

    @property
    def bound(self) -> torch.Tensor:
        """(rounds,) a bound below the smoothed objective of any matching, by weak duality.

        At the minimum it is the value; where tasks run together there is none, and it is -inf.
        """
        if self.problem.curve is not None:
            return torch.full_like(self.value, -torch.inf)
        return self.problem.dual(self.state, self.forces)


def relaxed_match(
    times: Any,
    success: Any,
    min_success: Any = 0.8,
    smoothing: Smoothing | None = None,
    *,
    speedup: Decay | None = None,
    scale: Any = None,
    mode: str = "newton",
    tolerance: float = 1e-13,
    start: Relaxed | None = None,
    iterations: int = 3000,
    rate: float = 1.0,
) -> Relaxed:
    """Solve the smoothed, fractional matching of a batch of rounds.

    See :mod:`walras.matching.smoothed` for the problem. No gradient is recorded;
    :mod:`walras.learn` differentiates the solution implicitly.

    Args:
        times: (rounds, clusters, tasks), tensor or array, > 0; ``inf`` where a cluster cannot run
            a task.
        success: (rounds, clusters, tasks) chances, 0 to 1.
        min_success: Floor of the mean success over tasks, one or (rounds,).
        smoothing: Temperature, sharpness and barrier; the defaults if None.
        speedup: None for one task after the other, else a :class:`walras.matching.Decay`.
        scale: (rounds,) unit of time of the smoothing; if None, the load of each cluster when all
            tasks are spread evenly at their mean times.
        mode: ``newton`` solves every round to ``tolerance``. ``mirror`` is mirror descent, the
            reference. ``paper`` is Algorithm 1 of Huo et al. (ICPP 2025) as printed; it converges
            to another point.
        tolerance: Residual to stop at; ``newton`` also stops at rounding error. A round counts as
            solved up to this residual, or 1e-8 if that is larger.
        start: The solution of a similar batch, for ``newton``.
        iterations: Most iterations of ``mirror`` and ``paper``.
        rate: Learning rate eta of ``paper``.

    Returns:
        The matchings, in float64 on the device of ``times``, with a status per round.

    Raises:
        InputError: A shape, number or setting cannot be used.

    Example:
        >>> from walras.matching import relaxed_match
        >>> found = relaxed_match([[[3.0, 2.0], [2.0, 3.0]]], [[[0.9, 0.9], [0.9, 0.9]]])
        >>> found.x.numpy().round(2)
        array([[[0.02, 0.98],
                [0.98, 0.02]]])
    """
    chosen = smoothing or Smoothing()
    checks.one_of(mode, "mode", MODES)
    tolerance = checks.number(tolerance, "setting tolerance", 1e-14, 1.0)
    iterations = checks.whole(iterations, "setting iterations", 1, 10**9)
    rate = checks.number(rate, "setting rate", 1e-12, 1e12)
    problem, unit = _stated(times, success, min_success, chosen, speedup, scale)
    with torch.no_grad():
        at = None if start is None else _start(problem, start)
        x, steps = minimise(problem, mode, tolerance, at, iterations, rate)
    return Relaxed(x, problem, unit, steps, mode, max(tolerance, SOLVED))


def minimise(
    problem: Smoothed,
    mode: str = "newton",
    tolerance: float = 1e-13,
    start: State | None = None,
    iterations: int = 3000,
    rate: float = 1.0,
) -> tuple[torch.Tensor, torch.Tensor]:
    """(rounds, clusters, tasks) matchings and (rounds,) steps of a problem that is stated.

    Nothing is checked: times may be negative and chances outside 0 to 1, as in differences.

    Args:
        problem: The problem.
        mode: See :func:`relaxed_match`, and so for the others.
        tolerance: See there.
        start: A state near the solution.
        iterations: See there.
        rate: See there.
    """
    if mode == "newton":
        if not compiles(problem):
            return newton(problem, tolerance, start)
        x, steps = solve_compiled(problem, tolerance, start)
        # The kernel steps in the state, which holds X to eps / tau; newton steps in log X.
        rough = torch.nonzero(~(problem.residual(x) <= SOLVED))[:, 0]
        if len(rough):
            cold = problem.take(rough)
            x[rough], spent = newton(cold, tolerance, cold.state(x[rough]))
            steps[rough] += spent
        return x, steps
    steps = torch.full_like(problem.floor, iterations, dtype=torch.int64)
    if mode == "mirror":
        return descend(problem, problem.uniform(), iterations, tolerance), steps
    return as_printed(problem, rate, iterations), steps


def _start(problem: Smoothed, start: Relaxed) -> State:
    if start.x.shape != problem.t.shape:
        raise InputError(
            f"has shape {tuple(start.x.shape)}",
            where="start",
            allowed=f"{tuple(problem.t.shape)}, as times",
            remedy="start from the same rounds",
        )
    return start.state


def _stated(
    times: Any,
    success: Any,
    min_success: Any,
    smoothing: Smoothing,
    speedup: Decay | None,
    scale: Any,
) -> tuple[Smoothed, torch.Tensor]:
    t = _tensor(times, "times", None)
    a = _tensor(success, "success", t.device)
    if t.ndim != 3 or not t.numel():
        raise InputError(
            f"has shape {tuple(t.shape)}",
            where="times",
            allowed="(rounds, clusters, tasks)",
            remedy="give one round as times[None]",
        )
    check_rounds(t.cpu().numpy(), a.cpu().numpy())
    floor = _each(min_success, "min_success", t, 0.0, 1.0)
    unit = even_load(t) if scale is None else _each(scale, "scale", t, 1e-300, 1e300)
    barred = ~torch.isfinite(t)
    some = bool(barred.any())
    ratio = (t / unit[:, None, None]).masked_fill(barred, 0.0)
    return Smoothed(
        ratio, a, floor, smoothing, curve_of(speedup, t), barred if some else None
    ), unit


def _tensor(given: Any, name: str, device: torch.device | None) -> torch.Tensor:
    try:
        if not isinstance(given, torch.Tensor):  # torch would take a Python float as float32
            given = np.asarray(given, dtype=np.float64)
        found = torch.as_tensor(given, device=device).detach()
    except (TypeError, ValueError, RuntimeError) as error:
        raise InputError(
            f"is not numeric: {error}",
            where=name,
            allowed="a tensor or array of numbers",
            remedy="give (rounds, clusters, tasks) numbers",
        ) from error
    return found.to(torch.float64)


def _each(given: Any, name: str, like: torch.Tensor, low: float, high: float) -> torch.Tensor:
    found = _tensor(given, name, like.device)
    if found.shape not in ((), (len(like),)) or not bool(((found >= low) & (found <= high)).all()):
        raise InputError(
            f"has shape {tuple(found.shape)}, or a number outside its range",
            where=name,
            allowed=f"one number or ({len(like)},), {low:g} to {high:g}",
            remedy="give one number a round",
        )
    return found.expand(len(like)).clone()


def curve_of(speedup: Decay | None, t: torch.Tensor) -> Curve | None:
    """The curve of a speed-up for the clusters of (..., clusters, tasks) times.

    Raises:
        InputError: It is no Decay, or has numbers for another number of clusters.
    """
    if speedup is None:
        return None
    remedy = "fit a Decay: the relaxation needs a smooth ratio"
    checks.of_kind(speedup, Decay, "speedup", "None or a Decay", remedy=remedy)
    parts = (
        checks.one_each(getattr(speedup, name), f"speedup.{name}", t.shape[-2], "cluster")
        for name in ("limit", "rate")
    )
    return Curve(*(torch.as_tensor(value, device=t.device) for value in parts))
