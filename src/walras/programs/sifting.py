"""Linear programs with many more columns than rows, solved on a growing set of columns.

Sifting (Bixby, Gregory, Lustig, Marsten and Shanno, Operations Research 40(5), 1992): columns that
are left out rest at the bound nearest zero; those whose reduced cost asks for them come in, until
none does. Shared scalars make prices of few columns misleading, and are not sifted.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from walras.programs.highs import Answer, LinearProgram, solve_program
from walras.progress import Progress
from walras.settings import Settings
from walras.status import Status
from walras.types import Bools, Floats

WIDE = 30  # columns a row from which sifting pays
_SHORT = 8  # nonzeros of a column at most; a shared scalar has more
_FIRST = 8  # cheapest columns of each row to begin with
_MORE = 4  # columns a row at most that come in at once
_TOLERANCE = 1e-7  # of reduced costs, as HiGHS has it, where the largest cost is one or more
_ROUNDS = 30


def is_wide(program: LinearProgram) -> bool:
    """Whether sifting pays: a continuous program with many short columns a row."""
    rows, columns = program.matrix.shape
    if program.is_integer or rows == 0 or columns < WIDE * rows:
        return False
    return int(np.max(np.diff(program.matrix.indptr))) <= _SHORT


def sift(
    program: LinearProgram, settings: Settings, restate: Callable[[Progress], Progress]
) -> Answer | None:
    """Solve a wide program through programs with some of its columns.

    Args:
        program: The program, of which :func:`is_wide` holds.
        settings: As of :func:`walras.programs.highs.solve_program`; the time limit is for all.
        restate: Turns a step of the program into one of the user's problem.

    Returns:
        The answer; None if the few columns have no feasible point or the set does not settle.
    """
    began = time.perf_counter()
    columns = program.matrix.T.tocsr()
    rest = np.clip(0.0, program.lower, program.upper)
    chosen = _cheapest(program)
    size = min(1.0, float(np.max(np.abs(program.cost), initial=0.0)) or 1.0)
    for _ in range(_ROUNDS):
        left = settings.after(time.perf_counter() - began)
        answer = solve_program(_of(program, chosen, rest), left, restate=restate)
        if answer.status in (Status.INFEASIBLE, Status.UNBOUNDED):
            return None
        x = rest.copy()
        if answer.x is not None:
            x[chosen] = answer.x
            answer = replace(answer, x=x)
        if answer.status is not Status.OPTIMAL:
            return answer
        reduced = program.cost + columns @ answer.prices
        gain = np.maximum(
            np.where(x < program.upper, -reduced, 0.0), np.where(x > program.lower, reduced, 0.0)
        )
        gain[chosen] = 0.0
        asked = np.flatnonzero(gain > _TOLERANCE * size)
        if not len(asked):
            return answer
        most = _MORE * program.matrix.shape[0]
        if len(asked) > most:
            asked = asked[np.argpartition(-gain[asked], most)[:most]]
        chosen[asked] = True
    return None


def _cheapest(program: LinearProgram) -> Bools:
    """(columns,) the cheapest of each row; ties are broken at random."""
    matrix = program.matrix
    rows, columns = matrix.shape
    spread = float(np.max(np.abs(program.cost))) or 1.0
    dither = 1e-3 * spread * np.random.default_rng(0).random(columns)
    column = np.repeat(np.arange(columns), np.diff(matrix.indptr))
    order = np.lexsort(((program.cost + dither)[column], matrix.indices))
    start = np.cumsum(np.bincount(matrix.indices, minlength=rows))
    rank = np.arange(len(order)) - np.concatenate([[0], start])[matrix.indices[order]]
    chosen = np.zeros(columns, dtype=bool)
    chosen[column[order[rank < _FIRST]]] = True
    return chosen


def _of(program: LinearProgram, chosen: Bools, rest: Floats) -> LinearProgram:
    """The program of the chosen columns, the others at rest."""
    used = program.matrix @ np.where(chosen, 0.0, rest)
    return LinearProgram(
        cost=program.cost[chosen],
        lower=program.lower[chosen],
        upper=program.upper[chosen],
        matrix=program.matrix[:, np.flatnonzero(chosen)],
        row_lower=program.row_lower - used,
        row_upper=program.row_upper - used,
    )
