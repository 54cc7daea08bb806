"""Separable: the one form of an allocation problem that engines see.

Minimise over the entries x of an allocation (each owned by one resource and one demand) and a few
shared scalars t

    c·x + 1/2 x·diag(h) x + e·t + sum_k f_k(y_k),        y = G x + E t

subject to ``row_lower <= y <= row_upper`` on constraint rows and ``lower <= x <= upper``. A row
belongs to one resource, to one demand, or couples several; a *utility* row carries a convex cost
f_k of its activity instead of bounds. Maximisation problems are stored negated; ``maximize`` says
so and :meth:`Separable.reported` turns a minimised value back.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from walras import checks
from walras.errors import InputError
from walras.files import write_text
from walras.saving import saved_fields
from walras.separable.mps_text import Program, mps_lines
from walras.separable.rows import Family, Rows, Side, Utility
from walras.types import Bools, Floats, Ints, Longs

__all__ = ["Family", "Rows", "Separable", "Side", "Utility"]


@dataclass(frozen=True, eq=False)
class Separable:
    """An allocation problem as arrays, which are validated when it is built.

    Its fields cannot be set. Its arrays are shared with whoever made them and are not to be written
    to; ``dataclasses.replace`` builds, and validates, a changed problem.

    Attributes:
        resource: (entries,) resource that owns the entry, -1 if none.
        demand: (entries,) demand that owns the entry, -1 if none.
        cost: c, (entries,).
        quadratic: h >= 0, (entries,).
        lower: (entries,) ``-inf`` allowed.
        upper: (entries,) ``inf`` allowed.
        scalar_cost: e, (scalars,).
        scalar_lower: (scalars,).
        scalar_upper: (scalars,).
        rows: constraint and utility rows.
        resource_names: (resources,) labels.
        demand_names: (demands,) labels.
        integer: (entries,) True where the entry must be whole, or None.
        scalar_names: (scalars,) labels.
        maximize: whether the user's problem was a maximisation (stored negated).
        constant: added to the minimised value.
        objective: the user's word for the objective, for reports.
        gap_scale: denominator of the relative gap, or None for ``max(|value|, |bound|)``
            (see :mod:`walras.certificate`).
        gap_unit: what ``gap_scale`` is, in words, such as ``nat a job``; without one, what the
            larger of value and bound is. Where these are nothing beside the objective's terms, a
            certificate has other words.
        namer: the user's own name of an entry, by its number; None where its owners name it.
        numbered: the sides (``resource``, ``demand``) whose names are only their numbers, so that
            problems of different size have nothing in common there.
        keys: gives (entries,) numbers that tell an entry apart in this problem and in others like
            it, such as a path by its nodes; None where its owners tell it.

    Example:
        >>> import walras as wl
        >>> from walras.domains import cluster_scheduling as cs
        >>> problem = cs.max_min([[2.0, 1.0], [1.0, 2.0]], [1, 1], [1, 1])
        >>> problem.shape, problem.entries, problem.entry_name(2)
        ((2, 2), 4, 'x[0, 1]')
        >>> problem.dense(problem.upper).shape
        (2, 2)
    """

    resource: Ints
    demand: Ints
    cost: Floats
    quadratic: Floats
    lower: Floats
    upper: Floats
    scalar_cost: Floats
    scalar_lower: Floats
    scalar_upper: Floats
    rows: Rows
    resource_names: Sequence[str]
    demand_names: Sequence[str]
    integer: Bools | None = None
    scalar_names: Sequence[str] = ()
    maximize: bool = False
    constant: float = 0.0
    objective: str = "linear"
    gap_scale: float | None = None
    gap_unit: str = "of the value"
    namer: Callable[[int], str] | None = None
    keys: Callable[[], Longs] | None = None
    numbered: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        check(self)

    def __repr__(self) -> str:
        resources, demands = self.shape
        whole = 0 if self.integer is None else int(np.sum(self.integer))
        return (
            f"Separable({'maximize' if self.maximize else 'minimize'} {self.objective}: "
            f"{resources} resources, {demands} demands, {self.entries} entries"
            f"{f' ({whole} whole)' if whole else ''}, {self.rows.count} rows)"
        )

    def to_mps(self, path: str | Path) -> None:
        """Write the problem as an MPS file, such as other solvers read.

        Entries come first, then the shared scalars. Spaces in names become underscores.

        Args:
            path: The file, such as ``problem.mps``.

        Raises:
            InputError: The objective has utilities other than linear and quadratic ones.
            DataError: The file cannot be written.

        Example:
            >>> import tempfile, walras as wl
            >>> problem = wl.domains.cluster_scheduling.max_min([[2.0, 1.0]], [1, 1], [1.0])
            >>> problem.to_mps(f"{tempfile.mkdtemp()}/problem.mps")
        """
        write_text(path, "\n".join(mps_lines(self._program())) + "\n")

    def _program(self) -> Program:
        """The problem as the columns and rows of a program, in the user's sense."""
        rows, sign = self.rows, -1.0 if self.maximize else 1.0
        if np.any(rows.is_utility):
            row = int(np.argmax(rows.is_utility))
            raise InputError(
                f"{rows.name(row)} is a {Utility(int(rows.utility[row])).name.lower()} utility",
                where="to_mps",
                allowed="linear, quadratic and whole-number problems",
                remedy="save it with its solution: solution.save(path)",
            )
        none = np.zeros(self.scalars)
        whole = np.zeros(self.entries, np.bool_) if self.integer is None else self.integer
        scalars = [*self.scalar_names, *(f"t{k}" for k in range(self.scalars))][: self.scalars]
        return Program(
            name=self.objective,
            maximize=self.maximize,
            constant=sign * self.constant,
            columns=[*map(self.entry_name, range(self.entries)), *scalars],
            cost=sign * np.append(self.cost, self.scalar_cost),
            quadratic=sign * np.append(self.quadratic, none),
            lower=np.append(self.lower, self.scalar_lower),
            upper=np.append(self.upper, self.scalar_upper),
            integer=np.append(whole, none.astype(np.bool_)),
            rows=[rows.name(k) for k in range(rows.count)],
            matrix=sp.csc_array(sp.hstack([rows.matrix, sp.csc_array(rows.scalar_matrix)])),
            row_lower=rows.lower,
            row_upper=rows.upper,
        )

    def to_saved(self) -> dict[str, object]:
        """Its fields; what names and tells apart entries is written out."""
        parts = saved_fields(self, "namer", "keys")
        if self.namer is not None:
            parts["entry_names"] = [self.namer(q) for q in range(self.entries)]
        if self.keys is not None:
            parts["entry_keys"] = self.keys()
        return parts

    @classmethod
    def from_saved(cls, parts: Mapping[str, Any]) -> Separable:
        """The problem of what :meth:`to_saved` gave."""
        given = dict(parts)
        names, keys = given.pop("entry_names", None), given.pop("entry_keys", None)
        given["namer"] = None if names is None else names.__getitem__
        given["keys"] = None if keys is None else lambda: keys
        return cls(**given)

    @property
    def entries(self) -> int:
        """Number of entries of x."""
        return len(self.cost)

    @property
    def scalars(self) -> int:
        """Number of shared scalars."""
        return len(self.scalar_cost)

    @property
    def shape(self) -> tuple[int, int]:
        """(resources, demands)."""
        return len(self.resource_names), len(self.demand_names)

    @property
    def has_owned(self) -> bool:
        """Whether some entry belongs to a resource."""
        return bool(np.any(self.resource >= 0))

    def entry_name(self, entry: int) -> str:
        """The user's own name, else ``x[v100, job3]``, ``x[job3]`` with one owner, ``entry 3``.

        Args:
            entry: The entry's number.

        Returns:
            The name that messages use.
        """
        if self.namer is not None:
            return self.namer(entry)
        owners = (
            (int(self.resource[entry]), self.resource_names),
            (int(self.demand[entry]), self.demand_names),
        )
        names = [str(known[owner]) for owner, known in owners if owner >= 0]
        return f"x[{', '.join(names)}]" if names else f"entry {entry}"

    def reported(self, minimised: float) -> float:
        """The user's objective value of a minimised one.

        Args:
            minimised: Value of the minimised objective.

        Returns:
            The value in the user's sense.
        """
        return 0.0 - minimised if self.maximize else minimised  # 0.0 - 0.0 has no minus sign

    def dense(self, x: Floats) -> Floats:
        """Sum the entries into a dense array; entries without an owner are left out.

        Args:
            x: (entries,) values.

        Returns:
            (resources, demands) sums.
        """
        resources, demands = self.shape
        place = self.demand.astype(np.int64) * resources + self.resource  # as entries usually lie
        owned = (self.resource >= 0) & (self.demand >= 0)
        if not np.all(owned):
            place, x = place[owned], x[owned]
        out = np.bincount(place, x, resources * demands).reshape(demands, resources).T
        return np.asarray(out, dtype=np.float64)


def check(p: Separable) -> None:
    """Refuse arrays that are no problem.

    Raises:
        InputError: Something is no array, has another length, or is out of range.
    """
    _check_types(p)
    _check_lengths(p)
    _check_owners(p)
    _check_names(p)
    _check_rows(p)
    _check_numbers(p)


def _check_types(p: Separable) -> None:
    own = (
        "resource",
        "demand",
        "cost",
        "quadratic",
        "lower",
        "upper",
        "scalar_cost",
        "scalar_lower",
        "scalar_upper",
    )
    rows = ("scalar_matrix", "lower", "upper", "side", "owner", "utility", "weight", "parameter")
    given = {name: getattr(p, name) for name in own}
    given |= {f"rows.{name}": getattr(p.rows, name) for name in rows}
    if p.integer is not None:
        given["integer"] = p.integer
    for name, array in given.items():
        kinds = "b" if name == "integer" else "iuf"
        if not isinstance(array, np.ndarray) or array.dtype.kind not in kinds:
            raise InputError(
                f"is a {type(array).__name__}"
                + (f" of {array.dtype}" if isinstance(array, np.ndarray) else ""),
                where=name,
                allowed="a numpy array of " + ("booleans" if kinds == "b" else "numbers"),
                remedy="pass numpy.asarray of it",
            )
    checks.number(p.constant, "constant", remedy="leave it out")
    if p.gap_scale is not None:
        checks.number(p.gap_scale, "gap_scale", above=0.0, words=", or None", remedy="leave it out")


def _check_lengths(p: Separable) -> None:
    n, s, r = p.entries, p.scalars, p.rows.count
    remedy = "give every array of the problem the same entries, scalars and rows"
    entries = ["resource", "demand", "quadratic", "lower", "upper"]
    entries += [] if p.integer is None else ["integer"]
    for names, count in ((entries, n), (["scalar_lower", "scalar_upper"], s)):
        for name in names:
            checks.shaped(getattr(p, name), (count,), name, remedy=remedy)
    checks.shaped(p.rows.matrix, (r, n), "rows.matrix", remedy=remedy)
    checks.shaped(p.rows.scalar_matrix, (r, s), "rows.scalar_matrix", remedy=remedy)
    for name in ("upper", "side", "owner", "utility", "weight", "parameter"):
        checks.shaped(getattr(p.rows, name), (r,), f"rows.{name}", remedy=remedy)
    if n == 0:
        raise InputError(
            "the problem has no entries",
            where="Separable",
            allowed="at least one entry",
            remedy="check that some resource can serve some demand",
        )


def _check_names(p: Separable) -> None:
    for name, given in (("resource", p.resource_names), ("demand", p.demand_names)):
        if isinstance(given, list | tuple):
            checks.distinct(given, f"{name}_names", "name")


def _check_owners(p: Separable) -> None:
    for name, owner, count in zip(
        ("resource", "demand"), (p.resource, p.demand), p.shape, strict=True
    ):
        remedy = f"number each entry's {name} as in {name}_names"
        checks.within(owner, name, -1, count - 1, words="; -1 for none", remedy=remedy)


def _check_rows(p: Separable) -> None:
    rows, (resources, demands) = p.rows, p.shape
    most = np.array([resources, demands, 0])
    for name, array, kinds in (("side", rows.side, Side), ("utility", rows.utility, Utility)):
        words, remedy = f", of {kinds.__name__}", "use walras.separable's own numbers"
        checks.within(array, f"rows.{name}", 0, len(kinds) - 1, words=words, remedy=remedy)
    checks.refuse_first(
        (rows.owner < -1) | (rows.owner >= most[rows.side]),
        rows.owner,
        lambda at: f"rows.owner[{at[0]}] ({rows.name(at[0])})",
        allowed="the owner's number on its side, -1 on a coupled row",
        remedy="number owners as in resource_names and demand_names",
    )
    checks.refuse_first(
        rows.is_utility & (rows.weight < 0),
        rows.weight,
        lambda at: f"rows.weight[{at[0]}] ({rows.name(at[0])})",
        allowed=">= 0 on a row with a utility",
        remedy="a negative weight makes the objective concave to minimise",
    )


def _check_numbers(p: Separable) -> None:
    finite = {
        "cost": p.cost,
        "quadratic": p.quadratic,
        "scalar_cost": p.scalar_cost,
        "rows.matrix": p.rows.matrix.data,
        "rows.scalar_matrix": p.rows.scalar_matrix.ravel(),
        "rows.weight": p.rows.weight,
        "rows.parameter": p.rows.parameter,
    }
    for name, array in finite.items():
        checks.within(array, name, remedy="remove NaN and infinity from the data")
    remedy = "the objective must be convex in every entry"
    checks.within(p.quadratic, "quadratic", 0.0, remedy=remedy)
    _check_order(p.lower, p.upper, lambda at: f"lower[{at[0]}]")
    lower, upper = p.scalar_lower, p.scalar_upper
    _check_order(lower, upper, lambda at: f"scalar_lower[{at[0]}]")
    _check_order(p.rows.lower, p.rows.upper, lambda at: p.rows.name(at[0]))


def _check_order(low: Floats, high: Floats, where: Callable[[tuple[int, ...]], str]) -> None:
    checks.refuse_first(
        ~(low <= high) | (low == np.inf) | (high == -np.inf),
        low,
        where,
        what=lambda at: f"the bounds [{low[at]:g}, {high[at]:g}] admit no number",
        allowed="lower <= upper",
        remedy="swap or loosen the bounds",
    )
