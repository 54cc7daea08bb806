"""What the process of a network answers, asked in this process."""

from __future__ import annotations

import json
from typing import Any

import pytest

from walras.errors import InputError
from walras.exchange.api.network_models import NetworkIn
from walras.exchange.runtime import networking
from walras.network._simulate import simulate
from walras.network.scenario.scenario import scenario

SMALL = NetworkIn(centres=5, graph="ring", learns=False).model_dump()


def _ask(**asked: Any) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(networking.answered(json.dumps(asked).encode()))
    return found


@pytest.fixture(autouse=True)
def _fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(networking._Networks, "live", None)


def test_a_network_is_made_advanced_cut_killed_and_mended() -> None:
    made = _ask(do="make", sample=SMALL)
    assert (made["round"], len(made["centres"]), len(made["links"])) == (0, 5, 5)
    assert _ask(do="advance", rounds=60, seconds=60.0)["round"] == 60
    cut = _ask(do="cut", links=[[0, 1], [2, 3]])
    assert [one["ends"] for one in cut["links"] if one["state"] == "cut"] == [[0, 1], [2, 3]]
    mended = _ask(do="mend", links=[[1, 0]])
    assert [one["ends"] for one in mended["links"] if one["state"] == "cut"] == [[2, 3]]
    assert _ask(do="stop", centre=4)["centres"][4]["state"] == "stopped"
    back = _ask(do="restart", centre=4)["centres"][4]
    assert (back["state"], back["life"]) == ("waiting", 2)


def test_rates_that_are_left_out_stay() -> None:
    _ask(do="make", sample=SMALL | {"loss": 0.2, "churn": 3.0})
    found = _ask(do="faults", rates={"delay": 2}, churn=None)["faults"]
    assert found == {"loss": 0.2, "duplication": 0.0, "delay": 2, "churn": 3.0}
    found = _ask(do="faults", rates={"loss": 0.0}, churn=0.0)["faults"]
    assert found == {"loss": 0.0, "duplication": 0.0, "delay": 2, "churn": 0.0}


def test_what_is_refused_says_why_and_what_to_do() -> None:
    assert "make one first" in _ask(do="advance", rounds=1, seconds=1.0)["refused"]["remedy"]
    refused = _ask(do="make", sample=SMALL | {"budget": 1e6})["refused"]
    assert refused["where"] == "budget"
    assert "the boxes hold" in refused["what"]
    assert refused["remedy"]
    _ask(do="make", sample=SMALL)
    assert _ask(do="cut", links=[[0, 2]])["refused"]["where"] == "link"


@pytest.mark.parametrize("graph", ["small_world", "erdos_renyi", "ring", "grid"])
@pytest.mark.parametrize("cpu", ["quadratic", "throughput"])
@pytest.mark.parametrize("centres", [5, 6, 20, 40])
def test_what_is_left_out_is_chosen_so_that_it_goes_together(
    graph: str, cpu: str, centres: int
) -> None:
    for seed in range(3):
        sample = SMALL | {"centres": centres, "graph": graph, "cpu": cpu, "seed": seed}
        live = networking.made(sample)
        assert live.problem.centres == centres
        assert live.advance(1) == 1


@pytest.mark.parametrize("centres", [2, 3, 4])
def test_the_smallest_networks_are_made_or_refused_in_words(centres: int) -> None:
    for graph in ("ring", "grid", "erdos_renyi"):
        assert networking.made(SMALL | {"centres": centres, "graph": graph}).advance(3) == 3
    if centres == 2:
        with pytest.raises(InputError, match="small_world"):
            networking.made(SMALL | {"centres": centres, "graph": "small_world"})


def test_the_shares_are_those_of_the_simulator() -> None:
    """Bit for bit: the page and ``walras network simulate`` run the same nodes."""
    sample = SMALL | {"centres": 8, "graph": "small_world", "learns": True, "loss": 0.2, "delay": 1}
    live = networking.made(sample)
    live.advance(120)
    same = scenario(networking.stated(sample))
    run = simulate(
        same.problem,
        same.network,
        steps=120,
        faults=same.faults,
        seed=same.seed,
        settings=live.plan.settings,
    )
    assert run.backend == "protocol"
    assert live.world.shares.tolist() == run.shares[-1].tolist()
    assert 8 * live.world.bytes == run.bits[-1]
    assert live.row().gap == pytest.approx(run.cost_gap[-1])


def test_the_scenario_that_is_shown_is_the_same_network() -> None:
    sample = SMALL | {"graph": "small_world", "centres": 9, "learns": True, "loss": 0.1, "seed": 4}
    again = scenario(networking.stated(sample))
    live = networking.made(sample)
    assert again.backend == "protocol"
    assert again.problem.budget == live.problem.budget
    assert (again.network.tail == live.plan.network.tail).all()
    assert again.problem.optimum().shares.tolist() == live.problem.optimum().shares.tolist()
    assert again.faults is not None
    assert again.faults.loss == 0.1


def test_numbers_that_diverge_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    extreme = NetworkIn(centres=3, graph="ring", p=0.5, seed=0, low=1e-300, budget=1e-9)
    _ask(do="make", sample=extreme.model_dump())
    refused = _ask(do="advance", rounds=30, seconds=60.0)["refused"]
    assert refused["what"].startswith("its numbers diverge")
    assert refused["where"] == "network"
    assert refused["remedy"]
    monkeypatch.setattr(networking, "_done", lambda _: {"budget": float("nan")})
    assert _ask(do="look")["refused"]["what"] == "its numbers diverge: its state is not finite"
