"""The moving part of an interior-point solve: point, residuals, and a step in a direction."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np
import scipy.sparse as sp

from walras.engines.interior.form import EMPTY, EQUALITY, INEQUALITY, Form
from walras.engines.interior.options import DEFAULTS
from walras.separable import Utility, utility
from walras.types import Bools, Floats, Longs

_CORRECTORS_PAY_FROM = 30.0  # solves that an iteration without correctors must cost
_OPERATIONS_A_COLUMN = 100.0  # operations of such an iteration beside its factorisation
_CHEAP_SOLVE = 5e5  # operations of a solve that hardly counts
_STEEPER = 1e3  # factor by which a step may raise a utility's slope
# Relative dual residuals between these two are compared with their terms one by one, as the terms
# may cancel. Smaller ones are rounding; larger ones are certain.
_DOUBTFUL_RESIDUALS = (1e-9, 1e-3)


@dataclass(frozen=True, eq=False)
class Point:
    """Columns x and w = u - x with prices z and y; slacks s with prices p; scalars t.

    ``w`` and ``y`` belong to the columns with a finite upper bound, in order. Complementary
    coordinates have the same index, so that one pass treats columns and rows alike.

    Attributes:
        primal: (columns + bounded + rows,) x, w and s.
        dual: (columns + bounded + rows,) z, y and p.
        t: (scalars,).
        columns: Number of columns.
        rows: Number of rows.
    """

    primal: Floats
    dual: Floats
    t: Floats
    columns: int
    rows: int

    @classmethod
    def of(
        cls, x: Floats, z: Floats, w: Floats, y: Floats, s: Floats, p: Floats, t: Floats
    ) -> Self:
        """The point with these coordinates, which are copied."""
        return cls(np.concatenate([x, w, s]), np.concatenate([z, y, p]), t, len(x), len(s))

    @property
    def x(self) -> Floats:
        """(columns,)."""
        return self.primal[: self.columns]

    @property
    def w(self) -> Floats:
        """(bounded,)."""
        return self.primal[self.columns : len(self.primal) - self.rows]

    @property
    def s(self) -> Floats:
        """(rows,)."""
        return self.primal[len(self.primal) - self.rows :]

    @property
    def z(self) -> Floats:
        """(columns,)."""
        return self.dual[: self.columns]

    @property
    def y(self) -> Floats:
        """(bounded,)."""
        return self.dual[self.columns : len(self.dual) - self.rows]

    @property
    def p(self) -> Floats:
        """(rows,)."""
        return self.dual[len(self.dual) - self.rows :]

    def plus(self, step: Step, primal: float, dual: float) -> Self:
        """This point plus shares of a step's primal and dual coordinates."""
        return replace(
            self,
            primal=self.primal + primal * step.primal,
            dual=self.dual + dual * step.dual,
            t=self.t + primal * step.t,
        )


@dataclass(frozen=True, eq=False)
class Step(Point):
    """A direction in the same coordinates as a point."""


@dataclass(frozen=True, eq=False)
class Layout:
    """The roles of rows and columns, computed once from a form.

    Attributes:
        bounded: columns with a finite upper bound.
        pairs: rows whose slack times price goes to the barrier parameter.
        slack_positive: (rows,) whether a row's slack must stay positive.
        price_positive: (rows,) whether its price must.
        decrease_factor: (rows,) factor on a slack's relative decrease, :func:`_decrease_factors`.
        fixed: utility rows.
        magnitude: |A|, for the scale of a row; A itself where it is not negative.
        largest: (rows,) largest coefficient of each row.
        count: number of complementary pairs.
        correctors: centrality correctors an iteration at most; see :func:`_correctors_pay`.
    """

    bounded: Longs
    pairs: Longs
    slack_positive: Bools
    price_positive: Bools
    decrease_factor: Floats
    fixed: Longs
    magnitude: sp.csr_array
    largest: Floats
    count: int
    correctors: int

    @classmethod
    def of(cls, form: Form, correctors: int = DEFAULTS.correctors) -> Layout:
        """The layout of a form.

        Args:
            form: The form.
            correctors: Centrality correctors an iteration at most, where they pay.
        """
        kind = form.kind
        magnitude = abs(form.matrix) if np.any(form.matrix.data < 0) else form.matrix
        concave = np.isin(kind, (Utility.LOG, Utility.POWER))
        pairs = np.flatnonzero(kind == INEQUALITY)
        bounded = np.flatnonzero(np.isfinite(form.u))
        domain = np.isin(kind, (Utility.CONVEX_POWER, Utility.ENTROPY))
        return cls(
            bounded=bounded,
            pairs=pairs,
            slack_positive=(kind == INEQUALITY) | concave | domain,
            price_positive=(kind == INEQUALITY) | concave,
            decrease_factor=_decrease_factors(form),
            fixed=np.flatnonzero(kind > Utility.NONE),
            magnitude=magnitude,
            largest=_largest(magnitude),
            count=max(len(form.c) + len(bounded) + len(pairs), 1),
            correctors=correctors if _correctors_pay(form) else 0,
        )


def _decrease_factors(form: Form) -> Floats:
    """(rows,) 1, and more where a utility bends too much for its activity to fall to zero.

    An activity that falls to a share r of itself raises the slope of -w y^(1-a)/(1-a) by r^-a. The
    linear model of the row does not show this, so r is at least ``_STEEPER^(-1/a)``.
    """
    power = form.kind == Utility.POWER
    least = _STEEPER ** (-1.0 / np.where(power, form.parameter, 1.0))
    return np.where(power, 1.0 / (1.0 - least), 1.0)


def _correctors_pay(form: Form) -> bool:
    """Whether correctors pay, since an iteration costs many solves (Gondzio 1996, section 5)."""
    m, per_block = form.narrow.shape[0], np.diff(form.narrow.indptr[form.ptr])
    factor = float(np.sum(per_block.astype(np.float64) ** 2)) + m**3 / 3
    iteration = factor + _OPERATIONS_A_COLUMN * len(form.c)
    solve = 4.0 * form.narrow.nnz + 2.0 * m**2
    return bool(iteration > _CORRECTORS_PAY_FROM * solve or solve < _CHEAP_SOLVE)


def _largest(magnitude: sp.csr_array) -> Floats:
    if not magnitude.nnz:
        return np.zeros(magnitude.shape[0])
    return np.asarray(magnitude.max(axis=1).toarray().ravel())


@dataclass(frozen=True, eq=False)
class Residuals:
    """The distance of a point from optimality.

    Attributes:
        dual: (n,) c + h x + A'p - z + y.
        primal: (rows,) b - A x - E t - s.
        border: (scalars,) e + H t + E'p.
        scale: (rows,) size of the terms of each row.
        mu: mean complementary product.
        value: minimised objective at the point.
        terms: size of the terms of the value, where the gap is relative to it.
        gap: complementary products plus Fenchel gaps of the utilities.
        primal_error: largest primal residual relative to its row.
        dual_error: largest dual residual relative to its column.
    """

    dual: Floats
    primal: Floats
    border: Floats
    scale: Floats
    mu: float
    value: float
    terms: float
    gap: float
    primal_error: float
    dual_error: float


def residuals(form: Form, layout: Layout, point: Point) -> Residuals:
    """Residuals, barrier parameter and gap of a point."""
    prices = form.transposed @ point.p
    smooth = form.c + form.h * point.x
    dual = smooth + prices - point.z
    dual[layout.bounded] += point.y
    load = form.matrix @ point.x
    primal = form.b - load - form.border @ point.t - point.s
    primal[form.kind == EMPTY] = 0.0
    border = form.e + form.border_h * point.t + form.border.T @ point.p
    gap = products(layout, point)
    value, fenchel = _utilities(form, layout, point)
    value += form.constant + float(
        form.c @ point.x
        + 0.5 * form.h @ (point.x * point.x)
        + form.e @ point.t
        + 0.5 * form.border_h @ (point.t * point.t)
    )
    size = row_scale(form, layout, point, load)
    return Residuals(
        dual=dual,
        primal=primal,
        border=border,
        scale=size,
        mu=gap / layout.count,
        value=value,
        terms=_terms(form, layout, point) if form.problem.gap_scale is None else 0.0,
        gap=gap + fenchel,
        primal_error=float(np.max(np.abs(primal) / size, initial=0.0)),
        dual_error=_dual_error(form, dual, prices, border, point),
    )


def _terms(form: Form, layout: Layout, point: Point) -> float:
    """Size of the objective's terms before they cancel, as the certificate counts them."""
    total = float(
        np.abs(form.c) @ point.x
        + form.h @ (point.x * point.x)
        + np.abs(form.e) @ np.abs(point.t)
        + abs(form.constant)
    )
    rows = layout.fixed
    if len(rows):
        own = form.kind[rows], form.weight[rows], form.parameter[rows], point.s[rows]
        total += float(np.sum(utility.terms(*own)))
    return total


def row_scale(form: Form, layout: Layout, point: Point, load: Floats) -> Floats:
    """(rows,) size of a row's terms, |A| x + |E| |t| + |b| + |s|.

    If all terms vanish, it is the row's largest coefficient times a typical entry.
    """
    magnitude = load if layout.magnitude is form.matrix else layout.magnitude @ point.x
    terms = magnitude + np.abs(form.border) @ np.abs(point.t)
    least = layout.largest * float(np.sum(point.x) / max(len(point.x), 1))
    return np.asarray(terms + np.abs(form.b) + np.abs(point.s) + least + 1e-300)


def _dual_error(form: Form, dual: Floats, prices: Floats, border: Floats, point: Point) -> float:
    """Largest dual residual, relative to its column.

    The sizes of a column's terms are added up only where this is needed to tell a residual from
    rounding.
    """
    scale = 1.0 + np.max(np.abs(form.c), initial=0.0)
    columns = np.abs(dual) / (scale + np.abs(prices) + np.abs(point.z))
    rounding, large = _DOUBTFUL_RESIDUALS
    if rounding < np.max(columns, initial=0.0) <= large:
        some = np.flatnonzero(columns > rounding)
        terms = abs(form.transposed[some]) @ np.abs(point.p)
        columns[some] = np.abs(dual[some]) / (scale + terms + np.abs(point.z[some]))
    magnitude = np.abs(form.e) + np.abs(form.border).T @ np.abs(point.p)
    scalars = np.max(np.abs(border) / (magnitude + 1e-300), initial=0.0)
    return float(max(np.max(columns, initial=0.0), scalars))


def _utilities(form: Form, layout: Layout, point: Point) -> tuple[float, float]:
    """Value of the utilities and their Fenchel gaps f(s) + f*(-p) + s p >= 0."""
    rows = layout.fixed
    if not len(rows):
        return 0.0, 0.0
    args = form.kind[rows], form.weight[rows], form.parameter[rows]
    s, p = point.s[rows], point.p[rows]
    value = utility.value(*args, s)
    gaps = value + utility.conjugate(*args, -p) + s * p
    return float(np.sum(value)), float(np.sum(np.maximum(gaps, 0.0)))


@dataclass(frozen=True, eq=False)
class RowModel:
    """The linear model ds = rho - theta dp of every row at a point.

    ``rho`` is the model's constant for a barrier target of zero and no second-order term. The
    target and the term of an inequality enter divided by p; those of a utility enter as ``second``.
    """

    theta: Floats
    rho: Floats
    target: Floats


def row_model(form: Form, point: Point) -> RowModel:
    """The linear model of slack against price on every row.

    Inequality: ``s p = target``. Log utility: ``s p = w``. Power: ``s p^(1/a) = w^(1/a)``. Other
    utilities: ``p = -f'(s)``. Equality: ``s = 0``.
    """
    pair, s, p = form.kind == INEQUALITY, point.s, point.p
    price = np.where(pair, p, 1.0)
    model = RowModel(np.where(pair, s / price, 1.0), np.where(pair, -s, 0.0), pair / price)
    model.theta[form.kind == EQUALITY] = 0.0
    if np.any(form.kind > Utility.NONE):
        _model_utilities(form, point, model)
    return model


def _model_utilities(form: Form, point: Point, model: RowModel) -> None:
    """Write the models of the utilities' rows into ``model``."""
    kind, s, p, theta, rho = form.kind, point.s, point.p, model.theta, model.rho
    log = kind == Utility.LOG
    theta[log], rho[log] = s[log] / p[log], form.weight[log] / p[log] - s[log]
    power = kind == Utility.POWER
    a = form.parameter[power]
    theta[power] = s[power] / (a * p[power])
    rho[power] = (form.weight[power] / p[power]) ** (1 / a) - s[power]
    other = (kind > Utility.NONE) & ~log & ~power
    args = kind[other], form.weight[other], form.parameter[other], s[other]
    curvature = utility.curvature(*args)
    theta[other] = 1.0 / curvature
    rho[other] = -(p[other] + utility.slope(*args)) / curvature


def products(layout: Layout, point: Point) -> float:
    """Sum of the complementary products."""
    own = len(point.primal) - point.rows
    columns = float(point.primal[:own] @ point.dual[:own])
    return columns + float(point.s[layout.pairs] @ point.p[layout.pairs])
