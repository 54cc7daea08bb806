"""What the benchmark records of Walras' own solves."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from benchmarks.peers.walras_engine import outcome

import walras as wl

cs = wl.domains.cluster_scheduling


def problem() -> wl.Separable:
    rng = np.random.default_rng(0)
    return cs.total_throughput(rng.uniform(0.1, 1.0, (4, 12)), np.ones(12), np.ones(4))


def test_iterations_of_the_first_order_engine_are_not_its_proofs() -> None:
    s = wl.solve(problem(), engine="admm", tolerance=1e-4, threads=1)
    proofs = [step for step in s.history if step.note == "proof"]
    assert outcome(s, 0.0, 0.0).iterations == s.history[-1].iteration > len(proofs)


def test_iterations_of_several_rounds_are_added_up() -> None:
    s = wl.solve(problem(), engine="admm", tolerance=1e-4, threads=1)
    twice = replace(s, history=s.history + s.history)
    assert outcome(twice, 0.0, 0.0).iterations == 2 * s.history[-1].iteration


def test_the_trace_holds_what_was_proved() -> None:
    s = wl.solve(problem(), engine="admm", tolerance=1e-6, threads=1)
    trace = outcome(s, 0.0, 0.0).trace
    assert 1 < len(trace) < len(s.history)
    assert all(np.isfinite(point).all() for point in trace)
    assert trace[-1][1] == s.history[-1].value


def test_steps_of_other_engines_are_iterations() -> None:
    s = wl.solve(problem(), engine="interior", threads=1)
    assert outcome(s, 0.0, 0.0).iterations == len(s.history)
