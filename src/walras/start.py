"""Warm starts by name: what an earlier solution says about a new problem.

Entries are matched by the names of their resource and demand, rows by their own names, so that
demands may have come and gone and capacities changed in between.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pandas as pd

from walras import checks
from walras.errors import InputError
from walras.separable import Separable
from walras.separable.naming import check_comparable, check_sizes
from walras.settings import Start
from walras.solution import Solution
from walras.types import Floats, Longs

Earlier = Solution | Start | pd.DataFrame | npt.ArrayLike


def start_from(problem: Separable, earlier: Earlier) -> Start:
    """A start for a problem from the solution of a similar one, or from any allocation.

    Args:
        problem: The new problem.
        earlier: A solution whose resources and demands bear the same names where they are the
            same; a frame with resources as index and demands as columns, by name likewise (where no
            entry has a resource, such as flows on paths, one row an entry by its name); or an
            array, (entries,) or (resources, demands), NaN where nothing is known, such as a learned
            guess; or a start that is matched already.

    Returns:
        The start, in the entries of the new problem.

    Raises:
        InputError: No name of a resource or of a demand is common to both, they are of different
            size and have no names, or the array has another shape or is not finite.

    Example:
        >>> import walras as wl
        >>> from walras.domains import cluster_scheduling as cs
        >>> problem = cs.max_min([[2.0, 1.0], [1.0, 2.0]], [1, 1], [1, 1])
        >>> s = wl.solve(problem)
        >>> from walras.start import start_from
        >>> start = start_from(problem, s)
        >>> start.x.shape
        (4,)
    """
    if isinstance(earlier, Start):
        return earlier
    if isinstance(earlier, pd.DataFrame):
        if not np.any(problem.resource >= 0) and list(earlier.columns) == ["amount"]:
            return _bare(problem, _by_entry_name(problem, earlier))
        check_sizes(problem, earlier.shape, problem.numbered, "start")
        resource = _positions(problem.resource_names, earlier.index, "resource")
        demand = _positions(problem.demand_names, earlier.columns, "demand")
        table = _by_demand(_numbers(earlier))
        return _bare(problem, _entries(problem, table, resource, demand))
    if not isinstance(earlier, Solution):
        return _from_array(problem, _numbers(earlier))
    old = earlier.problem
    check_comparable(problem, old, "start")
    if problem.keys is not None and old.keys is not None:
        x = _by_key(problem.keys(), old.keys(), earlier)
        return Start(x, _prices(problem, earlier), _scalars(problem, earlier))
    resource = _positions(problem.resource_names, old.resource_names, "resource")
    demand = _positions(problem.demand_names, old.demand_names, "demand")
    x = _entries(problem, _table(earlier), resource, demand)
    return Start(x, _prices(problem, earlier), _scalars(problem, earlier))


def check_start(start: object) -> None:
    """Refuse a start that is no solution, no frame and no array.

    Args:
        start: What the caller gave.

    Raises:
        InputError: It is none of these, and not None.

    Example:
        >>> from walras.start import check_start
        >>> check_start(None)
    """
    known = start is None or isinstance(start, Solution | Start | pd.DataFrame | list | tuple)
    if not known and not hasattr(start, "__array__"):
        raise InputError(
            f"is a {type(start).__name__}",
            where="start",
            allowed="a Solution, a DataFrame, an array with one number an entry, or None",
            remedy="pass what an earlier solve returned",
        )


def _numbers(given: pd.DataFrame | npt.ArrayLike) -> Floats:
    """Finite numbers, or NaN where nothing is known."""
    x = checks.numeric(given, "start")
    return checks.refuse_first(
        np.isinf(x), x, "start", allowed="numbers, NaN where nothing is known", remedy="replace it"
    )


def _from_array(problem: Separable, x: Floats) -> Start:
    """An allocation without prices."""
    table = (len(problem.resource_names), len(problem.demand_names))
    if x.shape == (problem.entries, 1):
        x = x[:, 0]
    if x.shape == (problem.entries,):
        return _bare(problem, x)
    if problem.keys is not None or x.shape != table:
        whole = "" if problem.keys is not None else f" or {table}"
        raise InputError(
            f"has shape {x.shape}",
            where="start",
            allowed=f"({problem.entries},){whole} numbers, NaN where nothing is known",
            remedy="give one number an entry, as a solution's entries are",
        )
    places = (np.arange(size) for size in table)
    return _bare(problem, _entries(problem, _by_demand(x), *places))


def _bare(problem: Separable, x: Floats) -> Start:
    """An allocation without prices."""
    return Start(np.clip(x, problem.lower, problem.upper), np.full(problem.rows.count, np.nan))


def _by_entry_name(problem: Separable, earlier: pd.DataFrame) -> Floats:
    """(entries,) what a frame of one row an entry knows of each, NaN where nothing."""
    known = dict(zip(map(str, earlier.index), _numbers(earlier)[:, 0].tolist(), strict=True))
    names = [problem.entry_name(k) for k in range(problem.entries)]
    if known.keys().isdisjoint(names):
        raise InputError(
            "no entry of the problem occurs in the frame",
            where="start",
            allowed=f"an index of entries, such as {names[0]!r}",
            remedy="pass the frame of a solution of a similar problem",
        )
    return np.array([known.get(name, np.nan) for name in names])


def _positions(new: npt.ArrayLike, old: npt.ArrayLike, kind: str) -> Longs:
    """Place of each new name among the old ones, -1 where it is new."""
    known = {str(name): k for k, name in enumerate(np.asarray(old, dtype=object))}
    names = np.asarray(new, dtype=object)
    place = np.array([known.get(str(name), -1) for name in names], dtype=np.int64)
    if len(place) and np.all(place < 0):
        raise InputError(
            f"no {kind} of the problem occurs in the earlier solution",
            where="start",
            allowed=f"at least one common {kind} name, such as {str(names[0])!r}",
            remedy=f"give both problems the same {kind} names, or leave start out",
        )
    return place


def _by_key(new: Longs, old: Longs, earlier: Solution) -> Floats:
    """The earlier allocation on the entries of equal key, NaN where the entry is new.

    Raises:
        InputError: No key is common to both.
    """
    order = np.argsort(old)
    at = order[np.minimum(np.searchsorted(old[order], new), len(old) - 1)]
    known = old[at] == new
    if not np.any(known):
        raise InputError(
            "no entry of the problem occurs in the earlier solution",
            where="start",
            allowed="at least one common entry, such as a path over the same nodes",
            remedy="leave start out",
        )
    return np.where(known, earlier.entries[at], np.nan)


def _by_demand(x: Floats) -> Floats:
    """(demands + 1, resources + 1) an allocation by demand; NaN for who is new."""
    table = np.full((x.shape[1] + 1, x.shape[0] + 1), np.nan)
    table[:-1, :-1] = x.T
    return table


def _table(earlier: Solution) -> Floats:
    """:func:`_by_demand` of a solution, without its allocation by resource."""
    old, (rows, columns) = earlier.problem, earlier.problem.shape
    # No owner: the last, and overwritten.
    place = np.where(old.demand < 0, columns, old.demand).astype(np.int64)
    place *= rows + 1
    place += np.where(old.resource < 0, rows, old.resource)
    summed = np.bincount(place, earlier.entries, (columns + 1) * (rows + 1))
    table: Floats = summed.astype(np.float64, copy=False).reshape(columns + 1, rows + 1)
    table[-1], table[:, -1] = np.nan, np.nan
    return table


def _entries(problem: Separable, table: Floats, resource: Longs, demand: Longs) -> Floats:
    """An allocation on the new entries, NaN where either owner is new.

    Args:
        problem: The new problem.
        table: (demands + 1, resources + 1) the allocation; the last are of owners that are new.
        resource: (resources,) place of each new resource among the old, -1 if new.
        demand: (demands,) likewise.
    """
    columns, rows = table.shape[0] - 1, table.shape[1] - 1
    i = np.append(np.where(resource >= 0, resource, rows), rows)
    j = np.append(np.where(demand >= 0, demand, columns), columns) * (rows + 1)
    out = table.ravel()[j[problem.demand] + i[problem.resource]]
    return np.asarray(np.clip(out, problem.lower, problem.upper))


def _prices(problem: Separable, earlier: Solution) -> Floats:
    """The earlier prices on the new rows, family by family and label by label."""
    out = np.full(problem.rows.count, np.nan)
    old = {family.name: family for family in earlier.problem.rows.families}
    for family in problem.rows.families:
        twin = old.get(family.name)
        if twin is None:
            continue
        values = earlier.prices.rows[twin.start : twin.stop]
        if not len(family.labels) and not len(twin.labels):
            shared = min(family.stop - family.start, len(values))
            out[family.start : family.start + shared] = values[:shared]
            continue
        known = {str(label): k for k, label in enumerate(twin.labels)}
        place = np.array([known.get(str(label), -1) for label in family.labels], dtype=np.int64)
        out[family.start : family.stop] = np.where(place >= 0, values[place], np.nan)
    return out


def _scalars(problem: Separable, earlier: Solution) -> Floats | None:
    """The earlier scalars, where they are the same."""
    old = earlier.problem
    same = tuple(problem.scalar_names) == tuple(old.scalar_names)
    return earlier.scalars if same and problem.scalars == old.scalars else None
