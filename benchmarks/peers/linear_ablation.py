"""Training on the linear ablation: our losses, and PyEPO's in the same training loop.

Both train the same predictor from the same start, on the same rounds, with the same Adam and the
same looks at validation rounds; both solve by the same enumeration. The loss alone differs.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from benchmarks.problem import Budget, Outcome
from benchmarks.recipes import RecipeInstance

Floats = npt.NDArray[np.float64]

if TYPE_CHECKING:
    import torch

    from walras.learn.losses import Loss, Rounds
    from walras.learn.settings import LearnSettings

STEPS = 120
WEIGHT = 1.0  # lambda of black-box differentiation
_ROUNDS = 600


def walras(instance: RecipeInstance, objective: str, budget: Budget, *, method: str) -> Outcome:
    """``spo+`` or ``black-box`` of :mod:`walras.learn`."""
    return _trained(instance, budget, method, peer=False)


def pyepo(instance: RecipeInstance, objective: str, budget: Budget, *, method: str) -> Outcome:
    """The same method by PyEPO."""
    return _trained(instance, budget, method, peer=True)


def _trained(instance: RecipeInstance, budget: Budget, method: str, *, peer: bool) -> Outcome:
    """Seconds of training and the regret on test rounds, of every split."""
    import torch

    from walras.learn.fitting import two_stage, view_of, viewed
    from walras.learn.settings import LearnSettings
    from walras.learn.train import train
    from walras.learn.training_problem import Evaluator, draw, training_problem

    torch.set_num_threads(budget.threads)
    settings = LearnSettings(
        method=method, objective="sum", model="counts", link="exp", steps=STEPS, noise=WEIGHT
    )
    seconds, regrets = [], []
    for seed in range(instance.spec.seeds):
        recipe, own = instance.spec.load(seed), settings.with_(seed=seed)
        made = view_of(training_problem(recipe, own, tasks_per_round=instance.spec.tasks), own)
        start = two_stage(made, own.with_(method="tsm-log"))
        loss = pyepo_loss(own, *instance.shape) if peer else None
        began = time.perf_counter()
        trained, _ = train(start, made, own, loss=loss)
        seconds.append(time.perf_counter() - began)
        test = viewed(recipe.test, own)
        pool = np.arange(len(test.names))
        evaluator = Evaluator(
            test, draw(pool, _ROUNDS, instance.spec.tasks, (seed, 99)), made.terms
        )
        # The ablation's premise: times are predicted, success is known.
        placed = evaluator.terms.place(
            evaluator.of(trained.predict(test).times), evaluator.truth[1]
        )
        regrets.append(float(evaluator.elastic(placed).mean()))
    numbers = {"seconds": float(np.mean(seconds)), "regret": float(np.mean(regrets))}
    numbers |= {f"regret.{k}": value for k, value in enumerate(regrets)}
    return Outcome(None, 0.0, sum(seconds), STEPS, numbers=numbers)


def pyepo_loss(settings: LearnSettings, clusters: int, tasks: int) -> Loss:
    """PyEPO's SPO+ or black-box differentiation as a loss of rounds.

    A PyEPO model has one feasible set, while the floor's row differs from round to round. So the
    round's chances and its floor ride along as costs of variables that are 0: the model reads its
    row from there. SPO+ leaves them as they are (2 a - a), and their derivative is 0.

    Its black-box step multiplies the derivative that arrives, of the mean over the batch: lambda is
    ours times the batch.
    """
    import torch
    from pyepo.func import SPOPlus, blackboxOpt

    model = _model(clusters, tasks)
    spo = SPOPlus(model, reduction="none")
    box = blackboxOpt(model, lambd=settings.noise * settings.batch)

    def loss(t: torch.Tensor, a: torch.Tensor, truth: Rounds) -> torch.Tensor:
        floor = torch.full_like(truth.a[:, :1, 0], truth.floor)
        known = torch.cat([truth.a.flatten(1), floor], 1)
        predicted = torch.cat([t.flatten(1), known], 1)
        true = torch.cat([truth.t.flatten(1), known], 1)
        if settings.method != "spo+":
            return (box(predicted) * true).sum(1)
        best = [_solved(model, costs) for costs in true.numpy()]
        solutions = torch.tensor(np.array([x for x, _ in best]))
        values = torch.tensor([[value] for _, value in best], dtype=true.dtype)
        found: torch.Tensor = spo(predicted, true, solutions, values)
        return found

    return loss


def _model(clusters: int, tasks: int) -> Any:
    """Least linear cost of the placements that meet the floor, by enumeration."""
    from pyepo.model.opt import optModel

    from walras.learn.linear import allowed, indicators, least_cost

    size = clusters * tasks

    class Placements(optModel):
        """Costs are (times, chances, floor); the last two are not objective but data."""

        def _getModel(self) -> tuple[None, range]:
            return None, range(2 * size + 1)

        def setObj(self, c: Floats) -> None:
            """Take the costs of a round."""
            self._costs = np.asarray(c, dtype=np.float64)

        def solve(self) -> tuple[Floats, float]:
            """The best placement as 0 and 1, and its cost."""
            times, chances, floor = np.split(self._costs, [size, 2 * size])
            shape = (1, clusters, tasks)
            feasible = allowed(chances.reshape(shape), float(floor[0]))
            best = least_cost(times.reshape(shape), feasible)
            x = indicators(clusters, tasks)[best[0]]
            return np.append(x, np.zeros(size + 1)), float(times @ x)

    return Placements()


def _solved(model: Any, costs: Floats) -> tuple[Floats, float]:
    model.setObj(costs)
    found: tuple[Floats, float] = model.solve()
    return found
