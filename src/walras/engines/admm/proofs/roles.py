"""What rows are in a proof, where slices of demands can make it by sums.

They can where the rows of demands limit them, ask for a utility, for a share in the scalar or for
a whole to be shared out, and where all others are capacities, or loads that the scalar lies above.
Equalities and minimums are met by a correction of all entries together.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from walras.certificate.structure import Structure, structure
from walras.engines.admm.form import Form
from walras.separable import Rows, Separable

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
Ints32 = npt.NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Caps:
    """Entries that narrow rows alone limit.

    Attributes:
        row: (n,) the narrow row; the last one for entries that are not such.
        coefficient: (n,) the coefficient in it.
        limit: (n,) the most that the entry can be by it.
    """

    row: Ints32
    coefficient: Floats
    limit: Floats


@dataclass(frozen=True, eq=False)
class Roles:
    """The roles of the demands' rows.

    Attributes:
        packing: (groups, K) ``a x <= b`` with a, b >= 0.
        cover: (groups, K) ``t <= sum of what entries bring``.
        shares: (groups, K) wholes that are shared out.
        closed: (groups, K) rows whose best price is known in closed form.
        caps: What limits entries that no row of their demand does; None if there are none.
    """

    packing: Bools
    cover: Bools
    shares: Bools
    closed: Bools
    caps: Caps | None

    def part(self, groups: slice, entries: slice) -> Roles:
        """The roles of a run of groups."""
        caps = self.caps
        if caps is not None:
            caps = Caps(caps.row[entries], caps.coefficient[entries], caps.limit[entries])
        return Roles(
            self.packing[groups], self.cover[groups], self.shares[groups], self.closed[groups], caps
        )


def roles(form: Form) -> Roles | None:
    """The roles of a problem's rows; None where sums over slices do not prove enough."""
    problem, shape = form.problem, structure(form.problem)
    as_asked = (problem.entries, problem.rows.count) == (form.asked_entries, form.asked_rows)
    bounded = not len(shape.free) and not len(shape.loose) and not np.any(problem.lower)
    if not (as_asked and bounded and _fits(form, shape)):
        return None
    of_rows = shape.packing, covers(problem), shape.shares, shape.open_rows | shape.shares
    padded = [np.append(of_row, False) for of_row in of_rows]  # for the row -1, which is none
    packing, cover, shares, closed = (of_row[form.groups.source] for of_row in padded)
    return Roles(packing, cover, shares, closed, _caps(form, shape))


def covers(problem: Separable) -> Bools:
    """(rows,) True on ``t <= sum of what entries bring`` for one of the scalars t."""
    rows, most = problem.rows, np.zeros(problem.rows.count)
    np.maximum.at(most, rows.matrix.indices, rows.matrix.data)
    shared = np.sum(rows.scalar_matrix > 0, axis=1) == 1
    return np.asarray(shared & (most <= 0) & (rows.upper == 0) & np.isinf(rows.lower))


def _fits(form: Form, shape: Structure) -> bool:
    """Whether every row has a role, and the scalar a cost that pulls against its rows."""
    problem, rows = form.problem, form.problem.rows
    idle = np.isinf(rows.lower) & np.isinf(rows.upper) & ~rows.is_utility
    known = shape.packing | idle
    asks = rows.is_utility | shape.shares
    pull = float(problem.scalar_cost[0]) if form.scalar_in else 0.0
    if form.scalar_in == "groups" and pull < 0:
        asks |= covers(problem)
    if form.scalar_in == "narrow" and pull > 0:
        known |= _loads(rows, shape)
    local = np.zeros(rows.count, dtype=bool)
    local[form.groups.source[form.groups.source >= 0]] = True
    return bool(np.all(known | (local & asks)))


def _loads(rows: Rows, shape: Structure) -> Bools:
    """(rows,) True on ``a x <= b + c t`` with a >= 0 and c > 0."""
    below = np.isinf(rows.lower) & np.isfinite(rows.upper)
    return np.asarray(below & (rows.scalar_matrix[:, 0] < 0) & ~shape.negative)


def _caps(form: Form, shape: Structure) -> Caps | None:
    """The narrow rows that cap entries, as :func:`walras.certificate.structure` chose them."""
    problem, last = form.problem, len(form.narrow.source) - 1
    place = np.full(problem.rows.count + 1, last, dtype=np.int32)  # for no cap: -1
    place[form.narrow.source[:-1]] = np.arange(last, dtype=np.int32)
    row = np.where(shape.exempt, last, place[shape.cap])
    if np.all(row == last):
        return None
    row = row[form.order].astype(np.int32)
    coefficient = shape.coefficient[form.order]  # the last narrow row limits nothing
    return Caps(row, coefficient, form.narrow.upper[row] / coefficient)
