"""Loss, crashes and rejoining: nothing lost, never oversubscribed, the survivors' optimum."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.network.instances import learning, net, quadratic

from walras import network as wn
from walras.errors import InputError
from walras.network._simulate import simulate


def test_a_fifth_lost_and_a_crash_reach_the_survivors_optimum() -> None:
    faults = wn.Faults(loss=0.2, crashes={4: 1000})
    run = simulate(quadratic(), net(), steps=5000, every=5, faults=faults)
    assert run.cost_gap[-1] < 1e-10
    assert not run.audit.any()
    assert run.held.max() <= run.problem.budget  # never oversubscribed
    assert run.held[-1] == pytest.approx(run.problem.budget, rel=1e-9)  # the rest is under way
    assert run.shares[-1][4] == 0.0


def test_the_model_reaches_the_survivors_optimum_too() -> None:
    faults = wn.Faults(loss=0.2, crashes={4: 600})
    run = simulate(learning(), net(), steps=14000, every=100, faults=faults)
    assert run.cost_gap[-1] < 1e-10
    assert run.consensus_error[-1] < 1e-10
    assert run.model_error < 1e-10
    assert run.tracking_error.max() < 1e-12
    whole = learning().optimum().model
    assert run.model is not None
    assert np.abs(run.model[0] - whole).max() > 1e-3  # it is not the optimum of all


@pytest.mark.parametrize("loss", [0.0, 0.1, 0.4])
def test_loss_slows_and_does_not_bias(loss: float) -> None:
    run = simulate(quadratic(), net(), steps=4000, every=50, faults=wn.Faults(loss=loss, lease=5))
    assert run.cost_gap[-1] < 1e-10
    assert not run.audit.any()


def test_what_is_overtaken_or_comes_twice_changes_no_sum() -> None:
    faults = wn.Faults(loss=0.1, duplication=0.3, reordering=0.2)
    assert faults.silence == pytest.approx(0.28)
    run = simulate(quadratic(), net(), steps=4000, every=50, faults=faults)
    assert run.cost_gap[-1] < 1e-10
    assert not run.audit.any()


def test_neighbours_that_die_together_are_settled_together() -> None:
    network = net()
    link = (int(network.tail[0]), int(network.head[0]))
    crashes = [wn.Crash(link[0], 300), wn.Crash(link[1], 310)]
    run = simulate(
        quadratic(), network, steps=5000, every=5, faults=wn.Faults(loss=0.2, crashes=crashes)
    )
    assert not run.audit.any()
    assert run.held.max() <= run.problem.budget
    assert run.held[-1] == pytest.approx(run.problem.budget, rel=1e-9)  # the rest is under way
    assert run.cost_gap[-1] < 1e-10


def test_who_comes_back_gets_a_share_again() -> None:
    crashes = [wn.Crash(4, 300, rejoin=900)]
    run = simulate(
        learning(), net(), steps=9000, every=50, faults=wn.Faults(loss=0.1, crashes=crashes)
    )
    assert run.alive[-1].all()
    assert run.cost_gap[-1] < 1e-10
    assert run.consensus_error[-1] < 1e-6
    assert run.model_error < 1e-4
    assert not run.audit.any()


def test_crashes_on_a_switching_network() -> None:
    faults = wn.Faults(loss=0.2, crashes={4: 500, 5: 505, 6: 900})
    run = simulate(quadratic(), net().switching(50), steps=6000, every=10, faults=faults)
    assert run.cost_gap[-1] < 1e-10
    assert not run.audit.any()
    assert run.held.max() <= run.problem.budget


def test_boxes_hold_under_loss() -> None:
    problem = quadratic(boxes=(0.2, 4.5))
    run = simulate(problem, net(), steps=15000, every=100, faults=wn.Faults(loss=0.2))
    np.testing.assert_allclose(run.shares[-1], problem.optimum().shares, atol=1e-7)


@settings(max_examples=20)
@given(
    st.integers(3, 9),
    st.integers(0, 10**6),
    st.floats(0.0, 0.9),
    st.lists(
        st.tuples(st.integers(0, 8), st.integers(0, 60), st.integers(0, 60)),
        max_size=3,
        unique_by=lambda crash: crash[0],
    ),
    st.booleans(),
)
def test_no_schedule_of_faults_loses_a_quantum(
    n: int, seed: int, loss: float, fates: list[tuple[int, int, int]], switching: bool
) -> None:
    crashes = [
        wn.Crash(c, step, step + 6 + back if back % 2 else None)
        for c, step, back in fates
        if c < n - 1
    ]
    network = wn.Network.of(n, [(i, j) for i in range(n) for j in range(i)])
    if switching:
        network = wn.Network.erdos_renyi(n, 0.9, seed=seed).switching(7, seed=seed)
    faults = wn.Faults(loss=loss, crashes=crashes[: (n - 1) // 2], lease=5)
    run = simulate(
        quadratic(n, seed),
        network,
        links=wn.LogQuantizer(0.5),
        steps=120,
        faults=faults,
        seed=seed,
    )
    assert not run.audit.any()
    assert run.held.max() <= run.problem.budget


@pytest.mark.long
def test_a_million_steps_of_everything_keep_the_sum() -> None:
    faults = wn.Faults(loss=0.2, crashes=[wn.Crash(4, 10**5, rejoin=3 * 10**5), wn.Crash(9, 6000)])
    run = simulate(quadratic(), net().switching(50), steps=10**6, every=1000, faults=faults)
    assert run.audit.shape == (10**6,)
    assert not run.audit.any()
    assert run.cost_gap[-1] < 1e-10


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (lambda: wn.Faults(loss=1.0), r"faults\.loss"),
        (lambda: wn.Faults(duplication=-0.1), r"faults\.duplication"),
        (lambda: wn.Faults(delay=-1), r"faults\.delay"),
        (lambda: wn.Faults(lease=0), r"faults\.lease"),
        (lambda: wn.Faults(crashes={-1: 3}), r"faults\.crashes\[0\]"),
        (lambda: wn.Faults(crashes=[wn.Crash(1, 5, 10)]), "rejoin"),
        (lambda: wn.Faults(crashes=[(1, 5, 10)]), "rejoin"),
        (lambda: wn.Faults(crashes=[(1,)]), r"faults\.crashes\[0\]: is \(1,\)"),
        (
            lambda: wn.Faults(crashes=[("a", 5)]),  # type: ignore[list-item]
            r"faults\.crashes\[0\]: is 'a'",
        ),
        (lambda: wn.Faults(cuts=3), r"faults\.cuts: is 3"),  # type: ignore[arg-type]
        (lambda: wn.Faults(cuts=[(1, 5, 10)]), r"cuts\[0\]: is \(1, 5, 10\)"),  # type: ignore[list-item]
        (lambda: wn.Faults(cuts=[((), 5, 10)]), r"faults\.cuts\[0\]: is"),
        (lambda: wn.Faults(cuts=[((1,), 5, 5)]), r"cuts\[0\]\.until: is 5; .* >= 6"),
        (lambda: wn.Faults(crashes=3), r"faults\.crashes: is 3"),  # type: ignore[arg-type]
        (lambda: wn.Faults(loss="x"), r"faults\.loss: is 'x'"),  # type: ignore[arg-type]
    ],
)
def test_faults_out_of_range_are_named(make: object, reason: str) -> None:
    with pytest.raises(InputError, match=reason):
        make()  # type: ignore[operator]


def test_crashes_are_tuples_as_well() -> None:
    short_form = wn.Faults(crashes=[(4, 500), (9, 800, 1500)])
    assert short_form == wn.Faults(crashes=[wn.Crash(4, 500), wn.Crash(9, 800, 1500)])


def test_cuts_are_tuples_as_well() -> None:
    faults = wn.Faults(cuts=[([0, 1], 10, 20)])
    assert faults == wn.Faults(cuts=[wn.Cut((0, 1), 10, 20)])
    assert faults.any
    cut = faults.all_cuts[0]
    assert [cut.parts(0, 2, step) for step in (9, 10, 19, 20)] == [False, True, True, False]
    assert not cut.parts(0, 1, 15)
    assert not cut.parts(2, 3, 15)
    with pytest.raises(InputError, match=r"cuts\[0\]\.centres: is 7; allowed: 0\.\.4"):
        wn.Faults(cuts=[((1, 7), 1, 2)]).check(5)


def test_the_running_centres_are_counted_at_a_step() -> None:
    faults = wn.Faults(crashes=[(0, 5), (1, 7, 40), (1, 50)])
    assert [faults.running(4, step) for step in (4, 5, 7, 39, 40, 50)] == [4, 3, 2, 2, 3, 2]


def test_faults_that_cannot_be_survived_are_refused() -> None:
    problem = quadratic(5)
    path = wn.Network.of(5, [(0, 1), (1, 2), (2, 3), (3, 4)])
    with pytest.raises(InputError, match=r"cut the survivors apart.*the back end 'protocol'"):
        simulate(problem, path, faults=wn.Faults(crashes={2: 5}), backend="vectorised")
    with pytest.raises(InputError, match="every centre"):
        simulate(problem, path, faults=wn.Faults(crashes=dict.fromkeys(range(5), 5)))
    with pytest.raises(InputError, match=r"crashes\[0\]\.centre: is 9"):
        simulate(problem, path, faults=wn.Faults(crashes={9: 5}))
    with pytest.raises(InputError, match=r"delayed by up to 3 steps.*the back end 'protocol'"):
        simulate(problem, path, faults=wn.Faults(delay=3), backend="vectorised")
    with pytest.raises(InputError, match="codes differences"):
        simulate(
            problem, path, links=wn.LogQuantizer(0.1, "difference"), faults=wn.Faults(loss=0.1)
        )
