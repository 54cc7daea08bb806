"""Which engine a problem goes to: a cost model, written down.

Seconds on two cores, fitted by hand to runs of cluster problems of 3x30 to 456x2,000 and of flows
on parts of ASN2k, UsCarrier and Kdl:

    interior         30 (b + a n + g w^2 + f w^3 + u P) + e N
    exact, linear    h + r R^1.75 (a shared scalar) or q N (none), + s N^1.5     HiGHS
                     (q is ten times smaller where it takes the primal simplex method,
                      r ten times larger where allocating nothing is not allowed)
    exact, sifted    h + v R^2 + y N^1.5                                         HiGHS
    exact, others    k + c N                                                     Clarabel
    admm             (20 + p / sqrt(tolerance)) (b + m N), for tolerances of 1e-3 and more, and
                     no shared scalar in narrow rows

with n columns kept, w narrow rows, P pairs of nonzeros in a block, R rows and N nonzeros.

The first-order engine gives up its copies (``collapse``) where they would not fit into memory, and
never for speed: on UsCarrier's flows an iteration without copies costs 0.7 of one with them, but
1 % takes 2 to 4 times as many, at all demand levels (docs/explanation/first_order.md).
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace

import numpy as np

from walras.engines.exact import is_linear
from walras.engines.highs import PRIMAL_BELOW
from walras.engines.integer.engine import SMALL
from walras.engines.interior.columns import FIRST
from walras.engines.interior.form import MAX_BORDER, MAX_SLOTS
from walras.engines.sifting import WIDE
from walras.errors import InputError
from walras.separable import Separable, Side

ENGINES = ("interior", "admm", "exact", "integer", "pop")

_ITERATIONS = 30.0
_BASE, _COLUMN, _SQUARE, _CUBE, _PASS = 7e-4, 1.6e-7, 8e-9, 6e-11, 4e-8
_HIGHS, _HIGHS_ROWS, _HIGHS_NONZERO, _HIGHS_FILL = 5e-4, 2.5e-7, 5e-6, 3e-9
_HIGHS_PRIMAL, _HIGHS_PHASE_ONE = 5e-7, 10.0
_SIFTED_ROWS, _SIFTED_FILL = 2e-7, 1.2e-9
_PAIR = 1e-9
_CLARABEL, _CLARABEL_NONZERO = 8e-3, 9e-6
_ADMM_NONZERO, _ADMM_ITERATIONS = 2.5e-8, 10.0
_ADMM_TOLERANCE = 1e-3
_ADMM_SETUP = 20.0  # iterations that stating and proving cost
_COPY_BYTES, _ENTRY_BYTES = 36.0, 120.0  # that the first-order engine holds
_MEMORY_SHARE = 0.5  # of the machine's memory, which the copies may fill
_NARROW_LIMIT = 12_000
_EXACT_LIMIT = 3_000_000  # nonzeros from which neither HiGHS nor Clarabel ends


@dataclass(frozen=True)
class Choice:
    """An engine and why.

    Attributes:
        engine: Its name.
        reason: In words.
        seconds: Predicted seconds of each engine that could do it.
        collapse: Whether the first-order engine does without copies.
    """

    engine: str
    reason: str
    seconds: dict[str, float]
    collapse: bool = False


def choose(problem: Separable, engine: str = "auto", tolerance: float = 1e-6) -> Choice:
    """The engine for a problem.

    Args:
        problem: What is to be solved.
        engine: ``auto``, or the name of an engine, which is then taken.
        tolerance: Gap that is asked for; first-order iterations are for a few digits.

    Raises:
        InputError: Unknown name.
    """
    if engine in ENGINES:
        return _fitted(Choice(engine, "asked for", {}), problem)
    if engine != "auto":
        raise InputError(
            f"there is no engine {engine!r}",
            where="engine",
            allowed=f"auto, {', '.join(ENGINES)}",
            remedy="use one of these names",
        )
    return _fitted(_quickest(problem, tolerance), problem)


def _fitted(choice: Choice, problem: Separable) -> Choice:
    """The choice, without copies where the first-order engine's would not fit into memory."""
    need = _COPY_BYTES * problem.rows.matrix.nnz + _ENTRY_BYTES * problem.entries
    have = memory()
    if choice.engine != "admm" or need <= _MEMORY_SHARE * have:
        return choice
    words = f"without copies, with which it takes {need / 2**30:.1f} of {have / 2**30:.1f} GiB"
    return replace(choice, reason=f"{choice.reason}; {words}", collapse=True)


def memory() -> float:
    """Bytes of memory of this machine; ``inf`` where it does not say."""
    names = getattr(os, "sysconf_names", {})  # no such thing on Windows
    if "SC_PHYS_PAGES" not in names or "SC_PAGE_SIZE" not in names:
        return float("inf")
    return float(os.sysconf("SC_PHYS_PAGES")) * float(os.sysconf("SC_PAGE_SIZE"))


def _quickest(problem: Separable, tolerance: float) -> Choice:
    """The engine of the least predicted seconds, of those that can do it."""
    if problem.integer is not None and np.any(problem.integer):
        whole = int(np.sum(problem.integer))
        if whole > SMALL and is_linear(problem):
            return Choice("integer", f"{whole} entries are whole", {})
        return Choice("exact", "some entries are integer", {})
    free = int(np.sum(np.isinf(problem.lower) & np.isinf(problem.upper)))
    if free + problem.scalars > MAX_BORDER:
        return Choice("exact", f"{free} entries are free, more than a border of {MAX_BORDER}", {})
    narrow = narrow_rows(problem)
    if narrow > _NARROW_LIMIT:
        large = problem.rows.matrix.nnz > _EXACT_LIMIT
        return Choice("admm" if large else "exact", f"the narrow side has {narrow} rows", {})
    seconds = {"interior": _interior_seconds(problem, narrow), "exact": _exact_seconds(problem)}
    if tolerance >= _ADMM_TOLERANCE and not _narrow_scalar(problem):
        seconds["admm"] = _admm_seconds(problem, tolerance)
    best, second = sorted(seconds, key=lambda name: seconds[name])[:2]
    words = f"predicted {seconds[best]:.2g} s, against {seconds[second]:.2g} s of {second}"
    return Choice(best, words, seconds)


def narrow_rows(problem: Separable) -> int:
    """Rows that stay when the rows of the wide side are eliminated, ``MAX_SLOTS`` a block."""
    return min(_left_over(problem, Side.DEMAND), _left_over(problem, Side.RESOURCE))


def _left_over(problem: Separable, side: Side) -> int:
    """Rows that are not a side's own, or more than its blocks can eliminate."""
    rows = problem.rows
    own = (rows.side == side) & (rows.owner >= 0)
    each = np.bincount(rows.owner[own])
    return int(rows.count - np.sum(np.minimum(each, MAX_SLOTS)))


def _narrow_scalar(problem: Separable) -> bool:
    """Whether a shared scalar stands in narrow rows, such as the links' of a utilisation.

    First-order iterations then have not proved a per cent on hard instances in the time of many
    interior points.
    """
    demands, resources = (_left_over(problem, side) for side in (Side.DEMAND, Side.RESOURCE))
    wide = Side.DEMAND if demands <= resources else Side.RESOURCE
    held = np.any(problem.rows.scalar_matrix != 0, axis=1)
    return bool(np.any(problem.rows.side[held] != wide))


def _interior_seconds(problem: Separable, narrow: int) -> float:
    blocks = max(*problem.shape, 1)
    kept = min(problem.entries, 2 * FIRST * blocks)
    held = problem.rows.matrix.nnz / max(problem.entries, 1) * kept / blocks
    pairs = blocks * held**2
    one = _BASE + _COLUMN * kept + _SQUARE * narrow**2 + _CUBE * narrow**3 + _PAIR * pairs
    return float(_ITERATIONS * one + _PASS * problem.rows.matrix.nnz)


def _admm_seconds(problem: Separable, tolerance: float) -> float:
    iterations = _ADMM_SETUP + _ADMM_ITERATIONS / np.sqrt(tolerance)
    return float(_BASE * iterations + _ADMM_NONZERO * problem.rows.matrix.nnz * iterations)


def _exact_seconds(problem: Separable) -> float:
    nonzeros = float(problem.rows.matrix.nnz)
    if not is_linear(problem):
        return _CLARABEL + _CLARABEL_NONZERO * nonzeros
    rows = float(problem.rows.count)
    if problem.scalars == 0 and problem.entries >= WIDE * rows:
        return float(_HIGHS + _SIFTED_ROWS * rows**2 + _SIFTED_FILL * nonzeros**1.5)
    pivot = _HIGHS_PRIMAL if nonzeros < PRIMAL_BELOW else _HIGHS_NONZERO
    pivots = _HIGHS_ROWS * rows**1.75 if problem.scalars else pivot * nonzeros
    may_rest = np.all(problem.rows.lower <= 0) and np.all(problem.rows.upper >= 0)
    if problem.scalars and not may_rest:
        pivots *= _HIGHS_PHASE_ONE
    fill = 0.0 if nonzeros < PRIMAL_BELOW else _HIGHS_FILL * nonzeros**1.5
    return float(_HIGHS + pivots + fill)
