"""What rows are in a proof, where slices of demands can make it by sums.

Rows that limit, ask for a utility, for a share in the scalar or for a whole to be shared out are
met by scaling; others, as equalities and minimums, by a correction too, in which demands meet in
pairs of narrow rows, those of one demand alone being eliminated within it. Entries without any
bound, and scalars that nothing holds, are priced in one place.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from walras.certificate.structure import Structure, structure
from walras.engines.admm.form import Form
from walras.separable import Rows, Separable, Utility
from walras.types import Bools, Floats, Ints

# A correction sends a matrix over pairs of narrow rows: at most so many rows of any kind, ...
MOST_NARROW = 2_000
MOST_CORRECTED = 500  # ... and at most so many of those that scaling does not meet
MOST_PAIRS = 2e7  # pairs of own rows of a demand, summed over all demands


@dataclass(frozen=True, eq=False)
class Caps:
    """Entries that narrow rows alone limit.

    Attributes:
        row: (n,) the narrow row; the last one for entries that are not such.
        coefficient: (n,) the coefficient in it.
        limit: (n,) the most that the entry can be by it.
    """

    row: Ints
    coefficient: Floats
    limit: Floats


@dataclass(frozen=True, eq=False)
class RowClassification:
    """The roles of the demands' rows.

    Attributes:
        packing: (groups, K) ``a x <= b`` with a, b >= 0.
        limits: (groups, K) those, and such that have a minimum above zero, too.
        cover: (groups, K) ``t <= sum of what entries bring``.
        shares: (groups, K) wholes that are shared out.
        closed: (groups, K) rows whose best price is known in closed form.
        caps: What limits entries that no row of their demand does; None if there are none.
        wanted: (n,) True on entries that bring something to a narrow row's utility or share.
        loose: (n,) True on entries that nothing limits on one side.
        corrected: Whether some rows ask for more than scaling.
    """

    packing: Bools
    limits: Bools
    cover: Bools
    shares: Bools
    closed: Bools
    caps: Caps | None
    wanted: Bools
    loose: Bools
    corrected: bool

    def part(self, groups: slice, entries: slice) -> RowClassification:
        """The roles of a run of groups."""
        caps = self.caps
        if caps is not None:
            caps = Caps(caps.row[entries], caps.coefficient[entries], caps.limit[entries])
        return replace(
            self,
            packing=self.packing[groups],
            limits=self.limits[groups],
            cover=self.cover[groups],
            shares=self.shares[groups],
            closed=self.closed[groups],
            caps=caps,
            wanted=self.wanted[entries],
            loose=self.loose[entries],
        )


def roles(form: Form) -> RowClassification | None:
    """The roles of a problem's rows; None where sums over slices do not prove enough."""
    problem, shape = form.problem, structure(form.problem)
    as_asked = (problem.entries, problem.rows.count) == (form.asked_entries, form.asked_rows)
    scaled = _scaled(form, shape)
    corrected = bool(np.any(problem.lower) or not np.all(scaled))
    narrow = form.narrow.source[:-1]
    few = bool(len(narrow) <= MOST_NARROW and np.sum(~scaled[narrow]) <= MOST_CORRECTED)
    few = few or not corrected
    if not (as_asked and few and _plain(form, shape) and _limited(form, shape)):
        return None

    def held(of_row: Bools) -> Bools:
        return np.append(of_row, False)[form.groups.source]  # the row -1 is none

    loose = np.zeros(problem.entries, dtype=bool)
    loose[shape.loose] = True
    return RowClassification(
        packing=held(shape.packing),
        limits=held(shape.limiting),
        cover=held(covers(problem)),
        shares=held(shape.shares),
        closed=held(shape.open_rows | shape.shares),
        caps=_caps(form, shape),
        wanted=_wanted(form),
        loose=loose[form.order],
        corrected=corrected,
    )


def _plain(form: Form, shape: Structure) -> bool:
    """Whether own rows of demands ask for nothing but a correction, and their blocks are small."""
    own, rows = form.own.source, form.problem.rows
    roles_of = shape.packing | shape.limiting | shape.shares | shape.open_rows | rows.is_utility
    caps = np.isin(own, shape.cap[~shape.exempt])
    small = np.sum(np.diff(form.own_ptr).astype(float) ** 2) <= MOST_PAIRS
    return not len(own) or bool(
        small and not np.any(roles_of[own]) and not np.any(caps) and not len(shape.loose)
    )


def covers(problem: Separable) -> Bools:
    """(rows,) True on ``t <= sum of what entries bring`` for one of the scalars t."""
    rows, most = problem.rows, np.zeros(problem.rows.count)
    np.maximum.at(most, rows.matrix.indices, rows.matrix.data)
    shared = np.sum(rows.scalar_matrix > 0, axis=1) == 1
    return np.asarray(shared & (most <= 0) & (rows.upper == 0) & np.isinf(rows.lower))


def _scaled(form: Form, shape: Structure) -> Bools:
    """(rows,) True on those that scaling meets."""
    rows = form.problem.rows
    idle = np.isinf(rows.lower) & np.isinf(rows.upper)
    known = shape.packing | (idle & ~np.any(rows.scalar_matrix, axis=1)) | _pulled(form, shape)
    local = np.zeros(rows.count, dtype=bool)
    local[form.groups.source[form.groups.source >= 0]] = True
    return np.asarray(known | (local & shape.shares))


def _wanted(form: Form) -> Bools:
    """(n,) True on entries that bring something to a narrow row's utility or share."""
    rows, at = form.problem.rows, form.narrow.source[:-1]
    brings = np.zeros(rows.count)
    brings[at] = np.isin(rows.utility[at], (Utility.LOG, Utility.POWER))
    brings[at] -= covers(form.problem)[at]
    if not np.any(brings):
        return np.zeros(form.problem.entries, dtype=bool)
    return np.asarray((rows.matrix.T @ brings)[form.order] > 0)


def _pulled(form: Form, shape: Structure) -> Bools:
    """(rows,) True on those with a scalar whose cost pulls against them."""
    problem = form.problem
    pull = float(problem.scalar_cost[0]) if form.scalar_in else 0.0
    if form.scalar_in == "groups" and pull < 0:
        return covers(problem)
    if form.scalar_in == "narrow" and pull > 0:
        return _loads(problem.rows, shape)
    return np.zeros(problem.rows.count, dtype=bool)


def _limited(form: Form, shape: Structure) -> bool:
    """Whether no entry is without bounds, and a scalar without bounds is held by its rows."""
    if len(shape.free) or not len(shape.free_scalars):
        return not len(shape.free)
    held = np.any(form.problem.rows.scalar_matrix, axis=1)
    return bool(not len(shape.loose) and np.all(_pulled(form, shape)[held]))


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
