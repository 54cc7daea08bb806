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
    last = s.history[-1].iteration
    assert outcome(s, 0.0, 0.0).iterations == last > len(s.history)


def test_iterations_of_several_rounds_are_added_up() -> None:
    s = wl.solve(problem(), engine="admm", tolerance=1e-4, threads=1)
    twice = replace(s, history=s.history + s.history)
    assert outcome(twice, 0.0, 0.0).iterations == 2 * s.history[-1].iteration


def test_steps_of_other_engines_are_iterations() -> None:
    s = wl.solve(problem(), engine="interior", threads=1)
    assert outcome(s, 0.0, 0.0).iterations == len(s.history)
