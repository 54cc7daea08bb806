"""Boxes: what is used is inside at every step, what is held sums to the budget, and the optimum is
that within the boxes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.network.instances import net

from walras import network as wn
from walras.network import baselines
from walras.network._simulate import simulate
from walras.network.run import Run


def boxed(
    seed: int, centres: int = 20, low: float = 0.0, high: float = 3.0, budget: float = 20.0
) -> wn.NetworkProblem:
    """Costs that want to leave their boxes on both sides."""
    rng = np.random.default_rng(seed)
    center, scale = rng.uniform(-2, 6, centres), rng.uniform(0.5, 4, centres)
    cpu = [wn.QuadraticCPU(c, k) for c, k in zip(center, scale, strict=True)]
    return wn.NetworkProblem(cpu, budget, boxes=(low, high))


def check(run: Run) -> None:
    """Every recorded share is in its box, and all is held that is not under way."""
    problem = run.problem
    inside = (run.shares >= problem.low) & (run.shares <= problem.high)
    assert (inside | ~run.alive).all()
    assert (run.shares <= run.holdings).all()
    assert (run.holdings >= problem.low)[run.alive].all()
    assert run.largest_excess == 0.0
    assert not run.audit.any()


def test_four_centres_on_a_ring_stay_in_their_boxes() -> None:
    cpu = [wn.QuadraticCPU(center=c, scale=1.0) for c in (0.2, 0.2, 6.0, 6.0)]
    problem = wn.NetworkProblem(cpu, budget=4.0, boxes=(0.0, 8.0))
    run = simulate(problem, wn.Network.ring(4), steps=200, backend="vectorised")
    check(run)
    assert (run.held == 4.0).all()
    np.testing.assert_allclose(run.shares[-1], [0.0, 0.0, 2.0, 2.0], atol=1e-14)


NETWORKS = {
    "random": net(seed=1),
    "ring": wn.Network.ring(20),
    "path": wn.Network.of(20, [(i, i + 1) for i in range(19)]),
    "redrawn": net(seed=1).switching(1),
    "relabelled": wn.Network.ring(20).switching(10),
    "parts": net(seed=1).switching(5, kind="union", parts=3),
    "failing": net(seed=1).failing(0.3),
    "unbalanced digraph": wn.Network.erdos_renyi(20, 0.2, seed=3, directed=True),
    "balanced digraph": wn.Network.of(
        20, [(i, (i + jump) % 20) for i in range(20) for jump in (1, 7)], directed=True
    ),
}


STEPS = {"redrawn": 1500, "parts": 6000, "failing": 4000, "balanced digraph": 2000}


@pytest.mark.parametrize("name", NETWORKS)
def test_every_graph_keeps_boxes_and_finds_the_optimum_within(name: str) -> None:
    problem = boxed(0)
    run = simulate(problem, NETWORKS[name], steps=STEPS.get(name, 5000))
    check(run)
    assert (run.held == problem.budget).all()
    best = problem.optimum().shares
    assert (best == 0.0).sum() >= 2
    assert (best == 3.0).sum() >= 2
    assert abs(run.cost_gap[-1]) < 1e-5
    np.testing.assert_allclose(run.shares[-1], best, atol=2e-3)


@pytest.mark.parametrize("kind", ["random", "ring"])
def test_boxes_cost_no_rate_on_a_graph_that_stays(kind: str) -> None:
    """The gap falls as fast as without boxes: to 1e-6 in as many steps, give or take half."""
    steps = [
        int(np.argmax(np.abs(simulate(problem, NETWORKS[kind], steps=4000).cost_gap) < 1e-6))
        for problem in (boxed(0), boxed(0, low=-np.inf, high=np.inf))
    ]
    assert 0 < steps[0] < 1.5 * steps[1] + 500


def test_a_centre_at_either_limit_passes_on_what_it_does_not_use() -> None:
    """a - b - c: b at its upper limit, or at its lower one, and all that c needs is with a."""
    path = wn.Network.of(3, [(0, 1), (1, 2)])
    for wish, high in ((9.0, 1.5), (-9.0, 8.0)):
        cpu = [wn.QuadraticCPU(c, 1.0) for c in (1.0, wish, 5.0)]
        problem = wn.NetworkProblem(cpu, 6.0, boxes=(0.5, np.array([8.0, high, 8.0])))
        run = simulate(problem, path, steps=3000, start=[9, 1, 1], backend="vectorised")
        check(run)
        np.testing.assert_allclose(run.shares[-1], problem.optimum().shares, atol=1e-9)
        faults = wn.Faults(loss=0.2)
        lossy = simulate(
            problem, path, steps=3000, start=[9, 1, 1], faults=faults, backend="vectorised"
        )
        check(lossy)
        np.testing.assert_allclose(lossy.shares[-1], problem.optimum().shares, atol=1e-7)
        found = simulate(problem, path, steps=1220, start=[9, 1, 1], every=10, backend="protocol")
        leased = found.shares > 0.0
        assert ((found.shares >= 0.5) & (found.shares <= problem.high))[leased].all()
        np.testing.assert_allclose(found.shares[-1], problem.optimum().shares, atol=1e-7)


def test_lost_messages_and_crashes_keep_boxes() -> None:
    problem = boxed(1, low=0.2, high=4.0)
    faults = wn.Faults(loss=0.2, crashes=[wn.Crash(5, 500), wn.Crash(11, 800, rejoin=1500)])
    run = simulate(problem, net(seed=2), steps=5000, faults=faults)
    check(run)
    assert run.held.max() <= problem.budget
    assert run.held[-1] == pytest.approx(problem.budget, rel=1e-14)
    assert run.alive[-1].sum() == 19
    assert abs(run.cost_gap[-1]) < 1e-8


def test_the_protocol_keeps_boxes_and_finds_the_optimum_within() -> None:
    problem = boxed(2, 6, budget=6.0)
    found = simulate(problem, wn.Network.ring(6), steps=900, backend="protocol")
    assert found.largest_excess == 0.0
    leased = found.shares > 0.0
    assert (found.shares <= 3.0)[leased].all()
    assert abs(found.cost_gap[-1]) < 1e-6
    np.testing.assert_allclose(found.shares[-1], problem.optimum().shares, atol=1e-4)


@settings(max_examples=40)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(2, 9),
    kind=st.integers(0, 5),
    tight=st.sampled_from([0.0, 0.5, 0.99, 1.0]),
    rho=st.floats(0.03, 1.3),
    loss=st.sampled_from([0.0, 0.0, 0.4]),
    scale=st.sampled_from([1e-6, 1.0, 1e6]),
)
def test_no_share_in_use_ever_leaves_its_box(
    seed: int, n: int, kind: int, tight: float, rho: float, loss: float, scale: float
) -> None:
    """Any boxes, costs, graphs, codes and losses: limits are from loose to leaving one split."""
    rng = np.random.default_rng(seed)
    network = [
        wn.Network.ring(n),
        wn.Network.ring(n).switching(3),
        wn.Network.ring(n).failing(0.5),
        wn.Network.ring(n, directed=True),
        wn.Network.ring(n).switching(2, kind="union"),
        wn.Network.of(n, [(i, i + 1) for i in range(n - 1)]),
    ][kind]
    split = scale * rng.dirichlet(np.ones(n))
    low = split - (1.0 - tight) * scale * rng.random(n)
    high = split + (1.0 - tight) * scale * rng.random(n)
    cpu = [wn.QuadraticCPU(scale * rng.normal(), rng.uniform(0.1, 9)) for _ in range(n)]
    problem = wn.NetworkProblem(cpu, float(split.sum()), boxes=(low, high))
    lossy = loss if not network.directed else 0.0
    run = simulate(
        problem,
        network,
        links=wn.LogQuantizer(rho),
        steps=60,
        seed=seed,
        start=rng.random(n),
        faults=wn.Faults(loss=lossy) if lossy else None,
    )
    assert ((run.shares >= low) & (run.shares <= high)).all()
    assert not run.audit.any()
    assert run.largest_excess == 0.0


@pytest.mark.parametrize(
    "method", [baselines.LaplacianGradient(), baselines.HeavyBall(), baselines.SignPower(0.05)]
)
def test_methods_of_the_papers_that_keep_no_boxes_say_by_how_much(method: object) -> None:
    problem = boxed(0)
    run = simulate(problem, net(), steps=200, method=method)  # type: ignore[arg-type]
    beyond = np.maximum(problem.low - run.shares, run.shares - problem.high).max()
    assert run.largest_excess == pytest.approx(beyond)
    assert run.largest_excess > 0.1
    assert run.cost_gap.min() < 0.0  # outside the boxes costs less


def test_a_first_split_is_the_nearest_one_inside() -> None:
    problem = boxed(0, 3, low=0.5, high=4.0, budget=6.0)
    run = simulate(
        problem, wn.Network.ring(3), steps=1, start=[1.0, 0.0, 0.0], backend="vectorised"
    )
    check(run)
    first = problem.quanta.shares(problem.first_split(np.array([1.0, 0.0, 0.0])))
    np.testing.assert_allclose(first, [4.0, 1.0, 1.0], atol=1e-14)
    assert first.sum() == 6.0
