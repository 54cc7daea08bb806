"""The surplus method: exact sums, exact optima, rates, laws of change, unsafe steps."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.network.instances import learning, net, points, quadratic

from walras import network as wn
from walras.errors import EngineError, InputError
from walras.network import baselines
from walras.network._simulate import simulate
from walras.network.methods.steps import Learner
from walras.network.problem.quanta import AuditError
from walras.progress import counts

EXACT = 1e-8


@pytest.mark.parametrize("learner", ["tracking", "diffusion"])
@pytest.mark.parametrize("rho", [0.03, 0.125, 0.5, 1.0])
def test_innovation_coding_is_exact_at_every_rho(rho: float, learner: Learner) -> None:
    run = simulate(
        learning(),
        net(),
        links=wn.LogQuantizer(rho),
        steps=3000,
        every=100,
        method=wn.Surplus(learner=learner),
    )
    assert run.cost_gap[-1] < EXACT
    assert run.consensus_error[-1] < EXACT
    assert run.model_error < 1e-7
    assert not run.audit.any()
    assert run.tracking_error.max() < 1e-12


@pytest.mark.parametrize("rho", [0.125, 1.0])
def test_coding_values_stalls_and_coding_differences_does_not(rho: float) -> None:
    by_value, by_difference = (
        simulate(learning(), net(), links=wn.LogQuantizer(rho, mode), steps=3000, every=100)
        for mode in ("value", "difference")
    )
    assert by_value.cost_gap[-1] > 1e-5
    assert by_value.consensus_error[-1] > 1e-3
    assert by_difference.cost_gap[-1] < EXACT
    assert by_difference.consensus_error[-1] < EXACT


def test_uniform_codes_leave_a_bias_of_their_step() -> None:
    gaps = [
        simulate(
            quadratic(), net(), links=wn.UniformQuantizer(step), steps=2000, every=100
        ).cost_gap[-1]
        for step in (0.1, 0.01)
    ]
    assert 1e-9 < gaps[1] < gaps[0]


@pytest.mark.parametrize("learner", ["tracking", "diffusion"])
@pytest.mark.parametrize("loss", [wn.LeastSquares(0.1), wn.Logistic(0.02), wn.Softmax(2, 0.05)])
def test_every_convex_loss_reaches_its_optimum(loss: object, learner: Learner) -> None:
    x, t = points()
    labels = (t + 1) / 2 if isinstance(loss, wn.Softmax) else t
    problem = quadratic(loss=loss, shards=wn.split(x, labels, 20, classes_each=1))
    run = simulate(problem, net(), steps=4000, every=100, method=wn.Surplus(learner=learner))
    assert run.model_error < 1e-6
    assert abs(run.loss_gap[-1]) < 1e-11
    assert run.consensus_error[-1] < EXACT


LAWS = {
    "redrawn": net().switching(50),
    "a ring, relabelled": wn.Network.ring(20).switching(10),
    "parts": net().switching(5, kind="union", parts=3),
    "failing": net().failing(0.3),
    "all at once": net().switching(20).failing(0.2),
}


@pytest.mark.parametrize("network", LAWS.values(), ids=LAWS)
def test_changing_graphs_reach_the_same_optimum(network: wn.Network) -> None:
    run = simulate(quadratic(), network, steps=2500, every=50)
    assert run.cost_gap[-1] < EXACT
    assert not run.audit.any()


def test_the_cost_falls_at_every_step_of_any_switching_graph() -> None:
    """The theorem of section 2.6: F is a common Lyapunov function in edge form."""
    run = simulate(
        quadratic(), net().switching(1), links=wn.LogQuantizer(0.5, "difference"), steps=300
    )
    assert (np.diff(run.cost) <= 1e-12).all()


def test_the_proved_rate_is_kept() -> None:
    problem, network, links = quadratic(), net(), wn.LogQuantizer(0.25, "difference")
    run = simulate(problem, network, links=links, steps=400, method=wn.Surplus(share_momentum=0.0))
    advice = wn.advise(problem, network, links=links)
    gap = run.cost - problem.optimum().cost
    assert 0 < advice.rate < 1
    big = gap[:-1] > 1e-10
    assert (gap[1:][big] <= advice.rate * gap[:-1][big]).all()


def test_momentum_is_faster_and_conserves_as_well() -> None:
    plain, quick = (
        simulate(quadratic(), net(), steps=1500, method=wn.Surplus(share_momentum=m))
        for m in (0.0, None)
    )
    first = [int(np.argmax(run.cost_gap < 1e-6)) for run in (plain, quick)]
    assert 2 * first[1] < first[0]
    assert not quick.audit.any()


@pytest.mark.parametrize("momentum", [0.0, None])
@pytest.mark.parametrize("seed", range(6))
def test_boxes_are_met_exactly(seed: int, momentum: float | None) -> None:
    problem = quadratic(boxes=(0.5, _tight(seed)), seed=seed)
    run = simulate(
        problem, net(seed=seed), steps=8000, every=100, method=wn.Surplus(share_momentum=momentum)
    )
    best = problem.optimum()
    assert (best.shares >= problem.high - 1e-12).sum() >= 3
    np.testing.assert_allclose(run.shares[-1], best.shares, atol=1e-7)
    assert run.cost_gap[-1] < EXACT
    assert not run.audit.any()


def _tight(seed: int) -> float:
    """An upper bound at which about a third of the shares rest."""
    return float(np.quantile(quadratic(seed=seed).optimum().shares, 0.65)) * 1.05


def test_a_saturated_centre_between_two_halves_still_passes_shares_on() -> None:
    cpu = [wn.QuadraticCPU(c, 1.0) for c in (9.0, 9.0, 1.0, 1.0, 1.0)]
    path = wn.Network.of(5, [(0, 1), (1, 2), (2, 3), (3, 4)])
    high = np.array([20.0, 20.0, 1.5, 20.0, 20.0])
    problem = wn.NetworkProblem(cpu, 20.0, boxes=(0.0, high))
    run = simulate(problem, path, steps=6000, every=100, start=[0, 0, 0, 1, 1])
    np.testing.assert_allclose(run.shares[-1], problem.optimum().shares, atol=1e-8)


def test_the_physical_cost_is_shared_by_epoch_time() -> None:
    rng = np.random.default_rng(4)
    cpu = [wn.ThroughputCPU(w, 10.0, 0.9) for w in rng.uniform(50, 400, 12)]
    problem = wn.NetworkProblem(cpu, 30.0, boxes=(0.3, 12.0))
    run = simulate(problem, net(12, 0.4), steps=20000, every=500)
    assert run.cost_gap[-1] < EXACT
    even = np.full(12, 30.0 / 12)
    assert problem.cost(run.shares[-1]).sum() < 0.97 * problem.cost(even).sum()


def test_an_unbalanced_digraph_keeps_the_budget_and_finds_the_optimum() -> None:
    network = wn.Network.erdos_renyi(20, 0.2, seed=3, directed=True)
    assert not network.balanced
    shares = simulate(quadratic(), network, steps=1000, every=100)
    assert shares.cost_gap[-1] < 1e-10
    assert not shares.audit.any()
    run = simulate(learning(), network, steps=3000, every=500)
    assert run.consensus_error[-1] < EXACT
    assert run.model_error < 1e-7
    assert not run.audit.any()


def test_a_balanced_digraph_needs_no_weights() -> None:
    run = simulate(quadratic(), wn.Network.ring(20, directed=True), steps=6000, every=500)
    assert run.cost_gap[-1] < EXACT


@settings(max_examples=25)
@given(
    st.integers(2, 12),
    st.integers(0, 10**6),
    st.floats(0.03, 1.3),
    st.floats(0.01, 1e6),
    st.sampled_from(["innovation", "value", "difference"]),
    st.integers(1, 7),
)
def test_no_quantum_is_ever_lost(
    n: int, seed: int, rho: float, scale: float, mode: str, every: int
) -> None:
    rng = np.random.default_rng(seed)
    cpu = [wn.QuadraticCPU(scale * rng.normal(), rng.uniform(0.01, 9)) for _ in range(n)]
    network = wn.Network.ring(n).switching(every, seed=seed)
    run = simulate(
        wn.NetworkProblem(cpu, scale),
        network,
        links=wn.LogQuantizer(rho, mode),  # type: ignore[arg-type]
        steps=60,
        start=rng.random(n) + 1e-3,
    )
    assert not run.audit.any()
    for shares in run.shares:
        if np.abs(shares).max() <= scale:  # then every share is exact as a float
            assert math.fsum(shares) == scale


def test_the_same_seed_gives_the_same_run() -> None:
    def shares(seed: int) -> np.ndarray:
        faults = wn.Faults(loss=0.3)
        return simulate(quadratic(), net(), steps=50, faults=faults, seed=seed).shares

    np.testing.assert_array_equal(shares(1), shares(1))
    assert not np.array_equal(shares(1), shares(2))


def test_frames_and_records_say_what_was_done() -> None:
    run = simulate(learning(), net(), steps=95, every=10, backend="vectorised")
    assert run.recorded.tolist() == [*range(10, 91, 10), 95]
    assert run.audit.shape == (95,)
    frame = run.frame()
    assert frame["step"].tolist() == run.recorded.tolist()
    assert (frame["bits"].diff().dropna() > 0).all()
    arcs = 2 * net().links
    assert run.bits[-1] == 95 * arcs * (16 + (16 + 8 * 3))
    assert len(run.share_frame()) == 10 * 20
    assert run.mean_model is not None


def test_progress_is_reported() -> None:
    counted: list[tuple[int, int]] = []
    simulate(
        quadratic(200),
        net(200, 0.1),
        steps=2000,
        every=100,
        on_progress=counts(lambda *step: counted.append(step)),
    )
    assert counted
    assert all(0 < done <= steps == 2000 for done, steps in counted)


@pytest.mark.parametrize("learner", ["tracking", "diffusion"])
def test_steps_far_beyond_the_bound_diverge_and_say_so(learner: Learner) -> None:
    problem = learning(loss=wn.LeastSquares())  # its gradient grows without bounds
    safe = wn.advise(problem, net(), method=wn.Surplus(learner=learner)).steps
    method = wn.Surplus(learner=learner, model_step=50.0 * safe.model_bound, unsafe=True)
    with pytest.raises(EngineError, match="not finite"):
        simulate(problem, net(), steps=3000, every=10, method=method)


@pytest.mark.parametrize("step", [3.0, 30.0])
@pytest.mark.parametrize(
    ("network", "faults"),
    [
        (wn.Network.ring(8), None),
        (wn.Network.ring(8), wn.Faults(loss=0.1)),
        (wn.Network.erdos_renyi(8, 0.6, seed=0, directed=True), None),
    ],
    ids=["exchange", "push", "emit"],
)
def test_shares_beyond_64_bits_are_reported_as_divergence(
    network: wn.Network, faults: wn.Faults | None, step: float
) -> None:
    problem = wn.NetworkProblem([wn.QuadraticCPU(center=c, scale=1.0) for c in range(1, 9)], 40.0)
    method = wn.Surplus(share_step=step, unsafe=True)
    with pytest.raises(EngineError, match=r"step \d+: the shares diverge.*safe steps"):
        simulate(problem, network, steps=3000, method=method, faults=faults)


@pytest.mark.parametrize("learner", ["tracking", "diffusion"])
def test_the_guard_halves_a_step_that_makes_things_worse(learner: Learner) -> None:
    x, t = points()
    # A loss whose curvature is stated ten times too small.
    loss = _Understated(0.1)
    problem = quadratic(loss=loss, shards=wn.split(x, t, 20))
    run = simulate(problem, net(), steps=4000, every=100, method=wn.Surplus(learner=learner))
    assert run.halvings
    assert np.isfinite(run.loss[-1])
    assert run.loss[-1] < 0.5


class _Understated(wn.LeastSquares):
    def smoothness(self, shards: object, centres: int) -> np.ndarray:
        return super().smoothness(shards, centres) / 10.0  # type: ignore[arg-type]


def test_a_lost_quantum_stops_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    from walras.network.methods import sharing

    honest = sharing.Shares.step

    def thief(self: sharing.Shares, network: wn.Network, number: int) -> None:
        honest(self, network, number)
        if number == 7:
            self._held[0] -= 1

    monkeypatch.setattr(sharing.Shares, "step", thief)
    with pytest.raises(AuditError, match=r"step 8: -1 quanta are missing; allowed: exactly 0"):
        simulate(quadratic(), net(), steps=20, backend="vectorised")


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"steps": 0}, "steps: is 0"),
        ({"every": 0}, "every: is 0"),
        ({"steps": 10**9}, "every"),
        ({"steps": 1.5}, "steps: is 1.5; allowed: a whole number"),
        ({"links": "log"}, "links: is 'log'; allowed: an object such as LogQuantizer"),
        ({"method": "admm"}, "method: is 'admm'; allowed: an object such as Surplus"),
        ({"network": None}, "network: is None; allowed: an object such as Network"),
        ({"method": wn.Surplus}, r"method: is <class .*Surplus'>; .*remedy: method=Surplus\(\)"),
        ({"method": baselines.Extra}, r"method: is <class .*Extra'>; allowed: an object"),
        ({"links": wn.LogQuantizer}, r"links: is <class .*; remedy: links=LogQuantizer\(0.125\)"),
        ({"network": wn.Network}, r"network: is <class .*Network'>; allowed: an object"),
        ({"start": [1.0, 2.0]}, "start: has shape"),
        ({"start": [-1.0] * 20}, "fractions"),
        ({"method": None, "network": wn.Network.ring(5)}, "network: has 5 centres"),
    ],
)
def test_settings_that_do_not_go_together_are_refused(
    change: dict[str, object], reason: str
) -> None:
    options: dict[str, object] = {"network": net(), "steps": 10} | change
    network = options.pop("network")
    with pytest.raises(InputError, match=reason):
        simulate(quadratic(), network, **options)  # type: ignore[arg-type]


def test_a_thousand_centres_are_quick() -> None:
    rng = np.random.default_rng(0)
    cpu = [wn.QuadraticCPU(c, 1.0 + c) for c in rng.uniform(1, 5, 1000)]
    problem = wn.NetworkProblem(cpu, 4000.0)
    run = simulate(problem, wn.Network.erdos_renyi(1000, 0.01, seed=0), steps=1000, every=100)
    assert run.cost_gap[-1] < EXACT
    assert run.seconds[-1] < 5.0
