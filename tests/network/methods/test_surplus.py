"""Settings of the algorithm: what is allowed, and what is chosen when they are left out."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.network.instances import learning, net, points, quadratic

from walras import network as wn
from walras.errors import InputError
from walras.network._simulate import simulate
from walras.network.methods.interfaces import Setting


def test_mini_batches_and_momentum_come_near() -> None:
    x, t = points(2000)
    problem = quadratic(loss=wn.Logistic(0.01), shards=wn.split(x, t, 20))
    method = wn.Surplus(batch=32, momentum=0.9, alpha=4.0)
    run = simulate(problem, net(), steps=2500, every=100, method=method)
    assert abs(run.loss_gap[-1]) < 2e-3
    assert run.tracking_error[-1] < 1e-11


def test_unsafe_steps_are_refused_unless_asked_for() -> None:
    problem, network = learning(), net()
    safe = wn.advise(problem, network).steps
    for name, bound in (("share_step", safe.share_bound), ("model_step", safe.model_bound)):
        options = {name: 1.01 * bound}
        with pytest.raises(InputError, match=rf"{name}: is .* < .*unsafe=True"):
            simulate(problem, network, steps=5, method=wn.Surplus(**options), backend="vectorised")  # type: ignore[arg-type]
        unsafe = wn.Surplus(**options, unsafe=True)  # type: ignore[arg-type]
        simulate(problem, network, steps=5, method=unsafe, backend="vectorised")


@pytest.mark.parametrize(
    "settings_",
    [{"momentum": 1.0}, {"multiplier_step": 0.0}, {"batch": 0}, {"share_momentum": -0.1}],
)
def test_method_settings_out_of_range_are_named(settings_: dict[str, float]) -> None:
    with pytest.raises(InputError, match=next(iter(settings_))):
        wn.Surplus(**settings_)  # type: ignore[arg-type]


def test_what_speaks_against_diffusion_is_named_and_settings_are_kept() -> None:
    setting = Setting(learning(), net(), wn.Ideal(), None, 0, None)
    convex = replace(setting, problem=learning(loss=wn.Logistic(0.1)))
    assert wn.Surplus().tracks(convex) is None
    assert wn.Surplus().steps(convex).learner == "diffusion"
    for method, changed, reason in (
        (wn.Surplus(alpha=0.1), convex, "alpha is given"),
        (wn.Surplus(batch=4), convex, "batches"),
        (wn.Surplus(), replace(convex, faults=wn.Faults(loss=0.1)), "lost or late"),
        (wn.Surplus(), replace(convex, links=wn.LogQuantizer(0.1, mode="value")), "leave a bias"),
    ):
        assert reason in (method.tracks(changed) or "")
        assert method.steps(changed).learner == "tracking"
    found = wn.Surplus(share_momentum=0.25, multiplier_step=0.05).steps(convex)
    assert (found.momentum, found.multiplier_step) == (0.25, 0.05)
