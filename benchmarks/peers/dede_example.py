"""The subproblems of DeDe's cluster-scheduling example, in its own environment.

Written anew from Xu, Yu and Yan (OSDI 2025, section 4) and the formulas of the example: ADMM on
X = Z with one cvxpy problem a type and one a job, compiled once and re-solved with new parameters,
constraints softened by their own scaled duals. The example's rho of 0.1, its 100 steps and its
solver for the types (Clarabel) are kept; its commercial solver for the jobs is replaced by cvxpy's
own choice. Instead of Ray's actors, each process holds its share of the subproblems.
"""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Sequence
from multiprocessing.connection import Connection

import cvxpy as cp
import numpy as np
import numpy.typing as npt

from benchmarks.problem import Budget, Instance, Outcome

Floats = npt.NDArray[np.float64]

_RHO = 0.1
_STEPS = 100
_EPS = 1e-6


class _Subproblem:
    """min f(v) + |g(v) + l1|^2 + |v - z + l2|^2 with the duals l1 of g(v) = 0 and l2 of v = z.

    Both sides update l2 by the same x^k - z^k: the resource side meets z^k as its new target, the
    demand side has x^k as its last one (``lagged``).
    """

    def __init__(
        self,
        variable: cp.Variable,
        residual: cp.Expression,
        cost: cp.Expression | float,
        solver: str | None,
        lagged: bool,
    ) -> None:
        self._variable, self._residual = variable, residual
        self._solver, self._lagged = solver, lagged
        self._target = cp.Parameter(variable.shape, value=np.zeros(variable.shape))
        self._dual = cp.Parameter(residual.shape, value=np.zeros(residual.shape))
        self._copy_dual = cp.Parameter(variable.shape, value=np.zeros(variable.shape))
        linear = 2 * variable @ (self._copy_dual - self._target)
        proximal = cp.sum_squares(residual + self._dual) + cp.sum_squares(variable) + linear
        self._problem = cp.Problem(cp.Minimize(cost + proximal))
        self._value: Floats = np.zeros(variable.shape)

    def step(self, target: Floats) -> Floats:
        """Update both duals, then solve for the next copy; a failed solve keeps the last one."""
        if self._problem.status is not None and self._residual.value is not None:
            self._dual.value = self._dual.value + self._residual.value
            other = self._target.value if self._lagged else target
            self._copy_dual.value = self._copy_dual.value + self._value - other
        self._target.value = target
        try:
            self._problem.solve(solver=self._solver)
        except cp.SolverError:
            return self._value
        if self._variable.value is not None:
            self._value = np.asarray(self._variable.value)
        return self._value


def _resource(instance: Instance, i: int) -> _Subproblem:
    """Type i: s x_i + slack = C_i."""
    x, slack = cp.Variable(instance.shape[1], nonneg=True), cp.Variable(nonneg=True)
    residual = cp.hstack([x @ instance.size + slack - instance.capacity[i]])
    return _Subproblem(x, residual, 0.0, cp.CLARABEL, lagged=False)


def _demand(instance: Instance, j: int, objective: str) -> _Subproblem:
    """Job j: sum x_j + slack = 1, and either T_j x_j - slack = t or the utility log T_j x_j."""
    gain = np.where(instance.allowed[:, j], instance.throughput[:, j], 0.0)
    m, slack = instance.shape[0], cp.Variable(2, nonneg=True)
    if objective == "max-min":
        v = cp.Variable(m + 1, nonneg=True)
        rows = [gain @ v[:-1] - slack[0] - v[-1], cp.sum(v[:-1]) + slack[1] - 1]
        return _Subproblem(v, cp.hstack(rows), 0.0, None, lagged=True)
    v = cp.Variable(m, nonneg=True)
    residual = cp.hstack([cp.sum(v) + slack[0] - 1])
    utility = -cp.log(gain @ v + _EPS) * 2 / _RHO
    return _Subproblem(v, residual, utility, None, lagged=True)


def _worker(
    pipe: Connection, instance: Instance, objective: str, types: Sequence[int], jobs: Sequence[int]
) -> None:
    """Serve (side, targets) requests until None comes."""
    sides = (
        [_resource(instance, i) for i in types],
        [_demand(instance, j, objective) for j in jobs],
    )
    pipe.send(None)
    while (request := pipe.recv()) is not None:
        side, targets = request
        pipe.send([p.step(t) for p, t in zip(sides[side], targets, strict=True)])


class _Pool:
    """Processes that each hold every k-th subproblem of both sides."""

    def __init__(self, instance: Instance, objective: str, processes: int) -> None:
        context = multiprocessing.get_context("spawn")
        self._shares = [
            [list(range(k, size, processes)) for k in range(processes)] for size in instance.shape
        ]
        self._pipes: list[Connection] = []
        for types, jobs in zip(*self._shares, strict=True):
            ours, theirs = context.Pipe()
            arguments = (theirs, instance, objective, types, jobs)
            context.Process(target=_worker, args=arguments, daemon=True).start()
            self._pipes.append(ours)
        for pipe in self._pipes:
            pipe.recv()

    def step(self, side: int, targets: Floats) -> Floats:
        """Solve all subproblems of a side; (groups, entries) in, the same out."""
        for pipe, share in zip(self._pipes, self._shares[side], strict=True):
            pipe.send((side, [targets[k] for k in share]))
        out = np.empty_like(targets)
        for pipe, share in zip(self._pipes, self._shares[side], strict=True):
            out[share] = pipe.recv()
        return out

    def close(self) -> None:
        """End the processes."""
        for pipe in self._pipes:
            pipe.send(None)


def solve(instance: Instance, objective: str, budget: Budget) -> Outcome:
    """Solve ``max-min`` or ``proportional-fairness``; the steps taken by the limit are kept."""
    start = time.perf_counter()
    pool = _Pool(instance, objective, budget.threads)
    built = time.perf_counter()
    m, n = instance.shape
    shared = objective == "max-min"
    z, t, dual, steps = np.zeros((n, m + shared)), 0.0, 0.0, 0
    while steps < _STEPS and time.perf_counter() - start < 0.9 * budget.time_limit:
        x = pool.step(0, np.ascontiguousarray(z[:, :m].T)).T
        if shared:
            # The copies t_j meet in t, which also carries the objective -t: the mean less its dual.
            mean = float(z[:, -1].mean())
            dual += t - mean
            t = max(mean - dual + 1.0 / (_RHO * n), 0.0)
            x = np.hstack([x, np.full((n, 1), t)])
        z = pool.step(1, np.ascontiguousarray(x))
        steps += 1
    solved = time.perf_counter()
    pool.close()
    message = f"{steps} of {_STEPS} steps"
    x = np.where(instance.allowed, z[:, :m].T, 0.0)
    return Outcome(x, built - start, solved - built, steps, message)
