"""The convex costs a row may carry: values, derivatives, conjugates.

Every function takes parallel arrays (kind, weight w, parameter a, argument) and works row by row;
formulas are those of :class:`walras.separable.rows.Utility`.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from walras.separable.form import Utility
from walras.types import Floats

Kinds = npt.NDArray[np.int8]
_Rule = Callable[[Floats, Floats, Floats], Floats]


def _apply(
    rules: dict[Utility, _Rule], kind: Kinds, weight: Floats, parameter: Floats, at: Floats
) -> Floats:
    kinds = np.unique(kind)
    out = np.zeros(len(at))
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        if len(kinds) == 1 and kinds[0] in rules:
            return np.asarray(rules[Utility(kinds[0])](weight, parameter, at), dtype=np.float64)
        for utility in kinds:
            if utility in rules:
                rows = kind == utility
                out[rows] = rules[Utility(utility)](weight[rows], parameter[rows], at[rows])
    return out


def _xlogx(w: Floats, a: Floats, y: Floats) -> Floats:
    return np.where(y > 0, w * y * np.log(np.where(y > 0, y, 1.0)), np.where(y < 0, np.inf, 0.0))


_VALUE: dict[Utility, _Rule] = {
    Utility.LOG: lambda w, a, y: np.where(y > 0, -w * np.log(np.where(y > 0, y, 1.0)), np.inf),
    Utility.POWER: lambda w, a, y: np.where(
        y > 0,
        -w * np.where(y > 0, y, 1.0) ** (1 - a) / (1 - a),
        np.where((y == 0) & (a < 1), 0.0, np.inf),
    ),
    Utility.QUADRATIC: lambda w, a, y: w / 2 * (y - a) ** 2,
    Utility.CONVEX_POWER: lambda w, a, y: np.where(y >= 0, w * np.maximum(y, 0) ** a, np.inf),
    Utility.ENTROPY: _xlogx,
}
_SLOPE: dict[Utility, _Rule] = {
    Utility.LOG: lambda w, a, y: -w / y,
    Utility.POWER: lambda w, a, y: -w * y**-a,
    Utility.QUADRATIC: lambda w, a, y: w * (y - a),
    Utility.CONVEX_POWER: lambda w, a, y: w * a * np.maximum(y, 0) ** (a - 1),
    Utility.ENTROPY: lambda w, a, y: w * (np.log(y) + 1),
}
_CURVATURE: dict[Utility, _Rule] = {
    Utility.LOG: lambda w, a, y: w / y**2,
    Utility.POWER: lambda w, a, y: w * a * y ** (-a - 1),
    Utility.QUADRATIC: lambda w, a, y: w,
    Utility.CONVEX_POWER: lambda w, a, y: w * a * (a - 1) * y ** (a - 2),
    Utility.ENTROPY: lambda w, a, y: w / y,
}
_THIRD: dict[Utility, _Rule] = {
    Utility.LOG: lambda w, a, y: -2 * w / y**3,
    Utility.POWER: lambda w, a, y: -w * a * (a + 1) * y ** (-a - 2),
    Utility.QUADRATIC: lambda w, a, y: np.zeros_like(y),
    Utility.CONVEX_POWER: lambda w, a, y: w * a * (a - 1) * (a - 2) * y ** (a - 3),
    Utility.ENTROPY: lambda w, a, y: -w / y**2,
}
# y f'(y), by its limit at y = 0: powers below one and y log y win against any infinite slope.
_MARGIN: dict[Utility, _Rule] = {
    Utility.LOG: lambda w, a, y: -w,
    Utility.POWER: lambda w, a, y: -w * y ** (1 - a),
    Utility.QUADRATIC: lambda w, a, y: w * (y - a) * y,
    Utility.CONVEX_POWER: lambda w, a, y: w * a * np.maximum(y, 0) ** a,
    Utility.ENTROPY: lambda w, a, y: w * y * (np.log(np.where(y > 0, y, 1.0)) + 1),
}
# The maximiser of price*y - f(y), from f'(y) = price.
_DEMAND: dict[Utility, _Rule] = {
    Utility.LOG: lambda w, a, r: np.where(r < 0, -w / r, np.inf),
    Utility.POWER: lambda w, a, r: np.where(r < 0, (-w / r) ** (1 / a), np.inf),
    Utility.QUADRATIC: lambda w, a, r: a + r / w,
    Utility.CONVEX_POWER: lambda w, a, r: (np.maximum(r, 0) / (w * a)) ** (1 / (a - 1)),
    Utility.ENTROPY: lambda w, a, r: np.exp(r / w - 1),
}


def value(kind: Kinds, weight: Floats, parameter: Floats, activity: Floats) -> Floats:
    """f(y) a row; ``inf`` outside the domain, 0 on constraint rows."""
    return _apply(_VALUE, kind, weight, parameter, activity)


def slope(kind: Kinds, weight: Floats, parameter: Floats, activity: Floats) -> Floats:
    """f'(y) a row."""
    return _apply(_SLOPE, kind, weight, parameter, activity)


def margin(kind: Kinds, weight: Floats, parameter: Floats, activity: Floats) -> Floats:
    """y f'(y) a row: what the activity is worth at the margin; at y = 0 the limit."""
    return _apply(_MARGIN, kind, weight, parameter, activity)


def curvature(kind: Kinds, weight: Floats, parameter: Floats, activity: Floats) -> Floats:
    """f''(y) a row."""
    return _apply(_CURVATURE, kind, weight, parameter, activity)


def third(kind: Kinds, weight: Floats, parameter: Floats, activity: Floats) -> Floats:
    """The third derivative of f a row."""
    return _apply(_THIRD, kind, weight, parameter, activity)


def wanted(kind: Kinds, weight: Floats, parameter: Floats, price: Floats) -> Floats:
    """The activity y that maximises ``price*y - f(y)``; ``inf`` when there is none."""
    return _apply(_DEMAND, kind, weight, parameter, price)


def conjugate(kind: Kinds, weight: Floats, parameter: Floats, price: Floats) -> Floats:
    """f*(price) = sup_y price*y - f(y) a row; ``inf`` where it is not finite."""
    y = wanted(kind, weight, parameter, price)
    with np.errstate(invalid="ignore", over="ignore"):
        out = price * y - value(kind, weight, parameter, y)
    # A power utility with a > 1 is bounded: its conjugate at price 0 is 0, reached at infinity.
    bounded = (kind == Utility.POWER) & (parameter > 1) & (price == 0)
    return np.where(bounded, 0.0, np.where(np.isfinite(out), out, np.inf))


def terms(kind: Kinds, weight: Floats, parameter: Floats, activity: Floats) -> Floats:
    """Size of the terms of f(y) before they cancel: of ``(y - a)^2`` those are y^2 and a^2."""
    cost = np.abs(value(kind, weight, parameter, activity))
    square = 0.5 * weight * (activity * activity + parameter * parameter)
    out = np.where(kind == Utility.QUADRATIC, square, cost)
    return np.where(np.isfinite(out), out, 0.0)
