"""Roles of rows in proofs that slices of demands make by sums.

Scaling meets four kinds of rows: limits, utilities, shares of the scalar, and wholes that are
shared out. Other rows, such as equalities and minimums, also need a correction. Its equations link
demands by pairs of narrow rows; rows of a single demand are eliminated within it. Problems with
unbounded entries or unbounded scalars are proved in one place instead.
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
MOST_CORRECTED = 500  # ... and at most so many rows that scaling does not meet
MOST_PAIRS = 2e7  # pairs of own rows of a demand, summed over all demands


@dataclass(frozen=True, eq=False)
class Caps:
    """Limits of entries that only narrow rows limit.

    Attributes:
        row: (n,) the narrow row; the last one for all other entries.
        coefficient: (n,) the entry's coefficient in the row.
        limit: (n,) the largest value that the row allows.
    """

    row: Ints
    coefficient: Floats
    limit: Floats


@dataclass(frozen=True, eq=False)
class RowClassification:
    """The roles of the demands' rows.

    Attributes:
        packing: (groups, K) ``a x <= b`` with a, b >= 0.
        limits: (groups, K) packing rows, also with a minimum above zero.
        cover: (groups, K) ``t <= sum of the entries' benefits``.
        shares: (groups, K) wholes that are shared out.
        closed: (groups, K) rows whose best price is known in closed form.
        caps: Limits of the entries that no row of their demand limits; None if there are none.
        wanted: (n,) True on entries with a benefit in a narrow row's utility or share.
        loose: (n,) True on entries without a limit on one side.
        corrected: Whether some rows need more than scaling.
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
    """The classification of a problem's rows; None if sums over slices cannot make the proof."""
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
        return np.append(of_row, False)[form.groups.source]  # row -1 stands for none

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
    """Whether own rows of demands need nothing but a correction, and their blocks are small."""
    own, rows = form.own.source, form.problem.rows
    roles_of = shape.packing | shape.limiting | shape.shares | shape.open_rows | rows.is_utility
    caps = np.isin(own, shape.cap[~shape.exempt])
    small = np.sum(np.diff(form.own_ptr).astype(float) ** 2) <= MOST_PAIRS
    return not len(own) or bool(
        small and not np.any(roles_of[own]) and not np.any(caps) and not len(shape.loose)
    )


def covers(problem: Separable) -> Bools:
    """(rows,) True on ``t <= sum of the entries' benefits`` for one of the scalars t."""
    rows, most = problem.rows, np.zeros(problem.rows.count)
    np.maximum.at(most, rows.matrix.indices, rows.matrix.data)
    shared = np.sum(rows.scalar_matrix > 0, axis=1) == 1
    return np.asarray(shared & (most <= 0) & (rows.upper == 0) & np.isinf(rows.lower))


def _scaled(form: Form, shape: Structure) -> Bools:
    """(rows,) True on rows that scaling meets."""
    rows = form.problem.rows
    idle = np.isinf(rows.lower) & np.isinf(rows.upper)
    known = shape.packing | (idle & ~np.any(rows.scalar_matrix, axis=1)) | _pulled(form, shape)
    local = np.zeros(rows.count, dtype=bool)
    local[form.groups.source[form.groups.source >= 0]] = True
    return np.asarray(known | (local & shape.shares))


def _wanted(form: Form) -> Bools:
    """(n,) True on entries with a benefit in a narrow row's utility or share."""
    rows, at = form.problem.rows, form.narrow.source[:-1]
    brings = np.zeros(rows.count)
    brings[at] = np.isin(rows.utility[at], (Utility.LOG, Utility.POWER))
    brings[at] -= covers(form.problem)[at]
    if not np.any(brings):
        return np.zeros(form.problem.entries, dtype=bool)
    return np.asarray((rows.matrix.T @ brings)[form.order] > 0)


def _pulled(form: Form, shape: Structure) -> Bools:
    """(rows,) True on rows with a scalar whose cost pulls against them."""
    problem = form.problem
    pull = float(problem.scalar_cost[0]) if form.scalar_in else 0.0
    if form.scalar_in == "groups" and pull < 0:
        return covers(problem)
    if form.scalar_in == "narrow" and pull > 0:
        return _loads(problem.rows, shape)
    return np.zeros(problem.rows.count, dtype=bool)


def _limited(form: Form, shape: Structure) -> bool:
    """Whether no entry is unbounded, and the rows hold every unbounded scalar."""
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
    place = np.full(problem.rows.count + 1, last, dtype=np.int32)  # -1 for no cap
    place[form.narrow.source[:-1]] = np.arange(last, dtype=np.int32)
    row = np.where(shape.exempt, last, place[shape.cap])
    if np.all(row == last):
        return None
    row = row[form.order].astype(np.int32)
    coefficient = shape.coefficient[form.order]  # the last narrow row limits nothing
    return Caps(row, coefficient, form.narrow.upper[row] / coefficient)
