"""Cuts of convex terms for integer programs: tangents, and secants over gaps in the activity.

Roots and logarithms have no tangent at y = 0. If only integer entries add up to y, then y is never
between zero and the least coefficient, and the secant over that interval is a cut that is exact at
both ends. Other such terms are cut at a floor, which falls as long as integer programs answer with
less. Squares of integer entries are cut by secants between neighbouring integers, which are tighter
than tangents.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from walras.diagnosis.positivity import least_positive
from walras.separable import utility
from walras.separable.form import Separable, Utility
from walras.types import Bools, Floats, Longs

# Tangents of utilities that are vertical at zero come nearer to zero in steps.
_NEAREST_FIRST = 1e-3  # least activity of the first tangents, as a share of the relaxed activity
_STEP_NEARER = 1e-3  # factor on the least activity from one step to the next
_STEEPEST = 1e7  # slope, in relaxed slopes, at which the steps end
_STEEPEST_MET = 1e12  # the same for tangents at activities that points have
_LEAST_ACTIVITY = 1e-15  # share of the relaxed activity below which no tangent is taken
_NEIGHBOURS = 3  # integers on either side of the relaxed value that get tangents
VERTICAL = (Utility.LOG, Utility.POWER, Utility.ENTROPY)  # their tangents at zero


@dataclass(frozen=True, eq=False)
class Terms:
    """The convex terms f(y) of a problem, y = matrix z over the columns z = (x, t).

    Attributes:
        matrix: (terms, columns).
        kind: (terms,) values of Utility.
        weight: (terms,).
        parameter: (terms,).
        whole: (terms,) column of the integer entry if y is a single one, or -1.
        least: (terms,) least activity above zero, as in :func:`.positivity.least_positive`.
    """

    matrix: sp.csr_array
    kind: npt.NDArray[np.int8]
    weight: Floats
    parameter: Floats
    whole: Longs
    least: Floats

    @property
    def vertical(self) -> Bools:
        """(terms,) True where the tangent at y = 0 is vertical."""
        return np.isin(self.kind, VERTICAL)

    @property
    def strict(self) -> Bools:
        """(terms,) True where f is infinite at y = 0."""
        return np.isinf(self.value(np.zeros(len(self.kind))))

    def value(self, y: Floats) -> Floats:
        """(terms,) values f(y)."""
        return utility.value(self.kind, self.weight, self.parameter, y)

    def slope(self, y: Floats) -> Floats:
        """(terms,) slopes f'(y)."""
        return utility.slope(self.kind, self.weight, self.parameter, y)

    @classmethod
    def of(cls, problem: Separable) -> Terms:
        """The terms of a problem: utility rows, then the quadratic costs of entries."""
        rows = problem.rows
        own = np.flatnonzero(rows.is_utility)
        bent = np.flatnonzero(problem.quadratic)
        columns = problem.entries + problem.scalars
        units = sp.csr_array(
            (np.ones(len(bent)), (np.arange(len(bent)), bent)), shape=(len(bent), columns)
        )
        utilities = sp.csr_array(
            sp.hstack([rows.matrix, sp.csc_array(rows.scalar_matrix)], format="csr")
        )[own]
        integer = problem.integer if problem.integer is not None else np.zeros(0, bool)
        return cls(
            sp.csr_array(sp.vstack([utilities, units])),
            np.concatenate([rows.utility[own], np.full(len(bent), Utility.QUADRATIC)]).astype(
                np.int8
            ),
            np.concatenate([rows.weight[own], problem.quadratic[bent]]),
            np.concatenate([rows.parameter[own], np.zeros(len(bent))]),
            np.concatenate([np.full(len(own), -1), np.where(integer[bent], bent, -1)]),
            np.concatenate([least_positive(problem)[own], np.zeros(len(bent))]),
        )


class Cuts:
    """A collection of rows ``u_k - slope y_k >= height``.

    Args:
        terms: The convex terms.
        relaxed: (terms,) their activities in the relaxation, where the first cuts are made.
    """

    def __init__(self, terms: Terms, relaxed: Floats) -> None:
        self._terms = terms
        self._lowest = _where_steep(terms, relaxed, _STEEPEST)
        self._least = _where_steep(terms, relaxed, _STEEPEST_MET)
        self._floor = np.maximum(_NEAREST_FIRST * np.abs(relaxed), self._lowest)
        self._term: list[Longs] = []
        self._slope: list[Floats] = []
        self._height: list[Floats] = []
        self._from_zero()
        self.at(relaxed)

    def at(self, y: Floats) -> bool:
        """Add tangents at y or near it, and secants to both sides for squares of integer entries.

        Returns whether a floor fell, so that the next tangents are closer.
        """
        terms, before = self._terms, self._floor
        y = self._inside(y)
        smooth = np.flatnonzero(terms.whole < 0)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):  # outside a domain
            slope = terms.slope(y)
            height = terms.value(y) - slope * y
        self._add(smooth, slope[smooth], height[smooth])
        whole = np.flatnonzero(terms.whole >= 0)
        half = terms.weight[whole] / 2
        for step in range(-_NEIGHBOURS, _NEIGHBOURS):
            # w/2 y^2 between the integers k and k + 1: slope w/2 (2k + 1).
            k = np.floor(y[whole]) + step
            rise = half * (2 * k + 1)
            self._add(whole, rise, half * k * k - rise * k)
        return bool(np.any(self._floor < before))

    def rows(self) -> tuple[sp.csr_array, Floats]:
        """The cuts over (z, u) and their right-hand sides."""
        term = np.concatenate(self._term)
        count, number = len(term), self._terms.matrix.shape[0]
        own = sp.csr_array((np.ones(count), (np.arange(count), term)), shape=(count, number))
        steep = sp.diags_array(-np.concatenate(self._slope)) @ self._terms.matrix[term]
        return sp.csr_array(sp.hstack([steep, own])), np.concatenate(self._height)

    def _from_zero(self) -> None:
        """Add secants from f(0) = 0 to the least positive activity, where f(0) is finite."""
        terms = self._terms
        some = np.flatnonzero((terms.least > 0) & ~terms.strict & (terms.kind != Utility.QUADRATIC))
        least = terms.least[some]
        with np.errstate(divide="ignore", invalid="ignore"):  # least is zero elsewhere
            slope = terms.value(terms.least)[some] / least
        self._add(some, slope, np.zeros(len(some)))

    def _inside(self, y: Floats) -> Floats:
        """Activities where tangents are not vertical; a floor falls if the activity is below it."""
        terms, floor = self._terms, self._floor
        self._floor = np.where(y < floor, np.maximum(_STEP_NEARER * floor, self._lowest), floor)
        floor = np.where(y >= self._least, np.minimum(y, floor), floor)
        floor = np.where(terms.least > 0, terms.least, np.where(terms.vertical, floor, 0.0))
        return np.where(terms.kind == Utility.QUADRATIC, y, np.maximum(y, floor))

    def _add(self, term: Longs, slope: Floats, height: Floats) -> None:
        sound = np.isfinite(slope) & np.isfinite(height)
        self._term.append(term[sound])
        self._slope.append(slope[sound])
        self._height.append(height[sound])


def _where_steep(terms: Terms, y: Floats, times: float) -> Floats:
    """Activities where slopes are ``times`` the slopes at y; for powers y times^(-1/a)."""
    power = terms.kind == Utility.POWER
    share = times ** (-1.0 / np.where(power, terms.parameter, 1.0))
    return np.asarray(np.maximum(share, _LEAST_ACTIVITY) * np.abs(y))
