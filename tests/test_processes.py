"""Where a solve may run: processes of every kind after a solve here, threads, read-only places."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

import walras as wl
from walras.domains import cluster_scheduling as cs

KINDS = ("fork", "forkserver", "spawn", "threads")


@pytest.fixture(scope="module")
def solved() -> dict[str, list[dict[str, float]]]:
    kinds = [*KINDS, *(["loky"] if find_spec("joblib") else [])]
    run = subprocess.run(
        [sys.executable, "-m", "tests.solved_elsewhere", *kinds],
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    found: dict[str, list[dict[str, float]]] = json.loads(run.stdout)
    return found


@pytest.mark.parametrize("kind", [*KINDS, pytest.param("loky", marks=pytest.mark.peer("joblib"))])
def test_every_engine_solves_elsewhere_after_a_solve_here(
    solved: dict[str, list[dict[str, float]]], kind: str
) -> None:
    (here,) = solved["here"]
    assert solved[kind]
    for there in solved[kind]:
        assert there == pytest.approx(here, rel=1e-5)


def _blas() -> list[int]:
    return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]


def test_solves_side_by_side_leave_blas_its_threads() -> None:
    rng = np.random.default_rng(0)
    problem = cs.max_min(rng.uniform(1, 4, (3, 30)), np.ones(30), np.full(3, 5.0))
    wl.solve(problem)  # what is not loaded yet has no threads to count
    before = _blas()
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: wl.solve(problem, threads=1).status, range(24)))
    assert set(found) == {wl.Status.OPTIMAL}
    assert _blas() == before
    with pytest.raises(wl.WalrasError):
        wl.solve(problem, threads=1, engine="none", polish=True)
    assert _blas() == before


def _first_solves_side_by_side() -> None:
    """No thread has set the number before, and which one ends last is not known."""
    rng = np.random.default_rng(0)
    problem = cs.max_min(rng.uniform(1, 4, (3, 30)), np.ones(30), np.full(3, 5.0))
    before = _blas()
    with ThreadPoolExecutor(4) as pool:
        for _ in range(6):
            found = list(pool.map(lambda _: wl.solve(problem, threads=1).status, range(4)))
            assert set(found) == {wl.Status.OPTIMAL}
            assert _blas() == before
    with threadpool_limits(2):  # nobody has been left in charge of the libraries
        assert max(_blas()) == 2
    assert _blas() == before


@pytest.mark.parametrize(
    "test", ["_first_solves_side_by_side", "test_solves_side_by_side_leave_blas_its_threads"]
)
def test_blas_gets_its_threads_back_where_it_has_several(test: str) -> None:
    code = (
        "import scipy.linalg\n"
        "from tests import test_processes as t\n"
        "assert max(t._blas()) > 1, t._blas()\n"
        f"t.{test}()"
    )
    environment = os.environ | {"OPENBLAS_NUM_THREADS": "3", "OMP_NUM_THREADS": "3"}
    subprocess.run([sys.executable, "-c", code], env=environment, timeout=120, check=True)
