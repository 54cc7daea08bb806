"""Clarabel on what cvxpy's chain hands it.

Attempts differ in what they aim at: a run that ends short of the tolerance at tight settings may
reach it at Clarabel's own. A point that misses the constraints moves towards one that lies inside
them, no farther than it must.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import clarabel
import cvxpy as cp
import numpy as np
import scipy.sparse as sp

from walras.certificate.feasibility import FEASIBLE
from walras.errors import EngineError
from walras.problem.cones import Interval, Program
from walras.problem.diagnose_conic import raise_impossible
from walras.problem.dual import bound_of, implied_box, trivial_bound
from walras.problem.measure import Numbers, make_dense, read
from walras.problem.proof import ENOUGH, LEAST_SCALE, Found, proved
from walras.progress import Timings
from walras.settings import Settings
from walras.types import Floats

_TIGHT = 1e-10  # what Clarabel may break constraints by
_DUAL = 1e-6  # dual residual up to which an unfinished solve's dual objective counts as a bound
_SHORT = ("InsufficientProgress", "NumericalError")  # ended without a proof, with a point
_CERTAIN = (cp.settings.INFEASIBLE, cp.settings.UNBOUNDED)
_HALVINGS = 5  # of the last of them, in its logarithm
_STEPS = (*np.geomspace(1e-12, 0.1, 12), 0.25, 0.5, 1.0)  # of the way to a point inside


def solve_conic(problem: cp.Problem, settings: Settings) -> Found:
    """Solve a problem without integers; the values stand in its variables.

    Raises:
        InfeasibleError: No point meets the constraints.
        UnboundedError: The objective has no end.
        EngineError: cvxpy has no chain for it, or Clarabel broke down.
    """
    began = time.perf_counter()
    solve = _Solve(problem, settings)
    built = time.perf_counter()
    best = solve.best()
    timings = Timings(build=built - began, iterate=time.perf_counter() - built)
    return Found(best.proof, best.ended, best.ended == "MaxTime", "Clarabel", timings)


@dataclass(frozen=True, eq=False)
class _Point:
    """Where a run ended; the values are of the user's variables."""

    ended: str
    x: Floats
    z: Floats
    proof: Any
    values: list[Numbers]


class _Solve:
    """The attempts at one problem."""

    def __init__(self, problem: cp.Problem, settings: Settings) -> None:
        self.problem, self.settings = problem, settings
        self.began = time.perf_counter()
        self.data, self.chain, self.inverse = chain_of(problem, cp.CLARABEL)
        self.program = Program.of(self.data, float(self.inverse[-1][cp.settings.OFFSET]))
        self.box: Interval = implied_box(self.program)
        self._inside: list[Numbers] | None = None

    def best(self) -> _Point:
        """The first point that is proved, or the best of those found, in the variables."""
        best: _Point | None = None
        said = None  # of a problem that has no optimum
        tolerance = self.settings.tolerance
        for options in self._attempts():
            found = self._tried(options)
            if found is not None and (best is None or _is_better(found, best)):
                best = found
            if best is not None and (best.proof.proves(tolerance) or best.ended == "MaxTime"):
                break
            if found is None:
                said = self.problem.status
                if said in _CERTAIN:
                    break
        if best is None or (said in cp.settings.INF_OR_UNB and best.proof.violation > ENOUGH):
            raise_impossible(self.problem, "Clarabel", str(said))
        self._give(best.x, best.z)
        self._set(best.values)
        return best

    def _attempts(self) -> Iterator[dict[str, Any]]:
        """Options of the runs: tight ones, then Clarabel's own, then without its scaling."""
        tight = float(np.clip(self.settings.tolerance * LEAST_SCALE, 1e-12, 1e-8))
        yield self._limited({"tol_gap_abs": tight, "tol_gap_rel": tight, "tol_feas": _TIGHT})
        yield self._limited({})
        yield self._limited({"equilibrate_enable": False})

    def _limited(self, options: dict[str, Any]) -> dict[str, Any]:
        limit, threads = self.settings.time_limit, self.settings.threads
        if threads is not None:
            options["max_threads"] = threads
        if limit is not None and np.isfinite(limit):
            options["time_limit"] = max(0.0, limit - (time.perf_counter() - self.began))
        return options

    def _tried(self, options: dict[str, Any]) -> _Point | None:
        """Where a run ended; None where it left no point, as ``problem.status`` then says."""
        with panics_reported():
            raw = self.chain.solver.solve_via_data(self.data, False, self.settings.verbose, options)
        x, z = np.asarray(raw.x, dtype=np.float64), np.asarray(raw.z, dtype=np.float64)
        ended = str(raw.status)
        if ended in _SHORT and np.all(np.isfinite(x)):
            self._give(x, z)
        elif not self._unpacked(raw):
            return None
        is_bound = raw.r_dual <= _DUAL and ended not in _SHORT
        own = raw.obj_val_dual + self.program.constant if is_bound else -np.inf
        recomputed = max(
            bound_of(self.program, self.box, x, z), trivial_bound(self.program, self.box)
        )

        def judged() -> Any:
            return proved(
                self.problem,
                (own, "Clarabel"),
                recomputed,
                self.settings.tolerance,
                float(raw.r_prim),
            )

        proof = judged()
        if proof.violation > FEASIBLE:
            proof = self._moved_inside(proof, judged)
        return _Point(ended, x, z, proof, self._values())

    def _unpacked(self, raw: Any) -> bool:
        """Give an answer to the variables; whether there was one."""
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            # The certificate says how accurate the point is; cvxpy's warnings add nothing.
            warnings.filterwarnings("ignore", message="Solution may be inaccurate")
            try:
                self.problem.unpack_results(raw, self.chain, self.inverse)
            except cp.error.SolverError:
                return False
        make_dense(self.problem)
        return self.problem.status in cp.settings.SOLUTION_PRESENT

    def _give(self, x: Floats, z: Floats) -> None:
        """Give variables and constraints the values of a point and of prices."""
        self._unpacked(
            SimpleNamespace(x=x, z=z, obj_val=0.0, status="Solved", solve_time=0.0, iterations=0)
        )

    def _values(self) -> list[Numbers]:
        return [read(variable) for variable in self.problem.variables()]

    def _set(self, values: list[Numbers]) -> None:
        for variable, value in zip(self.problem.variables(), values, strict=True):
            variable.save_value(value)

    def _moved_inside(self, proof: Any, judged: Any) -> Any:
        """The proof of the nearest point on the way to one inside that breaks nothing."""
        start, inside = self._values(), self._values_inside()
        if inside is None:
            return proof

        def at(step: float) -> Any:
            self._set([a + step * (b - a) for a, b in zip(start, inside, strict=True)])
            return judged()

        step = next((step for step in _STEPS if at(step).violation <= FEASIBLE), None)
        if step is None:
            self._set(start)
            return proof
        short = step / _STEPS[1] * _STEPS[0]
        for _ in range(_HALVINGS):
            middle = float(np.sqrt(short * step))
            short, step = (short, middle) if at(middle).violation <= FEASIBLE else (middle, step)
        return at(step)

    def _values_inside(self) -> list[Numbers] | None:
        """The variables' values at a point inside all cones, found at the first need."""
        if self._inside is None:
            x = _inner_point(self.program)
            if x is None:
                return None
            kept = self._values()
            self._give(x, np.zeros(len(self.program.offset)))
            self._inside = self._values()
            self._set(kept)
        return self._inside


def _is_better(a: _Point, b: _Point) -> bool:
    """Whether it is feasible where the other is not, or closer to a proof."""
    if a.proof.feasible != b.proof.feasible:
        return bool(a.proof.feasible)
    if not a.proof.feasible:
        return bool(a.proof.violation < b.proof.violation)
    return bool(a.proof.gap < b.proof.gap)


def _summing_to_one(alphas: Any) -> list[float]:
    """Exponents of a power cone that sum to one exactly, as Clarabel insists."""
    first = [float(alpha) for alpha in alphas[:-1]]
    return [*first, 1.0 - sum(first)]


def _inner_point(program: Program) -> Floats | None:
    """A point as far inside all cones as there is room, up to a limit; None where there is none.

    It maximises t with b - Ax - te in the cones, e being a point in their interior.
    """
    n = len(program.linear)
    most = 1.0 + float(np.max(np.abs(program.offset), initial=0.0))
    toward, one = sp.csc_array(program.inside[:, None]), sp.csc_array([[1.0]])
    matrix = sp.block_array([[program.matrix, toward], [None, one]], format="csc")
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    with panics_reported():
        found = clarabel.DefaultSolver(
            sp.csc_matrix((n + 1, n + 1)),
            np.append(np.zeros(n), -1.0),
            sp.csc_matrix(matrix),
            np.append(program.offset, most),
            [*program.stated, clarabel.NonnegativeConeT(1)],
            settings,
        ).solve()
    x = np.asarray(found.x, dtype=np.float64)
    is_found = str(found.status) in ("Solved", "AlmostSolved") and np.all(np.isfinite(x))
    return x[:n] if is_found and x[n] > 0.0 else None


def data_of(
    problem: cp.Problem, solver: str, options: dict[str, Any] | None = None
) -> tuple[Any, Any, Any]:
    """As cvxpy's ``get_problem_data``, of variables without values.

    cvxpy 1.9 hands values of an earlier solve on to its own variables, and fails at
    ``sum_largest`` of all elements.
    """
    for variable in problem.variables():
        variable.save_value(None)
    data, chain, inverse = problem.get_problem_data(solver, solver_opts=options or {})
    return data, chain, inverse


def chain_of(
    problem: cp.Problem, solver: str, options: dict[str, Any] | None = None
) -> tuple[Any, Any, Any]:
    """cvxpy's data for a solver, its chain, and what leads back.

    Raises:
        EngineError: cvxpy has none.
    """
    try:
        data, chain, inverse = data_of(problem, solver, options)
    except cp.error.SolverError as reason:
        raise EngineError(
            f"no solver takes it ({reason})",
            where="problem outside the separable form",
            allowed="integer variables in linear constraints and objectives, or none",
            remedy="drop the integrality, or make the nonlinear parts piecewise linear",
        ) from reason
    except (AssertionError, IndexError, NotImplementedError) as reason:
        raise EngineError(
            f"cvxpy cannot turn it into cones ({type(reason).__name__}: {reason})",
            where="problem outside the separable form",
            allowed="expressions that cvxpy's own solve() takes",
            remedy="state the expression in another way",
        ) from reason
    data["dims"].pnd = [_summing_to_one(alphas) for alphas in data["dims"].pnd]
    return data, chain, inverse


@contextmanager
def panics_reported() -> Iterator[None]:
    """Clarabel's panics as errors: they are no exceptions of Python's own kind.

    Raises:
        EngineError: It panicked.
    """
    try:
        yield
    except BaseException as reason:
        if type(reason).__name__ != "PanicException":
            raise
        raise EngineError(
            f"Clarabel broke down: {reason}",
            where="problem outside the separable form",
            allowed="a problem that it can state",
            remedy="rescale the data, or state the constraint in another way",
        ) from reason
