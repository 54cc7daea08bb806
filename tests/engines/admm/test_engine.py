"""Ctrl-C at any moment: the best of what was done, proved."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import walras as wl
from walras.engines.admm import engine
from walras.engines.admm.engine import PROOF
from walras.engines.admm.method import Method
from walras.engines.admm.proofs.incumbent import Incumbent
from walras.engines.admm.worker_pool import LocalPool, Threads
from walras.kernels import consensus_copies
from walras.kernels.block_prox import newton
from walras.progress import Progress
from walras.separable import Separable

te = wl.domains.traffic_engineering
FEASIBLE = 1e-9
LEAVES = 8  # calls of a kernel in one pass


@pytest.fixture(scope="module")
def flow() -> Separable:
    network = te.load_topology("B4")
    paths = te.candidate_paths(network, 4, cache=False)
    demand = te.lognormal_traffic(network, seed=0, total=0.4 * network.capacity.sum())
    return te.max_total_flow(network, demand, paths)


def interrupting(kept: Callable[..., Any], at: int, times: int = 1) -> Callable[..., Any]:
    """The function, but for some calls from one on, which Ctrl-C interrupts."""
    calls = iter(range(1, 10**9))

    def called(*args: Any, **kwargs: Any) -> Any:
        if at <= next(calls) < at + times:
            raise KeyboardInterrupt
        return kept(*args, **kwargs)

    return called


def proofs(s: wl.Solution) -> list[Progress]:
    return [step for step in s.history if step.note == PROOF]


def solved(problem: Separable, threads: int = 1) -> wl.Solution:
    return wl.solve(problem, engine="admm", tolerance=1e-6, threads=threads)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("kernel", ["solve_groups", "row_sums", "advance"])
def test_in_an_iteration_before_the_first_proof(
    flow: Separable, kernel: str, threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = newton if kernel == "solve_groups" else consensus_copies
    at = 10 * {"solve_groups": threads, "row_sums": 2 * LEAVES, "advance": LEAVES}[kernel]
    monkeypatch.setattr(module, kernel, interrupting(getattr(module, kernel), at))
    s = solved(flow, threads)
    assert s.status is wl.Status.INTERRUPTED
    assert s.certificate.violation <= FEASIBLE
    assert s.value > 0.0
    assert s.gap < 1.0
    assert 9 <= s.history[-1].iteration <= 10


def test_long_after_the_last_proof(flow: Separable, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        consensus_copies, "advance", interrupting(consensus_copies.advance, 46 * LEAVES + 1)
    )
    steps = proofs(solved(flow))
    assert [step.iteration for step in steps] == [16, 24, 40, 46]
    assert steps[-1].gap <= steps[-2].gap


def test_in_a_proof_and_in_the_one_after_it(
    flow: Separable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Incumbent, "prove", interrupting(Incumbent.prove, 2, times=2))
    s = solved(flow)
    assert s.status is wl.Status.INTERRUPTED
    assert [step.iteration for step in proofs(s)] == [16]
    assert s.value == pytest.approx(s.history[-1].value)


def test_a_proof_that_fails_leaves_the_best_so_far(
    flow: Separable, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = iter([engine._prove])

    def prove(*args: Any) -> None:
        next(whole)(*args)  # StopIteration from the second on

    monkeypatch.setattr(engine, "_prove", prove)
    monkeypatch.setattr(
        consensus_copies, "advance", interrupting(consensus_copies.advance, 20 * LEAVES)
    )
    s = solved(flow)
    assert (s.status, len(proofs(s))) == (wl.Status.INTERRUPTED, 1)
    assert s.value == pytest.approx(s.history[-1].value)


@pytest.mark.parametrize(
    "stage", ["make_form", "beginning", "cut", "Incumbent", "DualTightening", "Method"]
)
def test_before_the_first_iteration(
    flow: Separable, stage: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, stage, interrupting(getattr(engine, stage), 1))
    s = solved(flow)
    assert (s.status, s.engine, len(s.history)) == (wl.Status.INTERRUPTED, "admm", 0)
    assert s.certificate.violation <= FEASIBLE


def test_while_the_slices_are_handed_out_or_let_go(
    flow: Separable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Threads, "open", interrupting(Threads.open, 1))
    assert solved(flow).status is wl.Status.INTERRUPTED
    monkeypatch.setattr(LocalPool, "close", interrupting(LocalPool.close, 1))
    assert solved(flow).status is wl.Status.OPTIMAL


def test_a_time_limit_proves_the_last_iteration(
    flow: Separable, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[int] = []

    def advance(self: Method, relaxation: float) -> None:
        kept(self, relaxation)
        made.append(self.count)

    kept = Method.advance
    monkeypatch.setattr(Method, "advance", advance)
    s = wl.solve(flow, engine="admm", tolerance=1e-12, threads=1, time_limit=0.02)
    assert s.status is wl.Status.LIMIT
    assert s.history[-1].iteration == made[-1]
