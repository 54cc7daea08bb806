r"""The certificate of a problem of shares, from its few arrays alone.

It is that of :func:`walras.certificate.certify`, demand by demand: with prices p of the resources
and r of the throughputs a demand's time is worth ``q = max(0, max_i r T_i - p_i s_i)``, and

    value <= C·p + sum q + sum_j sup_y [w u(y) - r y]

for any p, r >= 0. For the least throughput the last sum is 0 where ``sum r = 1``, to which both
prices are scaled. Only some demands at a time are in double precision.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from walras.certificate.certify import LEAST_TERMS, Certificate
from walras.separable.form import Separable
from walras.separable.shares import Shares
from walras.types import Floats

_AT_ONCE = 1 << 16  # numbers in double precision at a time


class _LaterReduced(Certificate):
    """A certificate whose reduced costs are computed when they are read."""

    def __getattr__(self, name: str) -> Any:
        if name != "reduced" or "_problem" not in vars(self):
            raise AttributeError(name)
        problem = vars(self)["_problem"]
        found = problem.cost + problem.rows.matrix.T @ self.prices
        found.flags.writeable = False
        vars(self)["reduced"] = found
        return found

    def as_read_only(self) -> Certificate:
        """The same certificate, whose arrays cannot be written to."""
        for array in (self.x, self.t, self.prices):
            array.flags.writeable = False
        return self

    def __reduce__(self) -> tuple[type[Certificate], tuple[Any, ...]]:
        return Certificate, tuple(getattr(self, name) for name in Certificate.__annotations__)


def certify_shares(problem: Separable, shares: Shares, x: Floats, prices: Floats) -> Certificate:
    """Repair shares, bound the optimum from prices, and measure the gap.

    Args:
        problem: The problem that the arrays are of.
        shares: Its arrays.
        x: (entries,) shares by demand, any numbers; repaired where they lie.
        prices: (rows,) prices of capacity, time and throughput, any numbers; those of time are
            set to the best ones where they lie.
    """
    m, n = shares.resources, shares.demands
    table = x.reshape(n, m)
    over = _repaired(shares, table)
    value, level = _value(shares, table)
    bound, products = _bound(shares, table, prices)
    size = max(abs(value), abs(bound), LEAST_TERMS * abs(value)) or 1.0
    scale = size if problem.gap_scale is None else problem.gap_scale
    gap = abs(bound - value) / scale if np.isfinite(bound - value) else np.inf
    worst = int(np.argmax(over))
    made = object.__new__(_LaterReduced)
    vars(made).update(
        _problem=problem,
        x=x,
        t=np.array([level] if shares.is_least else []),
        prices=prices,
        value=-value,
        bound=-bound,
        gap=gap if value <= bound or gap <= 1e-6 else np.inf,
        violation=max(0.0, float(over[worst])),
        worst_row=worst,
        stationarity=products / max(abs(value), 1.0) if np.isfinite(value) else np.inf,
        gap_unit=problem.gap_unit,
    )
    return made


def _parts(shares: Shares) -> Iterator[slice]:
    """Runs of demands."""
    step = max(1, _AT_ONCE // shares.resources)
    for first in range(0, shares.demands, step):
        yield slice(first, min(first + step, shares.demands))


def _repaired(shares: Shares, table: Floats) -> Floats:
    """Put shares within time, then within capacity; (m,) what is left over it, relative."""
    usage = np.zeros(shares.resources)
    for part in _parts(shares):
        own = table[part]
        np.nan_to_num(own, copy=False, nan=0.0, posinf=1.0, neginf=0.0)
        np.maximum(own, 0.0, out=own)
        own /= np.maximum(1.0, own.sum(axis=1))[:, None]
        usage += _used(shares, own, part)
    factor = np.minimum(1.0, shares.capacity / np.maximum(usage, 1e-300))
    usage[:] = 0.0
    for part in _parts(shares):
        table[part] *= factor
        usage += _used(shares, table[part], part)
    return np.asarray(usage / shares.capacity - 1.0)


def _used(shares: Shares, own: Floats, part: slice) -> Floats:
    taken = np.broadcast_to(shares.size[:, part], own.T.shape)
    return np.asarray(np.einsum("ji,ij->i", own, taken))


def _value(shares: Shares, table: Floats) -> tuple[float, float]:
    """The objective in the user's sense, and the least throughput."""
    total, level, alpha = 0.0, np.inf, shares.alpha
    with np.errstate(divide="ignore"):
        for part in _parts(shares):
            y = np.einsum("ji,ij->j", table[part], shares.speed[:, part], dtype=np.float64)
            weight = shares.weight[part]
            if shares.is_least:
                level = min(level, float(np.min(y / weight)))
            elif alpha == 1.0:
                total += float(weight @ np.log(y))
            else:
                total += float(weight @ y ** (1.0 - alpha)) / (1.0 - alpha)
    return (level, level) if shares.is_least else (total, 0.0)


def _bound(shares: Shares, table: Floats, prices: Floats) -> tuple[float, float]:
    """The bound that prices prove, and the largest product of a share and its reduced cost."""
    m, n, alpha = shares.resources, shares.demands, shares.alpha
    np.nan_to_num(prices, copy=False, nan=0.0, posinf=0.0, neginf=0.0)
    p, time, own = prices[:m], prices[m : m + n], prices[m + n :]
    np.maximum(p, 0.0, out=p)
    if shares.is_least:
        np.maximum(own, 0.0, out=own)
        paid = float(own.sum())
        if paid <= 0.0:
            return np.inf, np.inf
        prices /= paid
    else:
        np.minimum(own, 0.0, out=own)
    total, most = float(shares.capacity @ p), 0.0
    for part in _parts(shares):
        weight = shares.weight[part]
        r = weight if alpha == 0.0 else np.abs(own[part])
        r = r / weight if shares.is_least else r
        gain = r * shares.speed[:, part] - p[:, None] * shares.size[:, part]
        time[part] = np.maximum(gain.max(axis=0), 0.0)
        total += float(time[part].sum())
        if not shares.is_least and alpha > 0.0:
            total += _conjugates(weight, r, alpha)
        most = max(most, float(np.max(table[part] * (time[part] - gain).T)))
    return total, most


def _conjugates(weight: Floats, r: Floats, alpha: float) -> float:
    """``sum_j sup_y [w u(y) - r y]``, infinite where a price is 0."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        if alpha == 1.0:
            return float(np.sum(weight * (np.log(weight / r) - 1.0)))
        y = (weight / r) ** (1.0 / alpha)
        found = float(np.sum(weight * y ** (1.0 - alpha) / (1.0 - alpha) - r * y))
    return found if np.isfinite(found) else np.inf
