"""Kernels compiled beside the first run's first section, in a process of their own.

numba compiles in one thread and keeps what it compiled on disk, so that another process finds it
there, function by function: half a minute of a first run is shared by two cores.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from walras.kernels.compiling import cache_of
from walras.kernels.matching import derivatives as match_pull_back
from walras.kernels.matching import relaxed as match_relaxed
from walras.matching import match_rounds
from walras.policies.placements.bottleneck import all_placed
from walras.policies.placements.flows import cheapest_of
from walras.policies.placements.problem import Problem

_COMMAND = (sys.executable, "-m", "walras.demo.precompile")


def compiled() -> bool:
    """Whether an earlier run has left compiled kernels."""
    kernel = match_pull_back._pull
    name = f"{match_pull_back.__name__.rpartition('.')[2]}.{kernel.py_func.__name__}-*.nbi"
    folder = cache_of(kernel)
    return folder is not None and any(folder.glob(name))


@contextmanager
def compiled_beside() -> Iterator[subprocess.Popen[bytes] | None]:
    """Compile in another process while the body runs, unless an earlier run has done so.

    Nothing waits for it: what is not compiled when it is needed is compiled there and then.
    """
    child = None if compiled() else _started()
    try:
        yield child
    finally:
        if child is not None:
            child.terminate()
            child.wait()


def _started() -> subprocess.Popen[bytes] | None:
    silent = subprocess.DEVNULL
    try:  # a session of its own: Ctrl-C is for the demo
        return subprocess.Popen(
            _COMMAND, stdin=silent, stdout=silent, stderr=silent, start_new_session=True
        )
    except OSError:  # a machine that starts no more processes compiles in this one
        return None


def compile_kernels(of: str = "") -> None:
    """Small problems that need what the demo needs: after its first matching, or all of a kind.

    Args:
        of: ``placing`` or ``sharing``, as ``./dev setup`` compiles them, at once on two cores;
            ``placing`` begins with what the service of the live demo needs.
    """
    if of == "placing":
        _live_rounds()
    if of != "sharing":
        _placing(matching=of == "placing")
    if of != "placing":
        # Imported here: it takes longer than what placing needs.
        from walras.demo.scheduling import warm_up  # noqa: PLC0415

        warm_up(None, lambda progress: False)


def _live_rounds() -> None:
    """Two tasks on two clusters, placed within a longest time, and cheaply."""
    one, no_group = np.ones(2, np.int64), np.full(2, -1)
    problem = Problem(
        np.ones((2, 2)), np.ones((2, 2)), one, one, one, no_group, one[:0], 0.0, np.ones(2), one
    )
    all_placed(problem, 2.0)
    cheapest_of(problem, np.ones((2, 2)))


def _placing(*, matching: bool) -> None:
    rng = np.random.default_rng(0)
    t, a = rng.lognormal(size=(1, 3, 5)), rng.uniform(0.6, 1.0, (1, 3, 5))
    if matching:
        match_rounds(t, a)
    floor, law = np.array([0.8]), np.array([1.0, 0.02, 0.005, 10.0])
    x, _ = match_relaxed.solve_relaxed(t, a, floor, law, 20.0, 0.01, 1e-9, None, 1)
    match_pull_back.pull_back(t, a, floor, law, 20.0, 0.01, x, rng.normal(size=x.shape), 1)


if __name__ == "__main__":
    compile_kernels(*sys.argv[1:])
