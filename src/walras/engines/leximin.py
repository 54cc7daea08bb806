"""Leximin by levels: solve max-min, freeze who cannot rise, raise the rest.

After a level t* the rows with a positive price are at t* in every optimal allocation (strict
complementarity, which interior points reach), and so are the rows whose own limit is t*: they are
held at t* and lose the scalar; the others go on. Source: the rounds of Ogryczak and Sliwinski
(2006); Gavel (OSDI 2020) calls it water filling.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from walras.certificate import Certificate, certify
from walras.certificate.structure import structure
from walras.engines.iterate import Iterate
from walras.engines.settings import Settings, Start
from walras.history import Timings, join
from walras.separable import Leximin, Separable
from walras.status import Status

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

_AT_LIMIT = 1e-6  # relative distance from t* within which a row counts as at it
_PRICED = 1e-6  # share of the largest price from which a row counts as priced
_GIVE = 1e-9  # relative slack given to frozen rows, so that rounding cannot make them infeasible


@dataclass(frozen=True, eq=False)
class Level:
    """One level of a leximin solution.

    Attributes:
        value: t* of the level.
        bound: Certified upper bound on it, given the levels below.
        gap: Relative gap between the two.
        frozen: (family rows,) True on the rows frozen at this level.
    """

    value: float
    bound: float
    gap: float
    frozen: Bools


@dataclass(frozen=True, eq=False)
class LeximinResult:
    """All levels and the last level's allocation.

    Attributes:
        iterate: The last level's point, with the first level's prices.
        levels: In order.
    """

    iterate: Iterate
    levels: tuple[Level, ...]


def leximin(
    spec: Leximin, engine: Callable[[Separable, Settings], Iterate], settings: Settings
) -> LeximinResult:
    """Raise the levels one after the other until none is left, or a limit is reached.

    Args:
        spec: The problem and its number of levels.
        engine: What solves a level.
        settings: As for one solve; the time limit is for all levels together.
    """
    problem, rows = spec.problem, slice(spec.rows.start, spec.rows.stop)
    limit = row_limits(problem)[rows]
    frozen = np.zeros(len(limit), dtype=bool)
    floor = np.zeros(len(limit))
    levels: list[Level] = []
    parts: list[Iterate] = []
    left = settings
    for _ in range(spec.levels):
        stage = _stage(problem, rows, frozen, floor, limit)
        found = engine(stage, left)
        proof = certify(stage, found.x, found.t, found.prices)
        parts.append(found)
        if levels and not proof.feasible:
            parts[-1] = replace(parts[-2], status=found.status)
            break
        now = _frozen_now(stage, proof, rows, frozen, limit)
        levels.append(Level(-proof.value, -proof.bound, proof.gap, now))
        floor[now] = -proof.value
        frozen |= now
        left = _remaining(settings, parts, found)
        stopped = found.status in (Status.LIMIT, Status.INTERRUPTED)
        if np.all(frozen) or stopped or left.time_limit == 0.0:
            break
    return LeximinResult(_joined(parts), tuple(levels))


def row_limits(problem: Separable) -> Floats:
    """(rows,) the most that ``-G x`` of each row can be by its entries' own packing rows alone.

    For a row ``t - y_j <= 0`` of a job this is its best type's throughput: no allocation gives the
    job more, whatever the others get.
    """
    shape, matrix = structure(problem), problem.rows.matrix
    entry = np.repeat(np.arange(problem.entries), np.diff(matrix.indptr))
    capped = shape.cap[entry] >= 0
    own = np.where(capped, problem.rows.upper[shape.cap[entry]], np.inf)
    reach = np.where(capped, own / shape.coefficient[entry], np.inf)
    gain = np.where(matrix.data < 0, -matrix.data * np.minimum(reach, problem.upper[entry]), 0.0)
    out = np.zeros(problem.rows.count)
    np.maximum.at(out, matrix.indices, gain)
    return out


def _stage(
    problem: Separable, rows: slice, frozen: Bools, floor: Floats, limit: Floats
) -> Separable:
    """The max-min problem of the rows that are not frozen, the others held where they are."""
    scalar, upper = problem.rows.scalar_matrix.copy(), problem.rows.upper.copy()
    scalar[rows, 0] = np.where(frozen, 0.0, 1.0)
    upper[rows] = np.where(frozen, -(1.0 - _GIVE) * floor, 0.0)
    most = np.minimum(problem.scalar_upper, np.min(limit[~frozen], initial=np.inf))
    return replace(
        problem, scalar_upper=np.maximum(most, problem.scalar_lower),
        rows=replace(problem.rows, scalar_matrix=scalar, upper=upper),
    )


def _frozen_now(
    stage: Separable, proof: Certificate, rows: slice, frozen: Bools, limit: Floats
) -> Bools:
    """Rows that cannot exceed the level: priced ones, and ones at their own limit."""
    level = -proof.value
    activity = -(stage.rows.matrix @ proof.x)[rows]
    near = activity <= level * (1.0 + _AT_LIMIT) + 1e-300
    price = np.where(frozen, 0.0, proof.prices[rows])
    now = ~frozen & near & (price > _PRICED * np.max(price, initial=0.0))
    now |= ~frozen & (limit <= level * (1.0 + _GIVE))
    if not np.any(now):
        now[np.argmin(np.where(frozen, np.inf, activity))] = True
    return now


def _remaining(settings: Settings, parts: list[Iterate], found: Iterate) -> Settings:
    limit = settings.time_limit
    if limit is not None:
        limit = max(0.0, limit - sum(part.timings.total for part in parts))
    return replace(settings, time_limit=limit, start=Start(found.x, found.prices))


def _joined(parts: list[Iterate]) -> Iterate:
    last = parts[-1]
    return replace(
        last, prices=parts[0].prices, history=join([part.history for part in parts]),
        timings=Timings(
            build=sum(part.timings.build for part in parts),
            iterate=sum(part.timings.iterate for part in parts),
        ),
    )
