r"""The first point where every block shares out all it has below one scalar's level.

Given narrow prices p, the columns x and the blocks' prices q follow from the central path. The dual
of the barrier problem is then concave in p alone (E = -w e, so that ``w p`` are shares of one):

    max  sum_j min_(a x = b_j) [r x - mu sum log x] - b p + mu sum log p,   r = c + N'p,  w p = 1.

Its slope is ``N x - b + mu/p``, one pass over the columns. Twenty steps of L-BFGS (Liu and
Nocedal 1989) in log p cost as much as a few factorisations. The result is primal and dual feasible,
with centred columns and prices near the path, at a gap that would take many iterations to reach.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
import scipy.sparse as sp

from walras.engines.interior.form import EQUALITY, INEQUALITY, Form
from walras.engines.interior.point import Layout, Point
from walras.kernels.simplices import centres
from walras.types import Floats

_FIRST_GAP = 0.01  # relative gap at the start, for a guess at the optimum
_LBFGS_STEPS = 20  # as much work as a few factorisations
_LBFGS_PAIRS = 8  # past moves that are remembered
_CENTRED = 0.3  # largest relative error of slack times price of a row that is good enough
_LONGEST_STEP = 2.0  # in the logarithm of a price
_SUFFICIENT_DECREASE = 1e-4  # Armijo's share of the predicted decrease
_HALVINGS = 30  # of a step, down to rounding
_BISECTIONS = 200  # more than the bits of a number; it ends when neighbours are reached


def are_shares(form: Form) -> bool:
    """Whether every block shares out ``a x = b``, a > 0, b > 0, below one scalar's level.

    The scalar loosens every other row, so that for any shares some value of it meets them.
    """
    own, narrow = form.kind[: form.local_rows], form.border[form.local_rows :]
    return bool(
        form.slots == 1
        and len(form.e) == 1
        and np.all(own == EQUALITY)
        and np.all(form.local > 0)
        and np.all(form.b[: form.local_rows] > 0)
        and not np.any(form.border[: form.local_rows])
        and np.all(form.kind[form.local_rows :] == INEQUALITY)
        and np.all(narrow * form.e < 0)
        and not np.any(np.isfinite(form.u))
        and not np.any(form.h)
    )


@dataclass(frozen=True, eq=False)
class _Dual:
    """The dual barrier problem of the module, in v = log(w p) up to a constant.

    Attributes:
        form: The form.
        narrow: N, CSR, since products with long rows are quick.
        weight: (narrow rows,) w.
        bound: (narrow rows,) b.
        block_prices: (blocks,) the last prices of the blocks.
    """

    form: Form
    narrow: sp.csr_array
    weight: Floats
    bound: Floats
    block_prices: Floats

    @classmethod
    def of(cls, form: Form) -> _Dual:
        """The dual problem of a form for which :func:`are_shares` holds."""
        first = form.local_rows
        weight = -form.border[first:, 0] / form.e[0]
        return cls(form, form.narrow.tocsr(), weight, form.b[first:], np.full(form.blocks, -np.inf))

    def at(self, v: Floats, mu: float) -> tuple[Floats, Floats, Floats, Floats]:
        """Shares w p, reduced costs r, the blocks' prices and the columns."""
        share = np.exp(v - np.max(v))
        share /= np.sum(share)
        r = self.form.c + self.narrow.T @ (share / self.weight)
        price, x = block_centres(self.form, r, mu, self.block_prices)
        self.block_prices[:] = price
        return share, r, price, x

    def loss(self, v: Floats, mu: float) -> tuple[float, Floats]:
        """The negative dual value and its slope, ``w t p - (b - N x) p - mu``."""
        share, r, _, x = self.at(v, mu)
        load = self.narrow @ x - self.bound
        barrier = float(np.sum(np.log(share))) - float(np.sum(np.log(x)))
        value = float(r @ x) - float(self.bound @ (share / self.weight)) + mu * barrier
        pull = share * load / self.weight + mu
        return -value, share * np.sum(pull) - pull

    def scale(self) -> float:
        """A guess at the optimum: the mean of equal shares' cost and even prices' bound."""
        form, count = self.form, len(self.weight)
        width = np.diff(form.ptr)[form.block]
        x = form.b[form.block] / (form.local[0] * width)
        p = 1.0 / (count * self.weight)
        r = form.c + self.narrow.T @ p
        least = np.minimum.reduceat(r / form.local[0], form.ptr[:-1]) @ form.b[: form.blocks]
        most = np.max((self.narrow @ x - self.bound) / self.weight) + form.c @ x
        return float(np.sqrt(abs(most) * abs(least - self.bound @ p))) or 1.0


def shared_start(form: Form, layout: Layout) -> Point:
    """A feasible start with centred columns, at prices near those of the central path."""
    first, dual = form.local_rows, _Dual.of(form)
    mu = _FIRST_GAP * dual.scale() / layout.count
    v = _lowest(partial(dual.loss, mu=mu), np.zeros(len(dual.weight)), _CENTRED * mu)
    share, r, price, x = dual.at(v, mu)
    z = r + form.local[0] * price[form.block]
    s = dual.bound - dual.narrow @ x
    t = np.array([centred_scalar(float(form.e[0]), form.border[first:, 0], s, mu)])
    s = s - form.border[first:] @ t
    none, zero = np.zeros(0), np.zeros(first)
    prices = np.concatenate([price, share / dual.weight])
    return Point.of(x, z, none, none, np.concatenate([zero, s]), prices, t)


def _lowest(loss: Callable[[Floats], tuple[float, Floats]], v: Floats, enough: float) -> Floats:
    """A few steps of L-BFGS on a smooth loss, until no slope is above ``enough``."""
    value, slope = loss(v)
    pairs: list[tuple[Floats, Floats, float]] = []
    for _ in range(_LBFGS_STEPS):
        if np.max(np.abs(slope)) <= enough:
            break
        way = -_newton_like(pairs, slope)
        length, fall = min(1.0, _LONGEST_STEP / float(np.max(np.abs(way)))), float(slope @ way)
        for _ in range(_HALVINGS):
            lower, new = loss(v + length * way)
            if lower <= value + _SUFFICIENT_DECREASE * length * fall:
                break
            length *= 0.5
        else:
            break
        move, curvature = length * way, new - slope
        v, value, slope = v + move, lower, new
        if move @ curvature > 0:
            pairs = [*pairs[1 - _LBFGS_PAIRS :], (move, curvature, float(move @ curvature))]
    return v


def _newton_like(pairs: list[tuple[Floats, Floats, float]], slope: Floats) -> Floats:
    """The inverse Hessian from past moves and slope changes, times a slope (two-loop recursion)."""
    out = slope.copy()
    shares = []
    for move, curvature, product in reversed(pairs):
        shares.append(float(move @ out) / product)
        out -= shares[-1] * curvature
    if not pairs:
        return out / float(np.linalg.norm(out))
    _, curvature, product = pairs[-1]
    out *= product / float(curvature @ curvature)
    for (move, curvature, product), share in zip(pairs, reversed(shares), strict=True):
        out += (share - float(curvature @ out) / product) * move
    return out


def block_centres(
    form: Form, r: Floats, mu: float, near: Floats | None = None
) -> tuple[Floats, Floats]:
    """Prices (blocks,) and columns (n,) of :func:`walras.kernels.simplices.centres`.

    Args:
        form: A form with one local row a block.
        r: (n,) reduced costs without that row's price.
        mu: The barrier parameter.
        near: (blocks,) first prices.
    """
    own = slice(0, form.blocks)
    inside = form.kind[own] == INEQUALITY
    return centres(form.ptr, form.local[0], form.b[own], inside, r, mu, near=near)


def centred_scalar(cost: float, e: Floats, s: Floats, mu: float) -> float:
    """Root of ``cost + sum mu e/(s - e t) = 0`` on the interval where every s - e t > 0."""
    high = np.min(s[e > 0] / e[e > 0], initial=np.inf)
    low = np.max(s[e < 0] / e[e < 0], initial=-np.inf)
    if not low < high:
        return float(0.5 * (low + high))
    reach = mu * len(s) / max(abs(cost), 1e-300)
    low = high - 2.0 * reach - 1e-12 * abs(high) if not np.isfinite(low) else low
    high = low + 2.0 * reach + 1e-12 * abs(low) if not np.isfinite(high) else high
    for _ in range(_BISECTIONS):
        middle = 0.5 * (low + high)
        if middle in (low, high):
            break
        if cost + mu * np.sum(e / (s - e * middle)) > 0:
            high = middle
        else:
            low = middle
    return float(low if np.all(s - e * low > 0) else 0.5 * (low + high))
