"""The optimum of a problem, by solvers that share no code with the distributed algorithms."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy

from walras.errors import EngineError
from walras.network.problem.cpu_costs import CPUCosts
from walras.network.problem.losses import Loss
from walras.network.problem.shards import Shards
from walras.short_repr import short_repr
from walras.types import Bools, Floats

_HALVINGS = 200
_ROUNDING = 1e-14  # share of the bounds' sum
_FLAT = 1e-13  # gradient at which Newton's steps end
_DENSE = 1000  # number of scalars up to which a Hessian is formed


@short_repr
@dataclass(frozen=True, eq=False)
class Optimum:
    """The optimum of a problem.

    Attributes:
        shares: (centres,) CPU shares in the budget's unit; 0 for centres that take no part.
        price: The common marginal cost of all shares strictly inside their boxes.
        cost: Sum of the CPU costs.
        model: (scalars,) the best model; None without a loss.
        loss: Its loss, the sum of all centres' parts; NaN without a model.

    Example:
        >>> import walras as wl
        >>> wn = wl.network
        >>> cpu = [wn.QuadraticCPU(1.0, 1.0), wn.QuadraticCPU(3.0, 1.0)]
        >>> best = wn.NetworkProblem(cpu, budget=6.0).optimum()
        >>> best.shares, best.price, best.cost
        (array([2., 4.]), 1.0, 1.0)
    """

    shares: Floats
    price: float
    cost: float
    model: Floats | None = None
    loss: float = float("nan")


def best_shares(costs: CPUCosts, budget: float, low: Floats, high: Floats, alive: Bools) -> Optimum:
    """Find the best shares by bisection on the price p: f_i'(x) = p within each box."""

    def shares(price: float) -> Floats:
        return np.asarray(np.where(alive, shares_at(costs, price, low, high), 0.0))

    def over(price: float) -> float:
        return float(shares(price).sum()) - budget

    for bounds in (low, high):
        size = math.fsum(np.abs(bounds[alive]))
        missed = abs(float(bounds[alive].sum()) - budget)
        if math.isfinite(size) and missed <= _ROUNDING * size:  # the bounds leave only one split
            x = np.where(alive, bounds, 0.0)
            slopes = costs.slope(np.where(alive, x, _any(low, high)))[alive]
            price = float(slopes.min() if bounds is low else slopes.max())
            return Optimum(x, price, _cost(costs, x, alive, low, high))
    bottom, top = -1.0, 1.0
    for _ in range(_HALVINGS):
        if over(bottom) <= 0.0:
            break
        bottom *= 4.0
    for _ in range(_HALVINGS):
        if over(top) >= 0.0:
            break
        top *= 4.0
    price = float(scipy.optimize.brentq(over, bottom, top, xtol=1e-300, rtol=8.9e-16, maxiter=500))
    x = shares(price)
    # The rounding error goes to a share inside its box.
    inside = alive & (x > low) & (x < high)
    if inside.any():
        x[int(np.argmax(inside))] += budget - float(x.sum())
    return Optimum(x, price, _cost(costs, x, alive, low, high))


def _cost(costs: CPUCosts, x: Floats, alive: Bools, low: Floats, high: Floats) -> float:
    return float(costs.value(np.where(alive, x, _any(low, high)))[alive].sum())


def _any(low: Floats, high: Floats) -> Floats:
    """A share at which every cost is defined."""
    return np.asarray(np.clip(1.0, low, high))


def shares_at(costs: CPUCosts, price: Floats | float, low: Floats, high: Floats) -> Floats:
    """(centres,) the share in its box that each centre takes at a price."""
    prices = np.broadcast_to(price, (costs.centres,))
    found = np.empty(costs.centres)
    for own, cost in costs.groups:
        if hasattr(cost, "at_slope"):
            found[own] = np.clip(cost.at_slope(prices[own]), low[own], high[own])
            continue
        a, b = low[own].copy(), high[own].copy()
        for _ in range(64):
            middle = 0.5 * (a + b)
            right = cost.slope(middle) < prices[own]
            a, b = np.where(right, middle, a), np.where(right, b, middle)
        found[own] = 0.5 * (a + b)
    return found


def best_model(loss: Loss, data: Shards, centres: int) -> tuple[Floats, float]:
    """Find the best model by L-BFGS on the sum of all parts, then by Newton if there is a Hessian.

    Raises:
        EngineError: The solver diverged.
    """
    dtype = data.features.dtype

    def both(y: Floats) -> tuple[float, Floats]:
        models = np.repeat(y[None].astype(dtype), data.centres, axis=0)
        value = float(loss.value(models, data, centres).sum())
        return value, loss.gradient(models, data, centres).sum(axis=0, dtype=np.float64)

    begin = np.asarray(loss.start(data, 0), np.float64)
    # In single precision no step improves the value by less than this.
    least = 0.0 if dtype == np.float64 else float(np.finfo(dtype).eps)
    options = {"maxiter": 20000, "maxfun": 40000, "ftol": least, "gtol": _FLAT, "maxcor": 30}
    found = scipy.optimize.minimize(both, begin, jac=True, method="L-BFGS-B", options=options)  # type: ignore[call-overload]
    y = np.asarray(found.x, np.float64)
    if not np.isfinite(y).all():
        raise EngineError(
            f"diverged: {found.message}",
            where="Problem.optimum",
            remedy="scale the features, or add regularisation",
        )
    if hasattr(loss, "hessian"):
        y = _newton(y, both, lambda at: loss.hessian(at, data, centres).sum(axis=0))
    return y, both(y)[0]


def _newton(
    y: Floats,
    both: Callable[[Floats], tuple[float, Floats]],
    hessian: Callable[[Floats], Floats],
) -> Floats:
    """Newton's method, while it reduces the gradient; only for few variables."""
    for _ in range(50 if len(y) <= _DENSE else 0):
        gradient = both(y)[1]
        if float(np.abs(gradient).max()) < _FLAT:
            break
        step = np.linalg.lstsq(hessian(y), gradient, rcond=None)[0]
        if float(np.abs(both(y - step)[1]).max()) >= float(np.abs(gradient).max()):
            break
        y = y - step
    return y
