"""Whole numbers beside cones: outer approximation by the cones' prices.

HiGHS gets the rows of the conic program that are linear, and cuts for the others: where s = b - Ax
lies in a cone and z in its dual, z's >= 0 is a linear row that every feasible point meets. Its
answer fixes the whole numbers; Clarabel solves what is left, and the prices of the cones there, or
its proof that nothing is left, are the next cuts. With exact prices the cuts are exact at that
choice, so no choice comes back unless it is optimal. Source: Coey, Lubin and Vielma, Outer
approximation with conic certificates for mixed-integer convex problems, Math. Prog. Comp. 12, 2020.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from typing import Any

import clarabel
import cvxpy as cp
import numpy as np
import scipy.sparse as sp

from walras.errors import EngineError, InfeasibleError
from walras.problem.cones import Interval, Program
from walras.problem.conic import chain_of, data_of, panics_reported, solve_conic
from walras.problem.continuous import Continuous
from walras.problem.dual import bound_of, implied_box, trivial_bound
from walras.problem.proof import Found, proved, relative_gap
from walras.programs.highs import Answer, LinearProgram, solve_program
from walras.progress import Timings
from walras.settings import Settings
from walras.status import Status
from walras.types import Bools, Floats

_SHARPER = 0.1  # integer programs' gap as a share of the tolerance
_MOST = 1_000  # integer programs
_PATIENCE = 3  # integer programs of choices that are known without a better bound
# A cut is worth adding where the point breaks it by more, of its size: at HiGHS' own tolerances,
# and at its closest ones.
_BROKEN, _BARELY = 1e-7, 1e-9
_SHORT = 1e-12  # prices of a cone below this share of the largest make no cut
_DUST = 1e-9  # a coefficient beside a largest one of 1 that HiGHS takes for none
_FAINT = 1e-8  # a price beside its cone's largest that makes no coefficient
_SLACK = 1e-9  # relative, of the relaxation's bound as a row of the integer programs


def has_cones(problem: cp.Problem) -> bool:
    """Whether HiGHS cannot state a problem with integers: cones are left after cvxpy's chain.

    cvxpy asks before it takes complex numbers apart, and hands HiGHS what comes out of them.
    """
    try:
        data, _, _ = data_of(problem, cp.HIGHS)
    except cp.error.SolverError:
        return True
    dims = data["dims"]
    return bool(dims.soc or dims.psd or dims.exp or dims.p3d or dims.pnd)


def solve_mixed(problem: cp.Problem, settings: Settings) -> Found:
    """Solve a problem with integers and cones; the values stand in its variables.

    Raises:
        InfeasibleError: No point meets the constraints.
        UnboundedError: The objective has no end without the integrality.
        EngineError: cvxpy has no chain for it, a solver broke down, or the time ended before a
            point was found.
    """
    began = time.perf_counter()
    continuous = Continuous.of(problem)
    relaxed = solve_conic(continuous.problem, replace(settings, verbose=False))
    search = _Search(continuous, settings, relaxed.proof.bound, began)
    stopped = search.run()
    if search.best is None:
        raise EngineError(
            f"no whole point was found in {search.programs} integer programs",
            where="problem outside the separable form",
            allowed="more time, or constraints that more whole points meet",
            remedy="raise time_limit, or loosen the constraints",
        )
    final = solve_conic(continuous.fixed(search.best), replace(settings, time_limit=None))
    continuous.give(search.best)
    proof = proved(
        problem,
        (search.bound, "HiGHS"),
        relaxed.proof.bound,
        settings.tolerance,
        final.proof.violation,
    )
    took = time.perf_counter() - began
    words = f"outer approximation, {search.programs} integer programs by HiGHS and Clarabel"
    return Found(proof, final.ended, stopped, words, Timings(build=0.0, iterate=took))


@dataclass(eq=False)
class _Cuts:
    """Rows ``z'A x <= z'b`` of the cones that tie numbers, scaled to a largest coefficient of 1."""

    program: Program
    box: Interval
    rows: list[sp.csr_array] = field(default_factory=list)
    upper: list[float] = field(default_factory=list)

    def add(self, z: Floats, broken_by: Floats | None = None, least: float = _BROKEN) -> bool:
        """Add the cuts of prices; whether there was one, broken by a point if that is given."""
        before, most = len(self.rows), float(np.max(np.abs(z), initial=0.0))
        for rows, cone in self.program.cones:
            if not cone.ties:
                continue
            own = np.where(np.abs(z[rows]) > _FAINT * np.max(np.abs(z[rows])), z[rows], 0.0)
            price = cone.into_dual(own, self.program.bare[rows])
            row = sp.csr_array(price[None, :] @ self.program.matrix[rows.start : rows.stop])
            size = float(np.max(np.abs(row.data), initial=0.0))
            if size <= _SHORT * most or not np.isfinite(size):
                continue
            row, room = self._without_dust(sp.csr_array(row / size))
            upper = float(price @ self.program.offset[rows]) / size + room
            if broken_by is None or (row @ broken_by)[0] > upper + least * (1.0 + abs(upper)):
                self.rows.append(row)
                self.upper.append(upper)
        return len(self.rows) > before

    def _without_dust(self, row: sp.csr_array) -> tuple[sp.csr_array, float]:
        """A row without coefficients that HiGHS refuses, and the most that they could add."""
        dust = np.abs(row.data) < _DUST
        reach = np.max(np.abs(self.box), axis=0)[row.indices[dust]]
        room = float(np.abs(row.data[dust]) @ np.where(np.isfinite(reach), reach, 1.0))
        row.data[dust] = 0.0
        row.eliminate_zeros()
        return row, room

    def separate(self, x: Floats, least: float) -> bool:
        """Add the cuts that the nearest points of the cones give; whether x breaks one."""
        away = self.program.matrix @ x - self.program.offset
        return self.add(away, broken_by=x, least=least)


class _Search:
    """The loop: integer program, conic program with the whole numbers fixed, cuts.

    Attributes:
        best: Whole numbers of the best point, or None.
        bound: On the minimised objective.
        programs: Integer programs solved.
    """

    def __init__(
        self, continuous: Continuous, settings: Settings, bound: float, began: float
    ) -> None:
        data, _, inverse = chain_of(continuous.problem, cp.CLARABEL, {"use_quad_obj": False})
        self.program = Program.of(data, float(inverse[-1][cp.settings.OFFSET]))
        self.columns = continuous.columns(data[cp.settings.PARAM_PROB].var_id_to_col)
        self.box = implied_box(self.program)
        self.settings, self.began = settings, began
        self.relaxed = bound
        self.bound, self.value = bound, np.inf
        self.best: Floats | None = None
        self.programs = 0
        self._cuts = _Cuts(self.program, self.box)
        self._tried: set[bytes] = set()
        self._steep, self._idle = False, 0  # programs in a row that brought nothing
        self._prime()

    def run(self) -> bool:
        """Search to the tolerance, or as far as HiGHS' goes; whether a limit ended it.

        Raises:
            InfeasibleError: No choice of whole numbers meets the constraints.
        """
        while self.programs < _MOST:
            left = self._left()
            if left.time_limit is not None and left.time_limit <= 0.0:
                return True
            answer = self._answer(left)
            self.programs += 1
            if answer is None:
                return False
            if answer.status is Status.INFEASIBLE:
                return self._ended()
            self._idle += 1
            self._raise(min(answer.bound + self.program.constant, self.value))
            if self._is_proved():
                return False
            gained = answer.x is not None and self._tighten(answer.x)
            if gained and self._idle < _PATIENCE:
                continue
            if self._steep or answer.status is Status.LIMIT:
                return answer.status is Status.LIMIT
            self._steep, self._idle = True, 0  # what is left of the gap is HiGHS' tolerance
        return False

    def _raise(self, bound: float) -> None:
        if bound > self.bound:
            self.bound, self._idle = bound, 0

    def _answer(self, settings: Settings) -> Answer | None:
        """HiGHS' answer, at closer tolerances where it breaks down; None where it does so again.

        Raises:
            EngineError: It does, and nothing is known yet.
        """
        master = self._master()
        try:
            return solve_program(master, settings)
        except EngineError:
            try:
                return solve_program(replace(master, steep=True), settings)
            except EngineError:
                if self.best is None:
                    raise
                return None

    def _left(self) -> Settings:
        sharp = max(self.settings.tolerance * _SHARPER, 1e-12)
        spent = time.perf_counter() - self.began
        return replace(self.settings, tolerance=sharp, on_progress=None, verbose=False).after(spent)

    def _is_proved(self) -> bool:
        return relative_gap(self.value, self.bound)[0] <= self.settings.tolerance

    def _ended(self) -> bool:
        if self.best is None:
            raise InfeasibleError(
                "HiGHS proved that no choice of the whole numbers meets all constraints",
                where="problem outside the separable form",
                allowed="constraints that some whole point meets",
                remedy="relax constraints, or the integrality",
            )
        self.bound = self.value  # nothing better is left
        return False

    def _tighten(self, x: Floats) -> bool:
        """Add the cuts of an integer program's answer; whether there were any."""
        gained = self._cuts.separate(x, _BARELY if self._steep else _BROKEN)
        return self._try(np.round(x[self.columns])) or gained

    def _try(self, whole: Floats) -> bool:
        """Solve a choice that is new and add its cuts; whether there were any."""
        whole = whole + 0.0  # no minus sign at zero
        if whole.tobytes() in self._tried:
            return False
        self._tried.add(whole.tobytes())
        self._idle = 0
        z = self._solve_fixed(whole)
        return z is not None and self._cuts.add(z)

    def _solve_fixed(self, whole: Floats) -> Floats | None:
        """The prices at a choice of whole numbers, or of the proof that it admits nothing."""
        found = self._conic(whole)
        z = np.asarray(found.z, dtype=np.float64)[len(whole) :]
        ended = str(found.status)
        if ended in ("Solved", "AlmostSolved"):
            value = float(self.program.linear @ np.asarray(found.x)) + self.program.constant
            if value < self.value:
                self.value, self.best = value, whole
        elif ended not in ("PrimalInfeasible", "AlmostPrimalInfeasible"):
            return None
        return z if np.all(np.isfinite(z)) else None

    def _conic(self, whole: Floats | None = None) -> Any:
        """Clarabel's answer, with whole numbers fixed or free."""
        p, n = self.program, len(self.program.linear)
        matrix, offset, cones = p.matrix, p.offset, list(p.stated)
        if whole is not None:
            fix = sp.csc_array(
                (np.ones(len(whole)), (np.arange(len(whole)), self.columns)), (len(whole), n)
            )
            matrix, offset = sp.vstack([fix, matrix]), np.concatenate([whole, offset])
            cones = [clarabel.ZeroConeT(len(whole)), *cones]
        options = clarabel.DefaultSettings()
        options.verbose = False
        with panics_reported():
            return clarabel.DefaultSolver(
                sp.csc_matrix((n, n)), p.linear, sp.csc_matrix(matrix), offset, cones, options
            ).solve()

    def _prime(self) -> None:
        """The relaxation's bound and cuts, and the choice next to its point."""
        found = self._conic()
        z, x = np.asarray(found.z, dtype=np.float64), np.asarray(found.x, dtype=np.float64)
        if np.all(np.isfinite(z)):
            self._cuts.add(z)
        self.relaxed = max(
            self.relaxed,
            bound_of(self.program, self.box, x, z),
            trivial_bound(self.program, self.box),
        )
        self.bound = max(self.bound, self.relaxed)
        if np.all(np.isfinite(x)):  # a first point, should it be one
            self._try(np.round(x[self.columns]))

    def _master(self) -> LinearProgram:
        """The integer program of the linear rows and the cuts."""
        p = self.program
        is_linear = np.ones(len(p.offset), dtype=np.bool_)
        for rows, cone in p.cones:
            is_linear[rows] = not cone.ties
        linear = np.flatnonzero(is_linear)
        lower = np.where(p.inside[linear] == 0.0, p.offset[linear], -np.inf)
        blocks: list[Any] = [sp.csr_array(p.matrix)[linear], *self._cuts.rows]
        upper = np.concatenate([p.offset[linear], self._cuts.upper])
        lower = np.concatenate([lower, np.full(len(self._cuts.rows), -np.inf)])
        least = self.relaxed - p.constant
        if np.isfinite(least) and abs(least) > _SLACK:  # a bound of dust would pass for a unit
            blocks.append(sp.csr_array(p.linear[None, :]))
            upper = np.append(upper, np.inf)
            lower = np.append(lower, least - _SLACK * (1.0 + abs(least)))
        integer: Bools = np.zeros(len(p.linear), dtype=np.bool_)
        integer[self.columns] = True
        low, high = self._limits()
        return LinearProgram(
            p.linear,
            low,
            high,
            sp.csc_array(sp.vstack(blocks)),
            lower,
            upper,
            integer,
            steep=self._steep,
        )

    def _limits(self) -> tuple[Floats, Floats]:
        """Limits of the columns; of the whole ones those that the rows imply, too."""
        low, high = self.program.lower.copy(), self.program.upper.copy()
        at = self.columns
        low[at], high[at] = np.ceil(self.box[0][at] - 1e-6), np.floor(self.box[1][at] + 1e-6)
        return low, high
