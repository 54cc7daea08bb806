"""Solves by every engine, then again in processes and threads; tells what was found, as JSON.

Called with the kinds: fork, forkserver, spawn, loky, threads.
"""

from __future__ import annotations

import json
import multiprocessing
import sys
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from functools import partial

import cvxpy as cp
import numpy as np

import walras as wl
from walras.domains import cluster_scheduling as cs

THREADS = 3
SECONDS = 60.0


def values(_: int = 0) -> dict[str, float]:
    """The values of small problems by every engine, on several threads."""
    rng = np.random.default_rng(0)
    given = rng.uniform(1, 4, (3, 24)), np.ones(24), np.full(3, 4.0)
    found = {
        engine: wl.solve(cs.max_min(*given), engine=engine, threads=THREADS).value
        for engine in ("interior", "admm", "exact", "pop")
    }
    whole = wl.solve(cs.total_throughput(*given), integer=True, threads=THREADS)
    fair = wl.solve(cs.proportional_fairness(*given), engine="exact", threads=THREADS)
    return found | {"integer": whole.value, "conic": fair.value, **_programs()}


def _programs() -> dict[str, float]:
    """HiGHS with its own threads, and both solvers behind cvxpy."""
    rng = np.random.default_rng(3)
    x, A, b = cp.Variable(12, integer=True), rng.uniform(0, 3, (6, 12)), np.full(6, 20.0)
    packed = wl.Problem(cp.Maximize(rng.uniform(1, 2, 12) @ x), [A @ x <= b, x >= 0, x <= 4])
    y = cp.Variable(3)
    curved = wl.Problem(cp.Minimize(cp.norm(y - 2)), [cp.sum(y) <= 3])
    return {
        "mip": packed.solve(threads=THREADS).value,
        "outside": curved.solve(threads=THREADS).value,
    }


def _in_processes(kind: str) -> list[dict[str, float]]:
    with ProcessPoolExecutor(1, multiprocessing.get_context(kind)) as pool:
        return list(pool.map(values, range(1), timeout=SECONDS))


def _in_loky() -> list[dict[str, float]]:
    from joblib.externals.loky import ProcessPoolExecutor as Loky

    with Loky(1) as pool:  # of joblib's back ends the default
        return list(pool.map(values, range(1), timeout=SECONDS))


def _in_threads() -> list[dict[str, float]]:
    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(values, range(2), timeout=SECONDS))


KINDS: dict[str, Callable[[], list[dict[str, float]]]] = {
    **{kind: partial(_in_processes, kind) for kind in ("fork", "forkserver", "spawn")},
    "loky": _in_loky,
    "threads": _in_threads,
}

if __name__ == "__main__":
    here = {"here": [values()]}
    sys.stdout.write(json.dumps(here | {kind: KINDS[kind]() for kind in sys.argv[1:]}))
