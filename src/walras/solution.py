"""The solution of an allocation problem: the allocation, its prices and its proof."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

import numpy as np
import pandas as pd

from walras import checks
from walras.certificate import Certificate
from walras.checks import read_only
from walras.errors import InputError
from walras.explain import Difference, Explanation, difference, resource_prices
from walras.explain import explain as explained
from walras.explain import worth as marginal_values
from walras.explain.why import demand_index
from walras.leximin.levels import Level
from walras.progress import History, Timings
from walras.saving import save
from walras.separable import Separable, Side, leximin_of
from walras.status import Status
from walras.types import Floats


@dataclass(frozen=True, eq=False)
class Prices:
    """The prices of the constraints; ``prices["capacity"]`` gives those of one family.

    A row's price is >= 0 at its upper bound, <= 0 at its lower one, and 0 if neither binds. Its
    unit is the objective's unit over the row's unit. Relaxing the bound by one unit improves the
    objective by the price's absolute value, as long as the price holds.

    Under curved utilities the gap grows with the square of a price's distance from the optimal one,
    so prices are known to about the root of the gap: to 1e-3 at the default tolerance of 1e-6, to
    1e-5 at 1e-10, relative to the largest price.

    Attributes:
        problem: The problem the rows belong to.
        rows: (rows,) one price a row.
        scalars: (scalars,) the shared scalars at the solution.

    Example:
        >>> import walras as wl
        >>> from walras.domains import cluster_scheduling as cs
        >>> s = wl.solve(cs.max_min([[2.0, 1.0]], [1, 1], [1.0]))
        >>> s.prices["capacity"].round(3)  # least throughput for one more GPU
        array([0.667])
    """

    problem: Separable
    rows: Floats
    scalars: Floats

    def __getitem__(self, family: str) -> Floats:
        """Prices of the rows of one family, in order.

        Raises:
            InputError: There is no such family.
        """
        for found in self.problem.rows.families:
            if found.name == family:
                return self.rows[found.start : found.stop]
        names = ", ".join(f.name for f in self.problem.rows.families)
        raise InputError(
            f"there are no rows named {family!r}",
            where="prices",
            allowed=names,
            remedy="use one of these names",
        )

    def __repr__(self) -> str:
        families = ", ".join(f"{f.name} {f.stop - f.start}" for f in self.problem.rows.families)
        return f"Prices({len(self.rows)} rows: {families:.60})"

    @property
    def resources(self) -> Floats:
        """(resources,) price of one more of each resource, over all its own constraint rows.

        Where a row reads ``load <= amount t`` with a shared scalar t, as of the links under least
        utilisation, one more of the amount raises the row's bound by t.
        """
        return resource_prices(self.problem, self.rows, self.scalars)

    @property
    def demands(self) -> Floats:
        """(demands,) total price of each demand's own constraint rows.

        Rows with a shared scalar, such as ``t <= throughput``, limit no amount of the demand's.
        """
        rows = self.problem.rows
        own = (rows.side == Side.DEMAND) & ~rows.is_utility & (rows.owner >= 0)
        own &= ~np.any(rows.scalar_matrix, axis=1)
        count = len(self.problem.demand_names)
        total = np.bincount(rows.owner[own], weights=self.rows[own], minlength=count)
        return total.astype(np.float64)


@dataclass(frozen=True, eq=False)
class Solution:
    """An allocation with its prices and a proof of its quality; immutable.

    Its arrays are read-only; ``solution.x.copy()`` gives one to change. Values are in the user's
    sense: for a maximisation, ``value <= optimum <= bound``.

    Attributes:
        problem: The problem that was solved.
        certificate: The proof; recomputed from the problem's data, not taken from the engine.
        status: ``optimal`` only if the certificate shows it.
        engine: Name of the engine that found it.
        tolerance: The relative gap that was asked for.
        history: The engine's steps.
        timings: Seconds per stage.
        message: The engine's own words, if any.
        levels: Of a leximin problem, or of max-min with ``spend="leximin"``, the proved levels.

    Example:
        >>> import walras as wl
        >>> from walras.domains import cluster_scheduling as cs
        >>> problem = cs.max_min([[2.0, 1.0], [1.0, 2.0]], [1, 1], [1, 1])
        >>> s = wl.solve(problem)
        >>> round(s.value, 6), s.status, s.gap <= 1e-6
        (2.0, <Status.OPTIMAL: 'optimal'>, True)
        >>> s.allocation.round(2)
             0    1
        0  1.0  0.0
        1  0.0  1.0
    """

    problem: Separable
    certificate: Certificate
    status: Status
    engine: str
    tolerance: float
    history: History = field(default_factory=History)
    timings: Timings = field(default_factory=Timings)
    message: str = ""
    levels: tuple[Level, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "certificate", self.certificate.as_read_only())

    @property
    def value(self) -> float:
        """The objective at the allocation; NaN where the status says that there is none."""
        if not self.status.has_allocation:
            return np.nan
        return self.problem.reported(self.certificate.value)

    @property
    def bound(self) -> float:
        """What no feasible allocation can beat."""
        return self.problem.reported(self.certificate.bound)

    @property
    def bound_source(self) -> str:
        """Who vouches for the bound: ``prices`` where it was recomputed from them, else a solver.

        ``HiGHS`` and ``Clarabel`` where their own word is all there is; ``branch and bound`` is
        the search of engine ``integer``.
        """
        return self.certificate.bound_source

    @property
    def gap(self) -> float:
        """Relative gap of value and bound; of a leximin problem, the largest of its levels'."""
        return max([self.certificate.gap, *(level.gap for level in self.levels)])

    @property
    def gap_unit(self) -> str:
        """What the gap is relative to, in words, such as ``of the value`` or ``nat a job``.

        ``of a thousandth of the objective's terms`` where they cancel, ``of the most that one entry
        can bring`` where nothing is worth doing; of a leximin problem ``of the level`` where a
        later one has the largest gap.
        """
        later = max((level.gap for level in self.levels), default=0.0)
        return "of the level" if later > self.certificate.gap else self.certificate.gap_unit

    @cached_property
    def allocation(self) -> pd.DataFrame:
        """(resources, demands) the allocation, with the names of both.

        Where no entry has a resource of its own, as flows on paths have none, it is what of each
        demand runs through each resource: the entries that its rows count.
        """
        problem = self.problem
        amounts = problem.dense(self.entries)
        if not problem.has_owned:
            amounts = _through(problem, self.entries)
        resources = list(map(str, problem.resource_names))
        return pd.DataFrame(amounts, resources, list(map(str, problem.demand_names)))

    @cached_property
    def x(self) -> Floats:
        """(resources, demands) the allocation, dense, without names.

        (entries,) where no entry has a resource of its own, as flows on paths have none: the shape
        of :attr:`allocation` and of :attr:`entries` is always the same.
        """
        if not self.problem.has_owned:
            return self.entries
        return read_only(self.problem.dense(self.certificate.x))

    @property
    def entries(self) -> Floats:
        """(entries,) the allocation as the problem's entries."""
        return self.certificate.x

    @property
    def scalars(self) -> Floats:
        """(scalars,) the shared scalars, such as the max-min level."""
        return self.certificate.t

    @property
    def prices(self) -> Prices:
        """Prices of all rows."""
        return Prices(self.problem, self.certificate.prices, self.scalars)

    def frame(self) -> pd.DataFrame:
        """The allocation with the names of resources (rows) and demands (columns).

        One row an entry where no entry has a resource of its own.
        """
        if self.x.ndim == 1:
            names = [self.problem.entry_name(q) for q in range(self.problem.entries)]
            return pd.DataFrame({"amount": self.x.copy()}, index=names)
        return pd.DataFrame(
            self.x.copy(),
            index=list(self.problem.resource_names),
            columns=list(self.problem.demand_names),
        )

    def save(self, path: str | Path) -> None:
        """Write the solution with its problem to one file, which :func:`walras.load` reads.

        Args:
            path: The file, such as ``solution.npz``.

        Raises:
            DataError: The file cannot be written.
        """
        save(self, path)

    def to_mps(self, path: str | Path) -> None:
        """Write the problem that was solved as an MPS file; see :meth:`Separable.to_mps`.

        Args:
            path: The file, such as ``problem.mps``.
        """
        self.problem.to_mps(path)

    def explain(self, demand: str | int) -> Explanation:
        """Why a demand got what it got: price, binding rows, the next best resource.

        For a leximin problem the prices are those of the level that holds the demand.

        Args:
            demand: Name of the demand, or its number.

        Returns:
            The explanation, which prints as text.
        """
        j, count = demand_index(self.problem, demand), len(self.levels)
        spec = leximin_of(self.problem)
        if count < 2 or spec is None:
            return explained(self.problem, self.certificate, demand)
        own = self.problem.rows.owner[spec.rows.start : spec.rows.stop] == j
        held = [k for k, level in enumerate(self.levels) if np.any(level.frozen & own)]
        if not held:
            found = explained(self.problem, self.certificate, demand)
            return replace(found, level=f"at none of the {count} levels; prices are of the first")
        level = self.levels[held[0]]
        priced = replace(
            self.certificate,
            t=np.array([level.value]),
            prices=level.prices,
            reduced=self.problem.cost + self.problem.rows.matrix.T @ level.prices,
        )
        words = f"at level {held[0] + 1} of {count}, {level.value:.6g}; prices are of that level"
        return replace(explained(self.problem, priced, demand), level=words)

    def worth(self) -> pd.DataFrame:
        """What one more unit of each resource buys, and how far that price holds."""
        return marginal_values(self.problem, self.certificate)

    def diff(self, other: Solution) -> Difference:
        """Why the allocation changed from ``other`` to this one: prices, binding rows, churn.

        ``now.diff(before)``; the objectives may differ, which the difference says.

        Args:
            other: The earlier solution.

        Returns:
            The difference, which prints as text.

        Raises:
            InputError: ``other`` is no solution, or of another size and without names.
        """
        checks.of_kind(other, Solution, "other", remedy="pass what an earlier solve returned")
        return difference((self.problem, self.certificate), (other.problem, other.certificate))

    def __repr__(self) -> str:
        words = f"{self.problem.objective} {self.value:.6g}"
        return f"Solution({self.status}, {words}, gap {self.gap:.1e})"

    @property
    def _bound_words(self) -> str:
        whose = f" of {self.bound_source}" if self.certificate.engine_bound else ""
        return f"bound{whose} {self.bound:.9g}"

    def __str__(self) -> str:
        seconds = self.timings.total
        return (
            f"{self.status}: {self.problem.objective} {self.value:.9g}, {self._bound_words}, "
            f"gap {self.gap:.1e} ({self.gap_unit}), violation "
            f"{self.certificate.violation:.1e}; engine {self.engine}, {seconds:.3g} s"
        )


def _through(problem: Separable, x: Floats) -> Floats:
    """(resources, demands) what of each demand the rows of each resource count, each entry once."""
    rows = problem.rows
    own = np.flatnonzero((rows.side == Side.RESOURCE) & (rows.owner >= 0) & ~rows.is_utility)
    counted = rows.matrix[own].tocoo()
    resource, entry = np.unique([rows.owner[own][counted.row], counted.col], axis=1)
    owned = problem.demand[entry] >= 0
    shape = problem.shape
    place = resource[owned].astype(np.int64) * shape[1] + problem.demand[entry[owned]]
    found = np.bincount(place, x[entry[owned]], shape[0] * shape[1])
    return found.astype(np.float64).reshape(shape)
