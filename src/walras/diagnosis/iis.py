"""An irreducible infeasible subsystem (IIS): rows that conflict, but not if any one is left out.

The rows with a multiplier in a Farkas certificate conflict, but some of them may not be needed. The
deletion filter drops each row in turn and keeps it only if the other rows are feasible without it
(Chinneck and Dravnieks, ORSA Journal on Computing 3, 1991). The result is irreducible.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp

from walras.diagnosis.relaxation import Relaxation, columns, row_bounds, row_scale, shortened
from walras.programs.highs import LinearProgram
from walras.programs.rounding import solve_whole
from walras.separable.form import Separable
from walras.settings import Settings
from walras.status import Status
from walras.types import Floats

_MOST = 64  # rows that are filtered: one small program each
_SECONDS = 5.0  # that the filter may take
_SLIGHT = 1e-7  # share of the largest push of an entry that is rounding


@dataclass(frozen=True)
class IIS:
    """Rows that no allocation can meet together.

    Attributes:
        names: The user's names of the rows, those to relax first.
        irreducible: Whether it is proved that the rows are feasible when any one is dropped.
        bounds: Bounds of single entries that take part in the conflict, largest multiplier first.
    """

    names: tuple[str, ...]
    irreducible: bool
    bounds: tuple[str, ...] = ()

    def __str__(self) -> str:
        shown = shortened(self.names[:5], len(self.names))
        if self.bounds:
            shown += f" with {shortened(self.bounds[:3], len(self.bounds))}"
        return shown if self.irreducible else f"{shown} (fewer of them may conflict already)"


def find_iis(problem: Separable, relaxation: Relaxation, settings: Settings) -> IIS:
    """The conflicting rows that the deletion filter leaves.

    Args:
        problem: The problem; integer entries stay integer.
        relaxation: Its least relaxation, which is not zero.
        settings: Limits for HiGHS; the filter takes at most five seconds of their time limit.
    """
    suspects = _suspects(problem, relaxation)
    kept = None if len(suspects) > _MOST else _Filter(problem, relaxation, settings).of(suspects)
    rows = suspects if kept is None else kept
    bounds = _bounds(problem, relaxation.multipliers, rows)
    return IIS(tuple(problem.rows.name(k) for k in rows), kept is not None, bounds)


def _bounds(problem: Separable, multipliers: Floats, rows: Sequence[int]) -> tuple[str, ...]:
    """The bounds of entries that a Farkas certificate of these rows uses.

    An entry that the multipliers push up stops at its upper bound, one that they push down at its
    lower bound; a lower bound of zero goes without saying, and so does a fixed entry in utilities
    alone, such as the constant of a logarithm's argument.
    """
    held = np.zeros(len(multipliers))
    held[list(rows)] = multipliers[list(rows)]
    push = problem.rows.matrix.T @ held
    bound = np.where(push < 0, problem.upper, problem.lower)
    said = np.isfinite(bound) & ((push < 0) | (bound != 0))
    plain = abs(problem.rows.matrix).T @ (~problem.rows.is_utility * 1.0) > 0
    said &= plain | (problem.lower < problem.upper)
    some = np.flatnonzero(said & (np.abs(push) > _SLIGHT * np.max(np.abs(push), initial=0.0)))
    order = some[np.argsort(-np.abs(push[some] * bound[some]), kind="stable")]
    return tuple(
        f"{problem.entry_name(int(k))} {'<=' if push[k] < 0 else '>='} {bound[k] + 0.0:.6g}"
        for k in order
    )


def _suspects(problem: Separable, relaxation: Relaxation) -> list[int]:
    """Rows to relax, then the certificate's other rows by multiplier; all rows without one."""
    rows = relaxation.rows
    if problem.integer is None or not np.any(problem.integer):
        return [int(k) for k in (*rows, *np.setdiff1d(relaxation.support, rows, True))]
    others = np.setdiff1d(np.arange(problem.rows.count), rows)
    return [int(k) for k in (*rows, *others)]


class _Filter:
    """The deletion filter on the rows of one problem, each row in units of its scale."""

    def __init__(self, problem: Separable, relaxation: Relaxation, settings: Settings) -> None:
        self._problem = problem
        matrix = columns(problem)
        low, high = row_bounds(problem, relaxation.positive)
        scale = row_scale(matrix, low, high)
        self._matrix = sp.csr_array(sp.diags_array(1.0 / scale) @ matrix)
        self._low, self._high = low / scale, high / scale
        self._steep = bool(np.any(relaxation.positive))
        self._settings = settings
        limit = np.inf if settings.time_limit is None else settings.time_limit
        self._deadline = time.perf_counter() + min(limit, _SECONDS)

    def of(self, rows: Sequence[int]) -> list[int] | None:
        """An irreducible subset of the rows, last ones dropped first; None if not proved."""
        kept = list(rows)
        if self._can_hold(kept) is not False:
            return None
        for row in reversed(rows):
            others = [k for k in kept if k != row]
            verdict = self._can_hold(others)
            if verdict is None:
                return None
            if not verdict:
                kept = others
        return kept

    def _can_hold(self, rows: Sequence[int]) -> bool | None:
        """Whether some allocation meets these rows; None if time ends first."""
        left = self._deadline - time.perf_counter()
        if left <= 0.0:
            return None
        p = self._problem
        part = sp.csc_array(self._matrix[list(rows)])
        met = np.flatnonzero(np.diff(part.indptr))  # columns that these rows meet
        low, high = self._low[list(rows)], self._high[list(rows)]
        if len(met) == 0:
            return bool(np.all((low <= 0.0) & (high >= 0.0)))
        whole = None if p.integer is None else np.append(p.integer, np.zeros(p.scalars, np.bool_))
        program = LinearProgram(
            cost=np.zeros(len(met)),
            lower=_of(p.lower, p.scalar_lower)[met],
            upper=_of(p.upper, p.scalar_upper)[met],
            matrix=part[:, met],
            row_lower=low,
            row_upper=high,
            integer=None if whole is None else whole[met],
            steep=self._steep,
        )
        found = solve_whole(program, replace(self._settings, time_limit=left))
        if found.status not in (Status.OPTIMAL, Status.INFEASIBLE):
            return None
        return found.status is Status.OPTIMAL


def _of(entries: Floats, scalars: Floats) -> Floats:
    return np.concatenate([entries, scalars])
