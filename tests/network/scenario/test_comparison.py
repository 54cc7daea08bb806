"""Every method on a scenario; a baseline that cannot take it is left out with its reason."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from walras import network as wn
from walras.errors import InputError
from walras.network import baselines
from walras.network.scenario.comparison import Comparison, Entry, entries
from walras.network.scenario.scenario import Scenario, scenario

SMALL: dict[str, Any] = {
    "network": {"kind": "ring", "centres": 5},
    "links": {"kind": "ideal"},
    "steps": 40,
    "every": 10,
}


def stated(**more: Any) -> Scenario:
    return scenario(SMALL | more)


def test_models_are_compared_where_there_is_a_loss_and_shares_without_it() -> None:
    alone = entries(stated())
    assert {entry.of for entry in alone} == {"shares"}
    own = stated(loss={"kind": "logistic", "samples": 60})
    both = entries(own)
    assert [entry.of for entry in both] == ["shares"] * 6 + ["model"] * 6
    assert all((entry.problem.loss is None) == (entry.of == "shares") for entry in both)
    assert sum(entry.method is own.method for entry in both) == 2


def test_runs_are_kept_by_comparison_and_method() -> None:
    own, found = stated(), Comparison()
    for entry in entries(own):
        if entry.method.name in ("surplus", "gradient", own.method.name):
            found.add(own, entry, 40, lambda _: None)
    assert {of for of, _ in found.runs} == {"shares"}
    run = found.runs["shares", own.method.name]
    assert run.recorded.tolist() == [10, 20, 30, 40]
    np.testing.assert_allclose(run.held, own.problem.budget, rtol=1e-12)
    assert found.left_out == {}


def test_a_baseline_that_cannot_state_the_problem_is_left_out_with_its_reason() -> None:
    own, found = stated(cpu={"low": 0.1}), Comparison()
    entry = Entry("shares", own.problem, baselines.RatioConsensus())
    found.add(own, entry, 20, lambda _: None)
    assert found.runs == {}
    assert "QuadraticCPU only" in found.left_out["shares", entry.method.name]


def test_the_algorithms_own_failure_is_raised() -> None:
    own = stated(method={"share_step": 1e6})
    entry = Entry("shares", own.problem, own.method)
    with pytest.raises(InputError):
        Comparison().add(own, entry, 20, lambda _: None)
    assert isinstance(own.method, wn.Surplus)
