"""Leximin by levels: solve max-min, keep its optimal face, raise the other rows, repeat.

After a level t*, complementary slackness shows which rows are at t* in *every* optimal allocation
(positive price), which entries are zero (positive reduced cost) and which constraints are tight
(positive price). The next level is solved on that face: tight rows become equalities, zero entries
are removed, and the scalar stays on the other rows only. (Some inequalities can only hold with
equality. An interior-point method fails on them, so they become equations.) Costs of entries
(churn) count in the first level. All allocations on its face cost the same, so later levels cost
no more. Source: Ogryczak and Sliwinski (2006); Gavel (OSDI 2020) calls it water filling.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np

from walras.certificate import Certificate, certify, violation
from walras.certificate.structure import own_limit, structure
from walras.iterate import Iterate
from walras.leximin.levels import Level, LeximinResult
from walras.leximin.optimal_face import PRESENT, Frozen, next_level, unit_of
from walras.programs.attempt import attempted
from walras.progress import Timings, join
from walras.separable import Leximin, Separable
from walras.settings import Settings
from walras.status import Status
from walras.types import Bools, Floats

_ACCEPTED = 1e-7  # violation at which a later level still counts; the last repair mends it
_SLICE = 1_000_000  # entries in one pass
_STOPPED = (Status.LIMIT, Status.INTERRUPTED)
_SHARP = 1e-11  # tolerance of a level: it must separate zeros from small numbers
_SAME = 1e-7  # relative: levels this close count as one
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
    """Find the levels one after another until none is left or a limit is reached.

    Args:
        spec: The problem and its number of levels.
        engine: Solves a level.
        settings: As for one solve; the time limit covers all levels.
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
        asked = partial(_solved, stage, whole, run, left)
        solved = attempted(asked, None) if levels else asked()
        if solved is None:  # the earlier levels stay
            parts[-1] = replace(parts[-1], status=Status.INACCURATE)
            break
        stage, found = solved
        stopped = found.status in _STOPPED
        stopped |= heuristic and found.status is not Status.OPTIMAL
        prices = _off_ceiling(stage, found.prices, rows, np.where(frozen, np.inf, limit))
        proof = certify(stage, found.x, found.t, prices, threads=settings.workers)
        if levels and (stopped or not proof.violation <= _ACCEPTED):
            parts.append(replace(found, x=parts[-1].x, t=parts[-1].t))
            break  # an unfinished level may break the levels before it
        parts.append(replace(found, x=proof.x, t=found.t))
        level = float(proof.t[0])
        same = settings.tolerance if coarse else _SAME
        now = _frozen_now(stage, proof, rows, frozen)
        now |= ~frozen & (limit <= level * (1.0 + same))
        bound = level + proof.value - proof.bound
        prices = proof.prices[: spec.problem.rows.count]  # the cost row comes after it
        _add(levels, Level(level, bound, _gap(stage, proof), now, prices), same)
        frozen |= now
        left = _remaining(sharp, parts)
        if stopped:
            break
        given = _GIVEN * settings.tolerance * abs(proof.value) if coarse else None
        whole, stage = next_level(stage, whole, proof, Frozen(rows, now, frozen, limit), given)
    finished = len(levels) == spec.levels or bool(np.all(frozen))
    return LeximinResult(_joined(parts), tuple(levels), finished)


def _add(levels: list[Level], level: Level, same: float) -> None:
    """Add a level, or add rows to the last level if the new one is as high.

    At a vertex of the dual, some rows of a level have no price. They are found one after another.
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
    """The gap of a level; a level above its bound breaks earlier levels by that much."""
    if not np.isfinite(proof.bound):
        return proof.gap
    return max(
        proof.gap, (proof.bound - proof.value) / max(abs(proof.bound), unit_of(stage, proof))
    )


def _solved(
    stage: Separable,
    whole: Separable,
    engine: Callable[[Separable, Settings], Iterate],
    settings: Settings,
) -> tuple[Separable, Iterate]:
    """Solve a level without rows that are believed implied; with them if one breaks."""
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
    """Solve a later level by the engine, or by the spare one if it fails.

    With costs on entries the optimal face is often a single point, where interior-point methods
    fail.
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
    """(rows,) an upper bound of each row's ``-G x`` from its entries' packing rows alone.

    For the row ``t - y_j <= 0`` of a job it is the throughput on its best type, which no
    allocation exceeds.
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
    """Prices of a max-min problem, with the price on the scalar's bound moved to the job's row.

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
    """Move the price on the scalar's bound to the row whose limit is that bound.

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
    """Rows at the level in every optimal allocation: those whose price exceeds their slack."""
    activity = -(stage.rows.matrix @ proof.x)[rows]
    above = np.where(frozen, np.inf, (activity - float(proof.t[0])) / unit_of(stage, proof))
    price = np.where(frozen, 0.0, proof.prices[rows])
    now = price * len(price) > np.maximum(above, PRESENT)
    if not np.any(now):
        now[np.argmin(above)] = True
    return now


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
