"""Repair of prices so that they prove a bound: signs, free columns, and unlimited entries.

Any repaired prices prove a valid bound. The repair only keeps the rounding and the residuals of an
engine's prices from spoiling the bound.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
import scipy.sparse.linalg as spla

from walras.certificate.contribution import asked_moves, may_move, one_way
from walras.certificate.structure import Structure
from walras.separable import Separable, Utility
from walras.types import Bools, Floats, Longs

Bounds = tuple[Bools, Bools]

PASSES = 4
HUGE = 1e200  # largest price, so that products of prices with data stay finite
# share of the largest cost below which reduced costs are zero up to an engine's tolerance
_SETTLED = 1e-6
_ALIKE = 10.0  # entries this many times larger than the worst one are at rest, too
_NO_PRICE = 1e-14  # share of the largest price below which a price counts as zero
_STIFF = 1e-9  # relative mobility of prices that should stay


def project_signs(problem: Separable, pi: Floats) -> Floats:
    """Prices with the sign that their row allows, inside the conjugate's domain of a utility."""
    rows = problem.rows
    return project_row_signs(rows.utility, rows.lower, rows.upper, pi)


def project_row_signs(
    kind: npt.NDArray[np.int8], lower: Floats, upper: Floats, pi: Floats
) -> Floats:
    """The prices of :func:`project_signs`, for rows of any shape; non-finite prices count as zero.

    Args:
        kind: Values of :class:`walras.separable.Utility`.
        lower: Lower bounds.
        upper: Upper bounds.
        pi: Prices.
    """
    pi = np.clip(np.nan_to_num(pi, nan=0.0, posinf=0.0, neginf=0.0), -HUGE, HUGE)
    plain = kind == Utility.NONE
    pi = np.where(np.isinf(upper) & plain, np.minimum(pi, 0.0), pi)
    pi = np.where(np.isinf(lower) & plain, np.maximum(pi, 0.0), pi)
    falling = np.isin(kind, (Utility.LOG, Utility.POWER))
    return np.where(falling, np.minimum(pi, -np.finfo(float).tiny), pi)


def balance_free(
    problem: Separable, shape: Structure, pi: Floats, held: Bools | None = None
) -> Floats:
    """Prices moved least, relative to their size, so that free columns have a reduced cost of zero.

    With C the columns of the free scalars and entries and D = |pi|: pi - D C (C'D C)^-1 (c + C'pi).

    Args:
        problem: The problem.
        shape: Its structure.
        pi: (rows,) prices.
        held: (rows,) True on prices that should stay if possible.
    """
    columns = shape.free_columns
    if columns is None:
        return pi
    cost = np.concatenate([problem.scalar_cost[shape.free_scalars], problem.cost[shape.free]])
    either = problem.rows.lower == problem.rows.upper
    either |= problem.rows.utility == Utility.QUADRATIC
    for _ in range(PASSES):
        size = np.abs(pi)
        typical = float(np.mean(size[size > 0])) if np.any(size > 0) else 1.0
        weight = np.where(either, size + typical, size)
        weight = weight if held is None else np.where(held, _STIFF * weight, weight)
        weighted = sp.diags_array(weight) @ columns
        system = sp.csc_array(columns.T @ weighted)
        diagonal = system.diagonal()
        ridge = 1e-14 * float(np.max(diagonal, initial=0.0)) + np.finfo(float).tiny
        system = sp.csc_array(system + sp.diags_array(np.full(len(diagonal), ridge)))
        with np.errstate(over="ignore", invalid="ignore"):
            move = weighted @ spla.splu(system).solve(cost + columns.T @ pi)
        if not np.all(np.isfinite(move)) or not np.any(move):
            break
        pi = project_signs(problem, pi - move)
    return pi


def settled(problem: Separable, pi: Floats, endless: Bounds) -> Floats:
    """Prices moved least so that entries at rest on their rows have a reduced cost of zero.

    Their reduced costs come only from the tolerance and the rounding of an engine's prices. For
    entries without a bound on one side even such a cost would spoil the bound. Tiny prices count as
    zero, and the others move in proportion to their size, as in :func:`balance_free`.

    Args:
        problem: The problem.
        pi: (rows,) prices.
        endless: (entries,) True without a lower bound, and without an upper one.
    """
    matrix, cost = problem.rows.matrix, problem.cost
    pi = _without_noise(pi)
    candidates = np.flatnonzero((endless[0] | endless[1]) & (problem.quadratic == 0))
    part = sp.csc_array(matrix[:, candidates])
    low, high = endless[0][candidates], endless[1][candidates]
    largest = _SETTLED * float(np.max(np.abs(cost), initial=np.max(np.abs(pi), initial=0.0)))
    for _ in range(2 * PASSES):
        reduced = cost[candidates] + part.T @ pi
        lost = (low & (reduced > 0)) | (high & (reduced < 0))
        worst = float(np.max(np.abs(reduced[lost]), initial=0.0))
        if not 0.0 < worst <= largest:
            break
        near = np.flatnonzero(np.abs(reduced) <= _ALIKE * worst)
        moved = _against(part[:, near], reduced[near], np.abs(pi))
        if not np.all(np.isfinite(moved)):
            break
        pi = _without_noise(project_signs(problem, pi - moved))
    return pi


def _without_noise(pi: Floats) -> Floats:
    return np.where(np.abs(pi) > _NO_PRICE * np.max(np.abs(pi), initial=0.0), pi, 0.0)


def _against(columns: sp.csc_array, reduced: Floats, weight: Floats) -> Floats:
    """D C (C'D C)^-1 r: the least move of prices that removes r from the reduced costs of C."""
    weighted = sp.diags_array(weight) @ columns
    system = sp.csc_array(columns.T @ weighted)
    unit = 1.0 / np.sqrt(np.maximum(system.diagonal(), np.finfo(float).tiny))
    even = sp.diags_array(unit)
    system = sp.csc_array(even @ system @ even + 1e-14 * sp.eye_array(len(unit)))
    with np.errstate(over="ignore", invalid="ignore"):
        return np.asarray(weighted @ (unit * spla.splu(system).solve(unit * reduced)))


def make_dual_feasible(
    problem: Separable, shape: Structure, pi: Floats, reduced: Floats
) -> tuple[Floats, Floats]:
    """Prices moved so that no unbounded entry has a reduced cost that needs a bound.

    Entries in packing rows are repaired in closed form elsewhere. Here each other entry moves the
    price of the row of its largest coefficient among the rows whose price may move that way. If
    that unbalances a free column, the other rows compensate.
    """
    held = np.zeros(len(pi), dtype=bool)
    for _ in range(PASSES):
        lost = _lost(problem, shape, reduced)
        if not len(lost):
            break
        move = _moves(problem, pi, reduced, lost)
        if not np.any(move):
            break
        pi, held = project_signs(problem, pi + move), held | (move != 0)
        if np.any(shape.holds_free & held):
            pi = balance_free(problem, shape, pi, held)
        reduced = problem.cost + problem.rows.matrix.T @ pi
    return pi, reduced


def _lost(problem: Separable, shape: Structure, reduced: Floats) -> Longs:
    """Entries whose reduced cost needs a bound that they do not have."""
    at = shape.loose
    r = reduced[at]
    return at[np.where(np.isinf(problem.upper[at]), r < 0, r > 0)]


def _moves(problem: Separable, pi: Floats, reduced: Floats, lost: Longs) -> Floats:
    """(rows,) the largest move that a lost entry needs of its row, where all need the same sign."""
    rows = problem.rows
    part = sp.coo_array(rows.matrix[:, lost])
    able = may_move(rows.utility, rows.lower, rows.upper, pi)
    return one_way(*asked_moves(part.col, part.row, part.data, reduced[lost], able))
