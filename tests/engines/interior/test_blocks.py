"""What is decided before solving, and block generation, against solves that know neither."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.engines.interior.flows import OBJECTIVES, SEEDS, flow, optimum, te

import walras as wl
from walras.engines.interior.form import Restriction, make_form
from walras.engines.interior.point import Layout
from walras.engines.interior.shares import block_centres
from walras.engines.interior.start import cold_start
from walras.separable import Side


@settings(max_examples=30)
@given(
    seed=SEEDS,
    objective=OBJECTIVES,
    scale=st.sampled_from([0.3, 1.0, 5.0]),
    share=st.sampled_from([0.0, 0.5, 0.99]),
)
def test_block_generation_finds_what_all_blocks_find(
    seed: int, objective: object, scale: float, share: float
) -> None:
    """Some of these begin with no block at all."""
    problem = flow(seed, objective, scale)
    always = wl.engines.BlockGeneration(least_blocks=0, blocks_per_capacity=0.0, first_share=share)
    s = wl.solve(problem, engine=wl.engines.Interior(blocks=always), threads=2)
    assert s.status is wl.Status.OPTIMAL
    assert s.engine == "interior"
    expected = problem.reported(optimum(problem))
    assert s.value == pytest.approx(expected, rel=3e-6, abs=1e-9)


def ring() -> te.Network:
    node = np.arange(60, dtype=np.int32)
    return te.Network(
        tuple(map(str, range(60))),
        np.repeat(node, 2),
        np.stack([(node + 1) % 60, (node - 1) % 60], axis=1).ravel(),
        np.full(120, 1.0),
        "ring",
    )


@pytest.mark.parametrize(("traffic", "decided"), [(2.0, True), (400.0, False)])
def test_fewer_pairs_than_links_are_blocks_if_few_links_can_bind(
    traffic: float, decided: bool
) -> None:
    network = ring()
    paths = te.candidate_paths(network, k=2)
    demand = te.lognormal_traffic(network, seed=2)
    demand[np.random.default_rng(2).random(demand.shape) > 60 / paths.pairs] = 0.0
    assert np.count_nonzero(demand) < network.links
    problem = te.max_total_flow(network, demand * (traffic / demand.sum()), paths)
    s = wl.solve(problem, engine="interior")
    assert ("blocks" in s.history[0].note) is decided
    assert s.value == pytest.approx(problem.reported(optimum(problem)), rel=2e-6)


def test_large_flows_leave_blocks_out() -> None:
    network = ring()
    paths = te.candidate_paths(network, k=2)
    demand = te.lognormal_traffic(network, seed=2)
    problem = te.max_total_flow(network, demand * (40.0 / demand.sum()), paths)
    early = wl.engines.BlockGeneration(least_blocks=500, blocks_per_capacity=5.0)
    s = wl.solve(problem, engine=wl.engines.Interior(blocks=early))
    counts = [int(step.note.split()[0]) for step in s.history if "blocks" in step.note]
    assert len(counts) > 1
    assert counts[0] < paths.pairs
    assert s.value == pytest.approx(problem.reported(optimum(problem)), rel=2e-6)


@settings(max_examples=30)
@given(seed=SEEDS, objective=OBJECTIVES, mu=st.sampled_from([1e-4, 1e-2, 10.0]))
def test_centres_of_simplices_are_centred(seed: int, objective: object, mu: float) -> None:
    problem = flow(seed, objective)
    form = make_form(problem, Restriction(side=Side.DEMAND))
    r = np.random.default_rng(seed).normal(size=len(form.c))
    price, x = block_centres(form, r, mu)
    z = r + form.local[0] * price[form.block]
    assert np.all(z > 0)
    assert x * z == pytest.approx(np.full(len(x), mu), rel=1e-6)
    used = np.add.reduceat(form.local[0] * x, form.ptr[:-1])
    slack = form.b[: form.blocks] - used
    rests = mu / price if objective is te.max_total_flow else np.zeros(form.blocks)
    assert slack == pytest.approx(rests, rel=1e-6, abs=1e-8)
    factor = np.exp(np.random.default_rng(seed).normal(size=form.blocks))
    again, same = block_centres(form, r, mu, np.abs(price) * factor)
    assert again == pytest.approx(price, rel=1e-6, abs=1e-9)
    assert same == pytest.approx(x, rel=1e-6)


@given(seed=SEEDS)
def test_utilisation_starts_feasible(seed: int) -> None:
    problem = flow(seed, te.min_max_utilisation)
    form = make_form(problem, Restriction(side=Side.DEMAND))
    point = cold_start(form, Layout.of(form))
    assert np.all(point.x > 0)
    assert np.all(point.z > 0)
    left = form.b - form.matrix @ point.x - form.border @ point.t - point.s
    assert np.max(np.abs(left) / (1.0 + np.abs(form.b))) < 1e-9
    reduced = form.c + form.transposed @ point.p - point.z
    assert np.max(np.abs(reduced) / (1.0 + point.z)) < 1e-9
    assert form.e + form.border.T @ point.p == pytest.approx(np.zeros(1), abs=1e-6)
