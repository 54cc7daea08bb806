r"""Passes over all demands at given prices of few resources: the dual function and the shares.

Of each demand the passes add up, per resource, what it takes, and its utility and what it pays. The
dual function at prices p is then ``capacity·p + utility - paid``; for the least throughput t it is
``count log t + capacity·p - paid``, to be maximised in t, where count is the number of demands.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from walras.kernels.few_types.job import exact, fall, smooth
from walras.kernels.parallel import inner, jit, map_entries
from walras.kernels.room import filled_floats, floats
from walras.types import Floats, Weights


@inner
def _scaled(
    j: int,
    speed: Weights,
    size: Floats,
    weight: Floats,
    alpha: float,
    prices: Floats,
    tau: Floats,
    b: Floats,
) -> tuple[float, float]:
    """Write a demand's speeds and prices relative to its fastest resource; its speed and worth."""
    count, fastest, many = len(prices), 0.0, len(size) - 1
    for i in range(count):
        tau[i] = speed[i, j]
        fastest = max(fastest, tau[i])
    if alpha == 1.0:
        unit = weight[j]
    elif alpha == 0.0:
        unit = weight[j] * fastest
    elif alpha == np.inf:
        unit = 1.0
    elif alpha == 2.0:
        unit = weight[j] / fastest
    else:
        unit = weight[j] * fastest ** (1.0 - alpha)
    inverse, paid = 1.0 / fastest, 1.0 / unit
    for i in range(count):
        tau[i] *= inverse
        b[i] = prices[i] * size[min(i, many), j] * paid
    return fastest, unit


@inner
def _utility(y: float, fastest: float, alpha: float) -> float:
    """Utility of a throughput relative to the fastest resource's, in units of the demand's."""
    if alpha == 1.0:
        return math.log(y * fastest)
    if alpha == np.inf:
        return 0.0
    if alpha == 2.0:
        return -1.0 / y
    return math.pow(y, 1.0 - alpha) / (1.0 - alpha)


@inner
def _bend(
    size: Floats,
    j: int,
    tau: Floats,
    x: Floats,
    near: int,
    h: float,
    drop: float,
    unit: float,
    target: float,
    v: Floats,
    curvature: Floats,
    mixed: Floats,
) -> float:
    """Add how the shares move with the prices and with the target; the bend in the target.

    With P = (I - 1 1'/near)/h on the positive shares and g = P tau, the shares fall by
    ``P - g g' / (tau'P tau + drop)`` as the prices rise, where ``drop`` is -dy/dl of the utility.
    """
    count, many = len(mixed), len(size) - 1
    mean, square = 0.0, 0.0
    for i in range(count + 1):
        if x[i] > 0.0:
            mean += tau[i]
    mean /= near
    for i in range(count + 1):
        if x[i] > 0.0:
            v[i] = tau[i] - mean
            square += v[i] * v[i]
    share = 1.0 / (square + h * drop) if square > 0.0 else 0.0
    for i in range(count):
        if x[i] > 0.0:
            taken = size[min(i, many), j]
            factor = taken / (unit * h)
            mixed[i] += taken * v[i] * share * target
            for k in range(i + 1):
                if x[k] > 0.0:
                    part = -1.0 / near - v[i] * v[k] * share
                    part += 1.0 if i == k else 0.0
                    curvature[i, k] += factor * size[min(k, many), j] * part
    return h * share * target * target


@jit
def _smoothed(
    first: int,
    last: int,
    speed: Weights,
    size: Floats,
    weight: Floats,
    alpha: float,
    level: float,
    prices: Floats,
    h: float,
    worth: Floats,
    usage: Floats,
    curvature: Floats,
    mixed: Floats,
    sums: Floats,
    shares: Floats,
) -> None:
    count, many = len(prices), len(size) - 1
    tau, b = filled_floats(count + 1, 0.0), filled_floats(count + 1, 0.0)
    v, x = floats(count + 1), filled_floats(count + 1, 0.0)
    for j in range(first, last):
        fastest, unit = _scaled(j, speed, size, weight, alpha, prices, tau, b)
        target = level * weight[j] / fastest if alpha == np.inf else 0.0
        at, y, near = smooth(tau, b, alpha, target, h, worth[j], v, x)
        worth[j] = at
        sums[0] += unit * _utility(y, fastest, alpha)
        cost = 0.5 * h * x[count] * x[count]
        for i in range(count):
            cost += x[i] * (b[i] + 0.5 * h * x[i])
            usage[i] += size[min(i, many), j] * x[i]
        sums[1] += unit * cost
        sums[2] += at * target
        if near > 1:
            drop = fall(at, alpha, target) if alpha > 0.0 and at > 0.0 else np.inf
            sums[3] += _bend(size, j, tau, x, near, h, drop, unit, target, v, curvature, mixed)
        if len(shares):
            for i in range(count):
                shares[j, i] = x[i] if tau[i] > 0.0 else 0.0


@jit
def _exact(
    first: int,
    last: int,
    speed: Weights,
    size: Floats,
    weight: Floats,
    alpha: float,
    level: float,
    prices: Floats,
    worth: Floats,
    sums: Floats,
) -> None:
    count = len(prices)
    tau, b = filled_floats(count + 1, 0.0), filled_floats(count + 1, 0.0)
    x = filled_floats(count + 1, 0.0)
    for j in range(first, last):
        fastest, unit = _scaled(j, speed, size, weight, alpha, prices, tau, b)
        target = level * weight[j] / fastest if alpha == np.inf else 0.0
        at, y = exact(tau, b, alpha, target, x)
        worth[j] = at
        sums[0] += unit * _utility(y, fastest, alpha)
        cost = 0.0
        for i in range(count):
            cost += x[i] * b[i]
        sums[1] += unit * cost
        sums[2] += at * target


@dataclass(frozen=True, eq=False)
class Demanded:
    """What all demands choose at some prices.

    Attributes:
        utility: Sum of their utilities; 0 where the least throughput counts.
        paid: Sum of what they pay, with the penalty h/2 |x|^2.
        worth: How fast ``paid`` rises with the logarithm of the least throughput.
        usage: (resources,) what they take of each.
        curvature: (resources, resources) how fast ``usage`` falls as prices rise.
        mixed: (resources,) how fast ``usage`` rises with the logarithm of the least throughput.
        bend: How fast ``worth`` rises with it, beyond itself.
    """

    utility: float
    paid: float
    worth: float
    usage: Floats
    curvature: Floats
    mixed: Floats
    bend: float


def _in_runs(threads: int, count: int, work: Callable[[int, int], Floats]) -> Floats:
    """The sum of what runs of the demands give, in their order."""
    found: dict[int, Floats] = {}

    def run(first: int, last: int) -> None:
        found[first] = work(first, last)

    map_entries(threads, run, count)
    return np.asarray(sum(found[first] for first in sorted(found)))


def smoothed(
    arrays: tuple[Weights, Floats, Floats, float],
    level: float,
    prices: Floats,
    h: float,
    worth: Floats,
    threads: int,
    shares: Floats | None = None,
) -> Demanded:
    """All demands' choices under the penalty h/2 |x|^2, h > 0.

    Args:
        arrays: Speeds, sizes, weights and alpha (:class:`walras.separable.shares.Shares`).
        level: The throughput that a demand of weight 1 must have, where alpha is infinite.
        prices: (resources,) prices, >= 0.
        h: The penalty.
        worth: (demands,) worth of one more unit, where the search begins; overwritten.
        threads: Threads.
        shares: (demands, resources) where the shares are written, or None.
    """
    m, n = len(prices), len(worth)
    out = np.zeros((0, 0)) if shares is None else shares

    def work(first: int, last: int) -> Floats:
        sums, usage, curvature, mixed = np.zeros(4), np.zeros(m), np.zeros((m, m)), np.zeros(m)
        _smoothed(first, last, *arrays, level, prices, h, worth, usage, curvature, mixed, sums, out)
        return np.concatenate([sums, usage, mixed, curvature.ravel()])

    flat = _in_runs(threads, n, work)
    lower = flat[4 + 2 * m :].reshape(m, m)
    utility, paid, worth_sum, bend = flat[:4].tolist()
    return Demanded(
        utility,
        paid,
        worth_sum,
        flat[4 : 4 + m],
        lower + np.tril(lower, -1).T,
        flat[4 + m : 4 + 2 * m],
        bend,
    )


def exactly(
    arrays: tuple[Weights, Floats, Floats, float],
    level: float,
    prices: Floats,
    worth: Floats,
    threads: int,
) -> tuple[float, float, float]:
    """Utility, payment and worth of all demands' choices without a penalty.

    Args:
        arrays: Speeds, sizes, weights and alpha (:class:`walras.separable.shares.Shares`).
        level: The throughput that a demand of weight 1 must have, where alpha is infinite.
        prices: (resources,) prices, >= 0.
        worth: (demands,) overwritten by the worth of one more unit.
        threads: Threads.
    """

    def work(first: int, last: int) -> Floats:
        sums = np.zeros(3)
        _exact(first, last, *arrays, level, prices, worth, sums)
        return sums

    utility, paid, worth_sum = _in_runs(threads, len(worth), work).tolist()
    return utility, paid, worth_sum
