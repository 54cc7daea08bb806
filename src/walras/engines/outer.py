"""Integer entries under convex utilities: outer approximation (Duran and Grossmann 1986).

A mixed-integer program bounds every convex term f(y) from below by cuts; its answer fixes the
integers, a conic solve finds the best point for these, and tangents at both points become cuts.
The integer program's bound rises to the best point's value: at the point of a fixed choice of
integers the tangents are exact, so no choice comes back unless it is optimal. Squares of integer
entries are cut by secants between neighbouring integers, which are tighter than tangents.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from walras.certificate import violation
from walras.engines.conic import solve_conic
from walras.engines.diary import Diary
from walras.engines.highs import LinearProgram, solve_program
from walras.engines.iterate import Iterate
from walras.engines.settings import Settings
from walras.history import Progress, Timings
from walras.separable import utility
from walras.separable.form import Separable, Utility
from walras.status import Status

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

# Tangents of a logarithm are taken no closer to zero than this share of its relaxed activity.
_NEAREST = 1e-3
_NEIGHBOURS = 3
_ALMOST = 1e-9  # this far from a whole number, or from what a row allows, is there


@dataclass(frozen=True, eq=False)
class _Terms:
    """The convex terms f(y) of a problem, y = matrix z over the columns z = (x, t).

    Attributes:
        matrix: (terms, columns).
        kind: (terms,) values of Utility.
        weight: (terms,).
        parameter: (terms,).
        whole: (terms,) column of the integer entry that y is, or -1.
    """

    matrix: sp.csr_array
    kind: npt.NDArray[np.int8]
    weight: Floats
    parameter: Floats
    whole: Ints

    def value(self, y: Floats) -> Floats:
        """f(y) a term."""
        return utility.value(self.kind, self.weight, self.parameter, y)

    def slope(self, y: Floats) -> Floats:
        """f'(y) a term."""
        return utility.slope(self.kind, self.weight, self.parameter, y)

    @classmethod
    def of(cls, problem: Separable) -> _Terms:
        """Utility rows, then the quadratic costs of entries."""
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
        )


class _Cuts:
    """Rows ``u_k - slope y_k >= height``, collected."""

    def __init__(self, terms: _Terms) -> None:
        self._terms = terms
        self._term: list[Ints] = []
        self._slope: list[Floats] = []
        self._height: list[Floats] = []

    def at(self, y: Floats) -> None:
        """Tangents at y; secants to both sides for squares of integer entries."""
        terms = self._terms
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

    def rows(self) -> tuple[sp.csr_array, Floats]:
        """The cuts over (z, u) and their right-hand sides."""
        term = np.concatenate(self._term)
        count, number = len(term), self._terms.matrix.shape[0]
        own = sp.csr_array((np.ones(count), (np.arange(count), term)), shape=(count, number))
        steep = sp.diags_array(-np.concatenate(self._slope)) @ self._terms.matrix[term]
        return sp.csr_array(sp.hstack([steep, own])), np.concatenate(self._height)

    def _add(self, term: Ints, slope: Floats, height: Floats) -> None:
        sound = np.isfinite(slope) & np.isfinite(height)
        self._term.append(term[sound])
        self._slope.append(slope[sound])
        self._height.append(height[sound])


def solve_by_cuts(problem: Separable, settings: Settings) -> Iterate:
    """Solve a problem with integer entries and convex utilities.

    Args:
        problem: The problem.
        settings: ``tolerance`` is the relative gap at which to stop; ``max_iterations`` counts
            integer programs.

    Returns:
        The best point, the bound that the integer programs proved, and the prices of the
        continuous relaxation.
    """
    diary = Diary(settings)
    quiet = replace(settings, callback=None, verbose=False)
    relaxed = solve_conic(replace(problem, integer=None), quiet)
    if not relaxed.status.has_allocation:
        return relaxed
    search = _Search(problem, relaxed, settings, diary)
    stopped = relaxed.status in (Status.LIMIT, Status.INTERRUPTED)
    status = relaxed.status if stopped else search.run()
    return Iterate(
        x=search.best[: problem.entries],
        t=search.best[problem.entries :],
        prices=relaxed.prices,
        status=status,
        history=diary.history,
        timings=Timings(iterate=diary.elapsed),
        message=f"outer approximation, {diary.steps} integer programs",
        bound=search.bound + problem.constant,
    )


class _Search:
    """The loop: integer program, conic solve with the integers fixed, cuts."""

    def __init__(
        self, problem: Separable, relaxed: Iterate, settings: Settings, diary: Diary
    ) -> None:
        self.problem, self.settings, self.diary = problem, settings, diary
        self.terms = _Terms.of(problem)
        self.cost = np.concatenate([problem.cost, problem.scalar_cost])
        z = np.concatenate([relaxed.x, relaxed.t])
        self.best, self.best_value, self.bound = z, np.inf, -np.inf
        self._begin(z)
        self._floor = _NEAREST * np.abs(self._activity(z))
        self._cuts = _Cuts(self.terms)
        self._cuts.at(self._activity(z))

    def run(self) -> Status:
        """Iterate until the gap closes or a limit is reached."""
        for _ in range(self.settings.max_iterations):
            answer = solve_program(self._master(), self._limits())
            if answer.x is None or answer.status is Status.INFEASIBLE:
                return answer.status
            z = answer.x[: len(self.cost)]
            self.bound = max(self.bound, answer.bound)
            self._try(z)
            self._cuts.at(self._inside(self._activity(z)))
            self._try_fixed(z)
            is_over = self.diary.record(self._step())
            if self._gap() <= self.settings.tolerance:
                return Status.OPTIMAL
            if is_over:
                return self.diary.outcome or Status.LIMIT
        return Status.LIMIT

    def _master(self) -> LinearProgram:
        problem, rows = self.problem, self.problem.rows
        terms = self.terms.matrix.shape[0]
        cuts, height = self._cuts.rows()
        plain = sp.csr_array(sp.hstack([rows.matrix, sp.csc_array(rows.scalar_matrix)]))
        padded = sp.hstack([plain, sp.csr_array((rows.count, terms))])
        domain = rows.is_utility & (rows.utility != Utility.QUADRATIC)
        whole = np.zeros(len(self.cost) + terms, bool)
        if problem.integer is not None:
            whole[: problem.entries] = problem.integer
        free = np.full(terms, np.inf)
        return LinearProgram(
            cost=np.concatenate([self.cost, np.ones(terms)]),
            lower=np.concatenate([problem.lower, problem.scalar_lower, -free]),
            upper=np.concatenate([problem.upper, problem.scalar_upper, free]),
            matrix=sp.csc_array(sp.vstack([padded, cuts])),
            row_lower=np.concatenate([np.where(domain, 0.0, rows.lower), height]),
            row_upper=np.concatenate([rows.upper, np.full(len(height), np.inf)]),
            integer=whole,
        )

    def _begin(self, z: Floats) -> None:
        """Of the roundings of z that the rows allow the best, for a search that is cut short."""
        problem, n = self.problem, self.problem.entries
        whole = problem.integer if problem.integer is not None else np.zeros(0, bool)
        nothing = np.clip(0.0, problem.lower, problem.upper)
        for x in (np.floor(z[:n] + _ALMOST), np.round(z[:n]), nothing):
            rounded = np.concatenate([np.where(whole, x, z[:n]), z[n:]])
            if violation(problem, rounded[:n], rounded[n:]) <= _ALMOST:
                self.best = rounded if self.best_value == np.inf else self.best
                self._try(rounded)

    def _try(self, z: Floats) -> None:
        """Keep a point if it is the best so far."""
        value = float(self.cost @ z + np.sum(self.terms.value(self._activity(z))))
        if value < self.best_value:
            self.best, self.best_value = z, value

    def _try_fixed(self, z: Floats) -> None:
        """Best point for the integers of z."""
        problem = self.problem
        whole = problem.integer if problem.integer is not None else np.zeros(0, bool)
        x = np.round(z[: problem.entries])
        fixed = replace(
            problem,
            integer=None,
            lower=np.where(whole, x, problem.lower),
            upper=np.where(whole, x, problem.upper),
        )
        found = solve_conic(fixed, self._limits())
        if found.status is not Status.OPTIMAL:
            return
        point = np.concatenate([np.where(whole, x, found.x), found.t])
        self._try(point)
        self._cuts.at(self._inside(self._activity(point)))

    def _activity(self, z: Floats) -> Floats:
        return np.asarray(self.terms.matrix @ z, dtype=np.float64)

    def _inside(self, y: Floats) -> Floats:
        """Activities moved off the edge of their domain, where tangents are vertical."""
        return np.where(self.terms.kind == Utility.QUADRATIC, y, np.maximum(y, self._floor))

    def _gap(self) -> float:
        return (self.best_value - self.bound) / max(abs(self.best_value), abs(self.bound), 1e-12)

    def _limits(self) -> Settings:
        """Settings of one part of the search: silent, within the time that is left."""
        left = None
        if self.settings.time_limit is not None:
            left = max(self.diary.deadline - time.perf_counter(), 0.0)
        return replace(self.settings, callback=None, verbose=False, time_limit=left)

    def _step(self) -> Progress:
        reported, constant = self.problem.reported, self.problem.constant
        return Progress(
            self.diary.steps,
            self.diary.elapsed,
            reported(self.best_value + constant),
            reported(self.bound + constant),
            max(self._gap(), 0.0),
            np.nan,
            np.nan,
        )
