"""Which back end runs, what each refuses, and that both end with the same shares."""

from __future__ import annotations

import numpy as np
import pytest
from tests.network.drivers.small import RING, problem
from tests.network.instances import net, quadratic

from walras import network as wn
from walras.errors import InputError
from walras.network import baselines
from walras.network._simulate import simulate
from walras.network.backends import MOST_MESSAGES, why_protocol
from walras.network.protocol.settings import Settings
from walras.network.scenario.scenario import scenario

FIVE = wn.Network.of(5, [(i, j) for i in range(5) for j in range(i)])


def five() -> wn.NetworkProblem:
    """Five quadratic costs, a budget of 10."""
    return wn.NetworkProblem(
        [wn.QuadraticCPU(c, 1.0) for c in range(1, 6)], 10.0, boxes=(0.0, 10.0)
    )


@pytest.mark.parametrize("gone", [(0, 1, 2), (2, 3, 4)], ids=str)
def test_nobody_uses_a_share_once_three_of_five_are_gone(gone: tuple[int, ...]) -> None:
    """Those left cannot tell a crash from a cut: the others may be using their shares."""
    faults = wn.Faults(crashes=dict.fromkeys(gone, 200))
    run = simulate(five(), FIVE, steps=600, faults=faults)
    assert run.backend == "protocol"
    assert run.shares[198].sum() == pytest.approx(10.0)
    assert run.shares[-1].sum() == 0.0
    assert not run.audit.any()
    with pytest.raises(InputError, match=r"2 of 5 centres run .*the back end 'protocol'"):
        simulate(five(), FIVE, steps=600, faults=faults, backend="vectorised")
    # Before the crash both are the same.
    simulate(five(), FIVE, steps=200, faults=faults, backend="vectorised")


@pytest.mark.parametrize(
    "faults",
    [
        wn.Faults(crashes={0: 200}),
        wn.Faults(crashes={1: 200, 4: 200}),
        wn.Faults(crashes=[(0, 100), (3, 150, 300), (2, 400)], loss=0.1),
        wn.Faults(loss=0.3),
        None,
    ],
    ids=["one", "two at once", "in turn, with a return", "loss", "nothing"],
)
def test_both_back_ends_end_with_the_same_shares(faults: wn.Faults | None) -> None:
    ends = [
        simulate(five(), FIVE, steps=1000, faults=faults, backend=backend)
        for backend in ("protocol", "vectorised")
    ]
    assert [run.backend for run in ends] == ["protocol", "vectorised"]
    np.testing.assert_allclose(ends[0].shares[-1], ends[1].shares[-1], atol=1e-9)
    assert (ends[0].alive[-1] == ends[1].alive[-1]).all()
    for run in ends:
        assert run.held[-1] == pytest.approx(10.0, abs=1e-9)
        assert run.shares.sum(axis=1).max() <= 10.0


def test_both_back_ends_end_with_the_same_model() -> None:
    ends = [
        simulate(problem(trains=True), RING, steps=2500, every=100, backend=backend)
        for backend in ("protocol", "vectorised")
    ]
    models = [run.model for run in ends]
    assert models[0] is not None
    assert models[1] is not None
    np.testing.assert_allclose(models[0], models[1], atol=1e-7)
    np.testing.assert_allclose(ends[0].loss[-1], ends[1].loss[-1], rtol=1e-10)
    np.testing.assert_allclose(ends[0].shares[-1], ends[1].shares[-1], atol=1e-7)
    assert ends[0].tracking_error[-1] == 0.0


CRASH = wn.Faults(crashes={1: 30})


def test_many_centres_take_the_vectorised_method_after_fewer_steps() -> None:
    centres, used = 300, []
    costs = [wn.QuadraticCPU(center=float(k % 5), scale=1.0) for k in range(centres)]
    problem = wn.NetworkProblem(costs, budget=2.0 * centres, boxes=(0.0, 5.0))
    most = MOST_MESSAGES * 100 // centres // (2 * centres)
    for steps in (1, most + 1):
        used.append(wn.simulate(problem, wn.Network.ring(centres), steps=steps).backend)
    assert used == ["protocol", "vectorised"]


@pytest.mark.parametrize(
    ("options", "backend"),
    [
        ({}, "protocol"),
        ({"faults": wn.Faults(loss=0.1)}, "protocol"),
        ({"links": wn.LogQuantizer(0.125)}, "vectorised"),
        ({"method": baselines.HeavyBall()}, "vectorised"),
        ({"backend": "vectorised"}, "vectorised"),
        ({"faults": CRASH}, "protocol"),
        ({"faults": CRASH, "steps": 1 + MOST_MESSAGES // 10, "every": 1000}, "vectorised"),
        ({"faults": CRASH, "links": wn.LogQuantizer(0.125)}, "vectorised"),
        ({"faults": CRASH, "links": wn.Ideal()}, "protocol"),
        ({"faults": wn.Faults(crashes={1: 30}, lease=5)}, "vectorised"),
        ({"faults": CRASH, "backend": "vectorised"}, "vectorised"),
        ({"faults": wn.Faults(delay=2)}, "protocol"),
        ({"faults": wn.Faults(cuts=[((0, 1), 3, 9)])}, "protocol"),
        ({"settings": Settings.of_diameter(2, steps=40)}, "protocol"),
        ({"backend": "protocol"}, "protocol"),
    ],
)
def test_auto_takes_the_back_end_that_settles_the_faults(
    options: dict[str, object], backend: str
) -> None:
    run = simulate(problem(), RING, **({"steps": 40} | options))  # type: ignore[arg-type]
    assert run.backend == backend


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"backend": "quick"}, "backend: is 'quick'; allowed: auto, protocol, vectorised"),
        ({"backend": "protocol", "links": wn.LogQuantizer(0.125)}, "carry codes.*LogQuantizer"),
        ({"backend": "protocol", "method": baselines.HeavyBall()}, "method: is"),
        ({"backend": "protocol", "method": wn.Surplus(momentum=0.5)}, "batches or momentum"),
        ({"backend": "protocol", "method": wn.Surplus(learner="diffusion")}, "late"),
        ({"backend": "protocol", "network": wn.Network.ring(5, directed=True)}, "is directed"),
        ({"backend": "protocol", "faults": wn.Faults(lease=5)}, "faults.lease.*settings="),
        ({"backend": "vectorised", "settings": Settings()}, "settings, with backend = vectorised"),
        ({"backend": "vectorised", "faults": wn.Faults(cuts=[((0,), 3, 9)])}, "network is cut"),
        (
            {"faults": wn.Faults(delay=1), "links": wn.LogQuantizer(0.125)},
            r"links.*needed, since messages are delayed by up to 1 step",
        ),
    ],
)
def test_what_a_back_end_would_settle_differently_is_refused(
    options: dict[str, object], reason: str
) -> None:
    network = options.pop("network", RING)
    stated = problem(trains="diffusion" in reason or reason == "late")
    with pytest.raises(InputError, match=reason):
        simulate(stated, network, steps=20, **options)  # type: ignore[arg-type]


def test_crashes_beyond_the_last_step_and_short_absences_count_right() -> None:
    line = wn.Network.of(5, [(0, 1), (1, 2), (2, 3), (3, 4)])
    late = wn.Faults(crashes={0: 50, 1: 50, 2: 50})
    assert why_protocol(FIVE, late, 51)
    assert not why_protocol(FIVE, late, 50)
    apart = wn.Faults(crashes={2: 50})
    assert why_protocol(line, apart, 51) == "the crashes cut the survivors apart"
    assert not why_protocol(line, wn.Faults(crashes={0: 50}), 51)
    assert not why_protocol(line.failing(0.1), apart, 51)
    in_turn = wn.Faults(crashes=[(0, 5, 50), (1, 60, 100), (2, 110)])
    assert not why_protocol(FIVE, in_turn, 200)
    assert not why_protocol(net(), wn.Faults(crashes={4: 5, 5: 5}), 200)
    half = wn.Faults(crashes={0: 5, 1: 5})
    assert "2 of 4" in why_protocol(wn.Network.ring(4), half, 200)
    assert quadratic().centres == 20


def test_old_names_of_settings_work_and_warn() -> None:
    with pytest.warns(DeprecationWarning, match=r"Surplus.*tempo=\) is now multiplier_step="):
        assert wn.Surplus(tempo=0.2).multiplier_step == 0.2  # type: ignore[call-arg]
    with pytest.warns(DeprecationWarning, match=r"beat=\) is now heartbeat="):
        assert Settings(beat=5).heartbeat == 5  # type: ignore[call-arg]
    with pytest.warns(DeprecationWarning, match=r"beat=\) is now heartbeat="):
        assert Settings.of_diameter(2, beat=3).heartbeat == 3  # type: ignore[call-arg]
    with pytest.warns(DeprecationWarning, match=r"method\.tempo is now method\.multiplier_step"):
        assert scenario({"method": {"tempo": 0.3}}).method.multiplier_step == 0.3
