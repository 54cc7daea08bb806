"""Leximin by levels: solve max-min, stay on its optimal face, raise the rest.

After a level t* complementarity tells which rows are at t* in *every* optimal allocation (those
with a positive price), which entries are zero (positive reduced cost) and which constraints are
tight (positive price). The next level is solved on that face: its rows as equalities, its zero
entries gone, the scalar left on the other rows only. Inequalities that can only hold as equalities
would leave an interior point no interior. What entries cost (churn) counts in the first level; all
allocations on its face cost the same, so that later levels cost no more. Source: Ogryczak and
Sliwinski (2006) for the levels; Gavel (OSDI 2020) calls them water filling.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.sparse import csgraph

from walras.certificate import Certificate, certify, violation
from walras.certificate.structure import own_limit, structure
from walras.engines.iterate import Iterate
from walras.engines.levels import Level, LeximinResult
from walras.engines.settings import Settings
from walras.history import Timings, join
from walras.separable import Family, Leximin, Separable, Side, Utility
from walras.status import Status

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]

_ACCEPTED = 1e-7  # violation at which a later level still counts; the last repair mends it
_PRESENT = 1e-9  # share of the objective or of a bound below which a number counts as zero
_NOTHING = 1e-6  # share of a job's own limit below which a level is no scale to measure by
_SLICE = 1_000_000  # entries looked at together
_STOPPED = (Status.LIMIT, Status.INTERRUPTED)
_SHARP = 1e-11  # tolerance of a level: what is zero and what is not must be told apart
_SAME = 1e-7  # relative: levels this near to one another are one
_LEAST = 1e-12  # tolerance that settings allow
_OWN, _GIVEN = 0.9, 0.1  # shares of a coarse tolerance: of a level, and of what the next may take


def leximin(
    spec: Leximin,
    engine: Callable[[Separable, Settings], Iterate],
    settings: Settings,
    *,
    coarse: bool = False,
    spare: Callable[[Separable, Settings], Iterate] | None = None,
    heuristic: bool = False,
) -> LeximinResult:
    """Raise the levels one after the other until none is left, or a limit is reached.

    Args:
        spec: The problem and its number of levels.
        engine: What solves a level.
        settings: As for one solve; the time limit is for all levels together.
        coarse: Whether the engine cannot tell what is zero on the optimal face. Each level is then
            solved to the tolerance, and the rows frozen at it stay above it, less a part of that.
        spare: What solves a later level that the engine does not prove to the tolerance, if any.
        heuristic: Whether a level that the engine does not prove is the last: the rows that it
            holds down are not those of the optimum.
    """
    rows = slice(spec.rows.start, spec.rows.stop)
    tolerance = _OWN * settings.tolerance if coarse else min(_SHARP, settings.tolerance)
    sharp = replace(settings, tolerance=max(tolerance, _LEAST))
    limit = row_limits(spec.problem)[rows]
    frozen = np.zeros(len(limit), dtype=bool)
    stage, left, whole = spec.problem, sharp, spec.problem
    levels: list[Level] = []
    parts: list[Iterate] = []
    while len(levels) < spec.levels and not np.all(frozen):
        run = partial(_proved, engine, spare, settings.tolerance) if levels and spare else engine
        stage, found = _solved(stage, whole, run, left)
        stopped = found.status in _STOPPED
        stopped |= heuristic and found.status is not Status.OPTIMAL
        prices = _off_ceiling(stage, found.prices, rows, np.where(frozen, np.inf, limit))
        proof = certify(stage, found.x, found.t, prices, threads=settings.workers)
        if levels and (stopped or not proof.violation <= _ACCEPTED):
            parts.append(replace(found, x=parts[-1].x, t=parts[-1].t))
            break  # what an unfinished level found is not known to keep the levels before it
        parts.append(replace(found, x=proof.x, t=found.t))
        level = float(proof.t[0])
        same = settings.tolerance if coarse else _SAME
        now = _frozen_now(stage, proof, rows, frozen)
        now |= ~frozen & (limit <= level * (1.0 + same))
        bound = level + proof.value - proof.bound
        prices = proof.prices[: spec.problem.rows.count]  # the row of what is paid comes after
        _add(levels, Level(level, bound, _gap(stage, proof), now, prices), same)
        frozen |= now
        left = _remaining(sharp, parts)
        if stopped:
            break
        given = _GIVEN * settings.tolerance * abs(proof.value) if coarse else 0.0
        if np.any(stage.cost):
            given /= 2.0  # half for the level, half for what it costs
            stage, whole, proof = _paid(stage, proof, given)
        if coarse:
            whole = stage = _held_above(whole, proof, rows, now, limit, frozen, given)
        else:
            whole, stage = _face(stage, whole, proof, rows, now, limit, frozen)
    finished = len(levels) == spec.levels or bool(np.all(frozen))
    return LeximinResult(_joined(parts), tuple(levels), finished)


def _add(levels: list[Level], level: Level, same: float) -> None:
    """Add a level, or more rows to the last one where that is as high.

    At a vertex of the prices some rows of a level have none; they are found one after the other.
    """
    last = levels[-1] if levels else None
    if last is None or abs(level.value - last.value) > same * abs(last.value):
        levels.append(level)
        return
    levels[-1] = Level(
        last.value,
        max(last.bound, level.bound),
        max(last.gap, level.gap),
        last.frozen | level.frozen,
        0.5 * (last.prices + level.prices),
    )


def _gap(stage: Separable, proof: Certificate) -> float:
    """The gap of a level; one above its bound does not hold the levels before it by as much."""
    if not np.isfinite(proof.bound):
        return proof.gap
    return max(proof.gap, (proof.bound - proof.value) / max(abs(proof.bound), _unit(stage, proof)))


def _unit(stage: Separable, proof: Certificate) -> float:
    """A level as a scale; where the price of churn leaves a job nothing the level is rounding."""
    most = float(stage.scalar_upper[0])
    return max(float(proof.t[0]), _NOTHING * most if np.isfinite(most) else 0.0, 1e-300)


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


def _proved(
    engine: Callable[[Separable, Settings], Iterate],
    spare: Callable[[Separable, Settings], Iterate],
    tolerance: float,
    stage: Separable,
    settings: Settings,
) -> Iterate:
    """A later level by the engine, or by the spare one where it breaks down.

    Where entries have a cost the optimal face is often a single point: there an interior point has
    no interior.
    """
    found = engine(stage, settings)
    if found.status in (Status.OPTIMAL, *_STOPPED):
        return found
    proof = certify(stage, found.x, found.t, found.prices, threads=settings.workers)
    if proof.violation <= _ACCEPTED and _gap(stage, proof) <= tolerance:
        return found
    again = spare(stage, _remaining(settings, [found]))
    return replace(_joined([found, again]), prices=again.prices)


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
    prices lack to one) says that this row is the one that cannot rise. What its entries would bring
    more is charged to the packing row that limits them: a certificate raises that price for entries
    without upper bounds of their own alone.
    """
    lacking = 1.0 - float(stage.rows.scalar_matrix[:, 0] @ prices)
    if lacking <= _ACCEPTED:
        return prices
    out, row = prices.copy(), rows.start + int(np.argmin(limit))
    out[row] += lacking
    matrix, shape = stage.rows.matrix, structure(stage)
    at = np.flatnonzero(matrix.indices == row)
    entry = np.searchsorted(matrix.indptr, at, side="right") - 1
    owners = np.unique(shape.cap[entry])
    if len(owners) == 1 and owners[0] >= 0:
        gain = np.max(-matrix.data[at] / shape.coefficient[entry])
        out[owners[0]] += lacking * max(float(gain), 0.0)
    return out


def _frozen_now(stage: Separable, proof: Certificate, rows: slice, frozen: Bools) -> Bools:
    """Rows at the level in every optimal allocation: priced by more than they are above it."""
    activity = -(stage.rows.matrix @ proof.x)[rows]
    above = np.where(frozen, np.inf, (activity - float(proof.t[0])) / _unit(stage, proof))
    price = np.where(frozen, 0.0, proof.prices[rows])
    now = price * len(price) > np.maximum(above, _PRESENT)
    if not np.any(now):
        now[np.argmin(above)] = True
    return now


def _paid(
    stage: Separable, proof: Certificate, given: float
) -> tuple[Separable, Separable, Certificate]:
    """The first level and what later ones keep of it, with a row for what its entries cost.

    An allocation that keeps the level and costs no more keeps the value. Later levels have no cost
    of their own: on the face all cost the same. As it implies the row, the first has it unbounded.
    """
    rows, spent = stage.rows, float(stage.cost @ proof.x)
    longer = replace(
        rows,
        matrix=sp.csc_array(sp.vstack([rows.matrix, sp.csr_array(stage.cost[None, :])])),
        scalar_matrix=np.vstack([rows.scalar_matrix, np.zeros((1, stage.scalars))]),
        lower=np.append(rows.lower, -np.inf),
        upper=np.append(rows.upper, np.inf),
        side=np.append(rows.side, np.int8(Side.COUPLED)),
        owner=np.append(rows.owner, np.int32(-1)),
        utility=np.append(rows.utility, np.int8(Utility.NONE)),
        weight=np.append(rows.weight, 1.0),
        parameter=np.append(rows.parameter, 0.0),
        families=(*rows.families, Family("cost", rows.count, rows.count + 1)),
    )
    bounded = replace(longer, upper=np.append(rows.upper, spent + given))
    whole = replace(stage, cost=np.zeros(stage.entries), constant=0.0, rows=bounded)
    priced = replace(proof, prices=np.append(proof.prices, 0.0))
    return replace(stage, rows=longer), whole, priced


def _face(
    stage: Separable, whole: Separable, proof: Certificate, rows: slice, now: Bools, limit: Floats,
    frozen: Bools,
) -> tuple[Separable, Separable]:  # fmt: skip
    """The optimal face of a level, with the scalar on the rows that are not frozen yet.

    First as it is, then without rows that the others imply. A price and the slack of its row (a
    reduced cost and its entry) are compared as shares of the level a row and of the bound (of the
    most the entry can be): of each pair one is zero on the face, the larger is not. Entries rest at
    their upper bound where the reduced cost is negative.

    Args:
        stage: The level, without rows that were held to be implied.
        whole: The level with them.
        proof: Its certificate.
        rows: The family that is raised.
        now: (family rows,) True on those frozen at this level.
        limit: (family rows,) of :func:`row_limits`.
        frozen: (family rows,) True on those frozen.
    """
    problem_rows = whole.rows
    level = _unit(whole, proof)
    dropped = np.isinf(stage.rows.lower) & np.isinf(stage.rows.upper)
    family = np.zeros(problem_rows.count, dtype=bool)
    family[rows] = True
    activity = problem_rows.matrix @ proof.x
    bound = np.where(np.isfinite(problem_rows.upper), problem_rows.upper, 0.0)
    slack = (bound - activity) / np.where(bound > 0, bound, 1.0)
    worth = proof.prices * bound / level * _family_sizes(whole)
    free = (problem_rows.lower < problem_rows.upper) & ~dropped
    tight = ~family & free & (bound > 0) & (worth > np.maximum(slack, _PRESENT))
    scalar, upper = problem_rows.scalar_matrix.copy(), problem_rows.upper.copy()
    lower = np.where(tight, upper, problem_rows.lower)
    held = np.flatnonzero(family)[now]
    scalar[held], upper[held], lower[held] = 0.0, -proof.t[0], -proof.t[0]
    if proof.t[0] <= _PRESENT / _NOTHING * level:  # to keep nothing would be to keep rounding
        upper[held], lower[held] = 0.0, -np.inf
    gone, full = _at_bounds(whole, proof, level / len(now))
    face = replace(
        whole,
        lower=np.where(full, whole.upper, whole.lower),
        upper=np.where(gone, whole.lower, whole.upper),
        scalar_upper=np.maximum([np.min(limit[~frozen], initial=np.inf)], whole.scalar_lower),
        rows=replace(problem_rows, scalar_matrix=scalar, lower=lower, upper=upper),
    )
    kept = face.lower < face.upper
    left = whole.rows.matrix[:, np.flatnonzero(kept)].indices
    # Rows of fixed entries alone say 0 = 0, but for rounding.
    dropped |= (np.bincount(left, minlength=len(dropped)) == 0) & (scalar[:, 0] == 0)
    dropped[_implied(stage, held, np.flatnonzero(tight), kept, proof.prices)] = True
    lower, upper = np.where(dropped, [[-np.inf], [np.inf]], [lower, upper])
    return face, replace(face, rows=replace(face.rows, lower=lower, upper=upper))


def _at_bounds(problem: Separable, proof: Certificate, unit: float) -> tuple[Bools, Bools]:
    """(entries,) each: True where an entry is at its lower (upper) bound in all of the face."""
    top = np.minimum(problem.upper, 1e300)
    reach = np.minimum(own_limit(problem, structure(problem)), top)
    share = proof.x / np.maximum(reach, 1e-300)
    room = (top - proof.x) / np.maximum(top, 1e-300)
    worth = proof.reduced * reach / unit
    full = np.isfinite(problem.upper) & (-worth > np.maximum(room, _PRESENT))
    return worth > np.maximum(share, _PRESENT), full


def _held_above(
    stage: Separable, proof: Certificate, rows: slice, now: Bools, limit: Floats, frozen: Bools,
    given: float,
) -> Separable:  # fmt: skip
    """What keeps a level, but for ``given``: its frozen rows at least there, without the scalar."""
    scalar, upper = stage.rows.scalar_matrix.copy(), stage.rows.upper.copy()
    held = np.arange(rows.start, rows.stop)[now]
    scalar[held], upper[held] = 0.0, given - proof.t[0]
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
    them is redundant, and left in it would let prices grow without end. Where entries have a cost
    they add up to that cost, and none is.
    """
    rows, entries = np.concatenate([held, tight]), np.flatnonzero(kept)
    part = stage.rows.matrix.tocsr()[rows][:, entries]
    blocks: list[list[Any]] = [[None, part], [part.T, None]]
    links: Any = sp.block_array(blocks, format="csr")
    _, label = csgraph.connected_components(links, directed=False)
    order = np.argsort(-prices[held], kind="stable")
    component, first = np.unique(label[: len(held)][order], return_index=True)
    costly = np.unique(label[len(rows) :][stage.cost[entries] != 0])
    return held[order[first[~np.isin(component, costly)]]]


def _remaining(settings: Settings, parts: list[Iterate]) -> Settings:
    spent = sum(part.timings.total for part in parts)
    return replace(settings.after(spent), start=None)


def _joined(parts: list[Iterate]) -> Iterate:
    last = parts[-1]
    return replace(
        last,
        prices=parts[0].prices,
        history=join([part.history for part in parts]),
        timings=Timings(
            build=sum(part.timings.build for part in parts),
            iterate=sum(part.timings.iterate for part in parts),
            ideal=sum(part.timings.ideal for part in parts),
        ),
    )
