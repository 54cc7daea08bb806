"""Leximin by levels: solve max-min, stay on its optimal face, raise the rest.

After a level t* complementarity tells which rows are at t* in *every* optimal allocation (those
with a positive price), which entries are zero (positive reduced cost) and which constraints are
tight (positive price). The next level is solved on that face: its rows as equalities, its zero
entries gone, the scalar left on the other rows only. Inequalities that can only hold as equalities
would leave an interior point no interior. Source: Ogryczak and Sliwinski (2006) for the levels;
Gavel (OSDI 2020) calls them water filling.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.sparse import csgraph

from walras.certificate import Certificate, certify, violation
from walras.certificate.structure import own_limit, structure
from walras.engines.iterate import Iterate
from walras.engines.settings import Settings
from walras.history import Timings, join
from walras.separable import Leximin, Separable
from walras.status import Status

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]

_ACCEPTED = 1e-7  # violation at which a later level still counts; the last repair mends it
_PRESENT = 1e-9  # share of the objective or of a bound below which a number counts as zero
_SLICE = 1_000_000  # entries looked at together
_STOPPED = (Status.LIMIT, Status.INTERRUPTED)
_SHARP = 1e-11  # tolerance of a level: what is zero and what is not must be told apart
_LEAST = 1e-12  # tolerance that settings allow
_OWN, _GIVEN = 0.9, 0.1  # shares of a coarse tolerance: of a level, and of what the next may take


@dataclass(frozen=True, eq=False)
class Level:
    """One level of a leximin solution.

    Attributes:
        value: t* of the level.
        bound: Certified upper bound on it, given the levels below.
        gap: Relative distance of the two, whichever is above.
        frozen: (family rows,) True on the rows frozen at this level.
        prices: (rows,) prices of the level, given the levels below.
    """

    value: float
    bound: float
    gap: float
    frozen: Bools
    prices: Floats


@dataclass(frozen=True, eq=False)
class LeximinResult:
    """All levels and the last level's allocation.

    Attributes:
        iterate: The last level's point, with the first level's prices.
        levels: In order.
        finished: Whether there are as many as asked for, or as there can be.
    """

    iterate: Iterate
    levels: tuple[Level, ...]
    finished: bool = True


def leximin(
    spec: Leximin,
    engine: Callable[[Separable, Settings], Iterate],
    settings: Settings,
    *,
    coarse: bool = False,
) -> LeximinResult:
    """Raise the levels one after the other until none is left, or a limit is reached.

    Args:
        spec: The problem and its number of levels.
        engine: What solves a level.
        settings: As for one solve; the time limit is for all levels together.
        coarse: Whether the engine cannot tell what is zero on the optimal face. Each level is then
            solved to the tolerance, and the rows frozen at it stay above it, less a part of that.
    """
    rows = slice(spec.rows.start, spec.rows.stop)
    tolerance = _OWN * settings.tolerance if coarse else min(_SHARP, settings.tolerance)
    sharp = replace(settings, tolerance=max(tolerance, _LEAST))
    limit = row_limits(spec.problem)[rows]
    frozen = np.zeros(len(limit), dtype=bool)
    stage, left, whole = spec.problem, sharp, spec.problem
    levels: list[Level] = []
    parts: list[Iterate] = []
    for _ in range(spec.levels):
        stage, found = _solved(stage, whole, engine, left)
        stopped = found.status in _STOPPED
        prices = _off_ceiling(stage, found.prices, rows, np.where(frozen, np.inf, limit))
        proof = certify(stage, found.x, found.t, prices, threads=settings.workers)
        if levels and (stopped or not proof.violation <= _ACCEPTED):
            parts.append(replace(found, x=parts[-1].x, t=parts[-1].t))
            break  # what an unfinished level found is not known to keep the levels before it
        parts.append(replace(found, x=proof.x, t=found.t))
        now = _frozen_now(stage, proof, rows, frozen)
        level = float(proof.t[0])
        bound = level + proof.value - proof.bound
        levels.append(Level(level, bound, _gap(proof), now, proof.prices))
        frozen |= now
        left = _remaining(sharp, parts)
        if stopped or np.all(frozen):
            break
        if coarse:
            whole = stage = _held_above(
                stage, proof, rows, now, limit, frozen, _GIVEN * settings.tolerance
            )
        else:
            whole, stage = _face(stage, proof, rows, now, limit, frozen)
    finished = len(levels) == spec.levels or bool(np.all(frozen))
    return LeximinResult(_joined(parts), tuple(levels), finished)


def _gap(proof: Certificate) -> float:
    """The gap of a level; one above its bound does not hold the levels before it by as much."""
    if not np.isfinite(proof.bound):
        return proof.gap
    return max(proof.gap, (proof.bound - proof.value) / max(abs(proof.bound), 1e-300))


def _solved(
    stage: Separable,
    whole: Separable,
    engine: Callable[[Separable, Settings], Iterate],
    settings: Settings,
) -> tuple[Separable, Iterate]:
    """A level without the rows held to be implied, or with them if its allocation breaks one."""
    found = engine(stage, settings)
    kept = whole is stage or violation(whole, found.x, found.t) <= _ACCEPTED
    if kept or found.status in _STOPPED:
        return stage, found
    again = engine(whole, _remaining(settings, [found]))
    return whole, replace(_joined([found, again]), prices=again.prices)


def row_limits(problem: Separable) -> Floats:
    """(rows,) the most that ``-G x`` of each row can be by its entries' own packing rows alone.

    For a row ``t - y_j <= 0`` of a job this is its best type's throughput: no allocation gives the
    job more, whatever the others get.
    """
    shape, matrix = structure(problem), problem.rows.matrix
    reach = np.minimum(own_limit(problem, shape), problem.upper)
    out = np.zeros(problem.rows.count)
    for first in range(0, problem.entries, _SLICE):
        some = slice(matrix.indptr[first], matrix.indptr[min(first + _SLICE, problem.entries)])
        width = np.diff(matrix.indptr[first : first + _SLICE + 1])
        gain = -matrix.data[some] * np.repeat(reach[first : first + _SLICE], width)
        np.maximum.at(out, matrix.indices[some], np.where(matrix.data[some] < 0, gain, 0.0))
    return out


def without_ceiling(spec: Leximin, prices: Floats) -> Floats:
    """Prices of a max-min problem whose ceiling, a job's own limit, is charged to that job.

    Args:
        spec: The max-min problem, as leximin states it.
        prices: (rows,) an engine's prices, some of which may stand on the scalar's own bound.
    """
    problem, rows = spec.problem, slice(spec.rows.start, spec.rows.stop)
    lacking = 1.0 - float(problem.rows.scalar_matrix[:, 0] @ prices)
    if not np.isfinite(problem.scalar_upper[0]) or lacking <= _ACCEPTED:
        return prices
    return _off_ceiling(problem, prices, rows, row_limits(problem)[rows])


def _off_ceiling(stage: Separable, prices: Floats, rows: slice, limit: Floats) -> Floats:
    """Prices with the scalar's own bound charged to the row whose limit the bound is.

    The level's ceiling is the least limit of a row, so a price on the ceiling (what the rows'
    prices lack to one) says that this row is the one that cannot rise.
    """
    lacking = 1.0 - float(stage.rows.scalar_matrix[:, 0] @ prices)
    if lacking <= _ACCEPTED:
        return prices
    out = prices.copy()
    out[rows.start + int(np.argmin(limit))] += lacking
    return out


def _frozen_now(stage: Separable, proof: Certificate, rows: slice, frozen: Bools) -> Bools:
    """Rows at the level in every optimal allocation: priced by more than they are above it."""
    level = float(proof.t[0])
    activity = -(stage.rows.matrix @ proof.x)[rows]
    above = np.where(frozen, np.inf, activity / max(level, 1e-300) - 1.0)
    price = np.where(frozen, 0.0, proof.prices[rows])
    now = price * len(price) > np.maximum(above, _PRESENT)
    if not np.any(now):
        now[np.argmin(above)] = True
    return now


def _face(
    stage: Separable, proof: Certificate, rows: slice, now: Bools, limit: Floats, frozen: Bools
) -> tuple[Separable, Separable]:
    """The optimal face of a level, with the scalar on the rows that are not frozen yet.

    First as it is, then without rows that the others imply.

    A price and the slack of its row (a reduced cost and its entry) are compared as shares of the
    objective a row and of the bound (of the most the entry can be): of each pair one is zero on
    the face, the larger is not.
    """
    problem_rows = stage.rows
    objective = max(abs(proof.value), 1e-300)
    family = np.zeros(problem_rows.count, dtype=bool)
    family[rows] = True
    activity = problem_rows.matrix @ proof.x
    bound = np.where(np.isfinite(problem_rows.upper), problem_rows.upper, 0.0)
    slack = (bound - activity) / np.maximum(bound, 1e-300)
    worth = proof.prices * bound / objective * _family_sizes(stage)
    free = problem_rows.lower < problem_rows.upper
    tight = ~family & free & (bound > 0) & (worth > np.maximum(slack, _PRESENT))
    scalar, upper = problem_rows.scalar_matrix.copy(), problem_rows.upper.copy()
    lower = np.where(tight, upper, problem_rows.lower)
    held = np.flatnonzero(family)[now]
    reach = np.minimum(own_limit(stage, structure(stage)), 1e300)
    share = proof.x / np.maximum(reach, 1e-300)
    gone = proof.reduced * reach * len(now) / objective > np.maximum(share, _PRESENT)
    scalar[held], upper[held], lower[held] = 0.0, -proof.t[0], -proof.t[0]
    whole = replace(
        stage,
        upper=np.where(gone, stage.lower, stage.upper),
        scalar_upper=np.maximum([np.min(limit[~frozen], initial=np.inf)], stage.scalar_lower),
        rows=replace(problem_rows, scalar_matrix=scalar, lower=lower, upper=upper),
    )
    implied = _implied(stage, held, np.flatnonzero(tight), ~gone, proof.prices)
    lower, upper = lower.copy(), upper.copy()
    lower[implied], upper[implied] = -np.inf, np.inf
    return whole, replace(whole, rows=replace(whole.rows, lower=lower, upper=upper))


def _held_above(
    stage: Separable, proof: Certificate, rows: slice, now: Bools, limit: Floats, frozen: Bools,
    given: float,
) -> Separable:  # fmt: skip
    """What keeps a level, but for a share: its frozen rows at least there, without the scalar."""
    scalar, upper = stage.rows.scalar_matrix.copy(), stage.rows.upper.copy()
    held = np.arange(rows.start, rows.stop)[now]
    scalar[held], upper[held] = 0.0, -(1.0 - given) * proof.t[0]
    return replace(
        stage,
        scalar_upper=np.maximum([np.min(limit[~frozen], initial=np.inf)], stage.scalar_lower),
        rows=replace(stage.rows, scalar_matrix=scalar, upper=upper),
    )


def _family_sizes(stage: Separable) -> Floats:
    """(rows,) number of rows in each row's family."""
    out = np.ones(stage.rows.count)
    for family in stage.rows.families:
        out[family.start : family.stop] = family.stop - family.start
    return out


def _implied(stage: Separable, held: Ints, tight: Ints, kept: Bools, prices: Floats) -> Ints:
    """One held row a component of the market that a level clears, which the other rows imply.

    Rows that share entries form a component; its prices add its equalities up to 0 = 0, so one of
    them is redundant, and left in it would let prices grow without end.
    """
    rows = np.concatenate([held, tight])
    part = stage.rows.matrix.tocsr()[rows][:, np.flatnonzero(kept)]
    blocks: list[list[Any]] = [[None, part], [part.T, None]]
    links: Any = sp.block_array(blocks, format="csr")
    _, label = csgraph.connected_components(links, directed=False)
    order = np.argsort(-prices[held], kind="stable")
    _, first = np.unique(label[: len(held)][order], return_index=True)
    return held[order[first]]


def _remaining(settings: Settings, parts: list[Iterate]) -> Settings:
    limit = settings.time_limit
    if limit is not None:
        limit = max(0.0, limit - sum(part.timings.total for part in parts))
    return replace(settings, time_limit=limit, start=None)


def _joined(parts: list[Iterate]) -> Iterate:
    last = parts[-1]
    return replace(
        last,
        prices=parts[0].prices,
        history=join([part.history for part in parts]),
        timings=Timings(
            build=sum(part.timings.build for part in parts),
            iterate=sum(part.timings.iterate for part in parts),
        ),
    )
