"""The linear ablation beside PyEPO: equal losses and derivatives, a run, the target."""

from __future__ import annotations

from typing import Any

import pytest
from benchmarks.cases import linear_ablation
from benchmarks.cell import Cell
from benchmarks.matching import MatchSpec, build_match
from benchmarks.measure import measure
from benchmarks.recipes import RecipeSpec

ROUNDS = build_match(MatchSpec(3, 4, 8))


def _pulled(method: str, *, peer: bool) -> tuple[Any, Any]:
    """A loss of predictions that are off by a factor, and its derivative by their times."""
    import torch
    from benchmarks.peers.linear_ablation import pyepo_loss

    from walras.learn.losses import Rounds
    from walras.learn.settings import LearnSettings
    from walras.learn.train import loss_of

    settings = LearnSettings(method=method, objective="sum", batch=len(ROUNDS.times), noise=1.0)
    loss = pyepo_loss(settings, 3, 4) if peer else loss_of(settings)
    true, a = torch.tensor(ROUNDS.times), torch.tensor(ROUNDS.success)
    off = torch.rand(true.shape, generator=torch.Generator().manual_seed(0), dtype=true.dtype)
    t = (true * (0.5 + off)).requires_grad_()
    floor = float(ROUNDS.floor.mean())
    value = loss(t, a, Rounds(true, a, floor, 10.0, (0,)))
    value.mean().backward()
    return value.detach().numpy(), t.grad.numpy()


@pytest.mark.peer("pyepo")
@pytest.mark.parametrize("method", ["spo+", "black-box"])
def test_losses_and_derivatives_are_pyepos(method: str) -> None:
    (ours, by_ours), (theirs, by_theirs) = (_pulled(method, peer=peer) for peer in (False, True))
    assert ours == pytest.approx(theirs, rel=1e-12)
    assert abs(by_ours).max() > 0.1 / len(ROUNDS.times)
    assert by_ours == pytest.approx(by_theirs, rel=1e-6, abs=1e-12)


def _measured(method: str) -> Any:
    spec = RecipeSpec("nb201", "A", 40, seeds=1)
    record = measure(Cell("test", spec, linear_ablation.NAME, method, 5.0, runs=1, threads=1))
    assert record["status"] == "ran", record["message"]
    return record["numbers"]


def test_our_training_is_measured() -> None:
    numbers = _measured("walras-spo")
    assert 0.0 < numbers["regret"] < 0.5
    assert numbers["regret"] == numbers["regret.0"]
    assert numbers["seconds"] > 0.0


@pytest.mark.peer("pyepo")
def test_pyepo_trains_to_the_same_regret() -> None:
    ours, theirs = _measured("walras-spo"), _measured("pyepo-spo")
    assert ours["regret"] == pytest.approx(theirs["regret"], rel=linear_ablation.EQUAL)


def test_the_target_needs_every_cell_and_equal_regret() -> None:
    def records(regret: float) -> dict[str, Any]:
        return {
            cell.name: {
                "numbers": {
                    "seconds": 1.0,
                    "regret": regret if cell.method == "pyepo-spo" else 0.04,
                }
            }
            for cell in linear_ablation.BENCHMARK.cells
        }

    every = records(0.04)
    assert [target.met for target in linear_ablation.targets(every)] == [True, True]
    assert [target.met for target in linear_ablation.targets(records(0.05))] == [False, True]
    every.popitem()
    assert linear_ablation.targets(every)[1].met is None
