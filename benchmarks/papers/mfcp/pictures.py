"""Figures 1 to 3: the platform, an example of three tasks on two clusters, and the pipeline."""

from __future__ import annotations

import numpy as np
import torch

import walras as wl
from benchmarks.papers.item import Item, Outcome
from benchmarks.papers.mfcp.problem import measured
from walras.learn import matched
from walras.learn.linear import place_linear
from walras.matching import Smoothing
from walras.types import Floats, Ints

# Figure 2 prints no numbers. These have its shape: A grows by a line in z, B as a power, and B is
# quicker than A on tasks 1 and 2, slower on task 3.
Z = np.array([1.0, 2.0, 3.0])
TRUE = np.stack([0.4 + 1.1 * Z, 0.6 * 2.0**Z])
PREFERRED = np.array([1.0, 1.0, 0.1])  # weights of B's tasks: those that it runs quicker
_MEAN = Smoothing(temperature=0.3, sharpness=1e-3, barrier="elastic", price=0.0)


def line(times: Floats, weights: Floats) -> Floats:
    """The weighted least-squares line through a cluster's times, at the tasks."""
    design = np.column_stack([Z, np.ones_like(Z)])
    root = np.sqrt(weights)
    fitted: Floats = design @ np.linalg.lstsq(root[:, None] * design, root * times, rcond=None)[0]
    return fitted


def placed(predicted: Floats) -> Ints:
    """(3,) cluster of each task by the least sum of predicted times: each to its quicker one."""
    return place_linear(predicted[None], np.ones((1, *predicted.shape)), 0.0)[0]


def trained(start: Floats, steps: int = 300) -> Floats:
    """Lines trained through the matching for the true sum of times, from other lines."""
    weights = torch.tensor(np.stack([start[:, 1] - start[:, 0], 2.0 * start[:, 0] - start[:, 1]]))
    weights.requires_grad_()
    adam = torch.optim.Adam([weights], 0.02)
    z, true = torch.tensor(Z), torch.tensor(TRUE)
    sure = torch.ones(1, *TRUE.shape, dtype=torch.float64)
    for _ in range(steps):
        predicted = weights[0][:, None] * z + weights[1][:, None]
        x = matched(predicted[None].clamp_min(1e-3), sure, 0.0, _MEAN)
        adam.zero_grad()
        (x[0] * true).sum().backward()
        adam.step()
    found = weights.detach().numpy()
    return np.asarray(found[0][:, None] * Z + found[1][:, None])


def _figure_1(quick: bool) -> Outcome:
    data = measured(40 if quick else 100)
    predictor = wl.predict.fit(data.train, data.validation)
    found = predictor.predict(data.test.take(np.arange(5)))
    plan = wl.matching.match(found.times, found.success, min_success=0.75)
    return Outcome(
        f"five unseen tasks on {', '.join(data.clusters)}: {plan.status}, makespan "
        f"{plan.makespan:.2f} s predicted ({data.source} data)",
        "reproduced" if plan.status == "optimal" else "refuted",
        "a drawing without numbers; `walras demo` runs such a platform",
    )


def _figure_2(quick: bool) -> Outcome:
    del quick
    even = np.stack([line(row, np.ones(3)) for row in TRUE])
    weighted = np.stack([TRUE[0], line(TRUE[1], PREFERRED)])
    through = trained(even)
    found = {
        "least squares": placed(even),
        "weighted": placed(weighted),
        "through the matching": placed(through),
    }
    best = placed(TRUE)
    words = "; ".join(f"{name} {''.join('AB'[i] for i in x)}" for name, x in found.items())
    right = [bool((x == best).all()) for x in found.values()]
    return Outcome(
        f"tasks 1 to 3 go to: truth {''.join('AB'[i] for i in best)}; {words}",
        "reproduced"
        if right == [False, True, True] and found["least squares"][1] == 0
        else "refuted",
        "with numbers of our own in the figure's shape; it prints none",
    )


def _figure_3(quick: bool) -> Outcome:
    """The regret's gradient by each predicted time, against central differences."""
    generator = torch.Generator().manual_seed(0)
    times = torch.rand(2 if quick else 8, 3, 5, generator=generator).double() + 0.5
    chances = torch.full_like(times, 0.9)
    best = matched(times, chances, 0.8)
    least = torch.logsumexp(20.0 * (best * times).sum(-1), -1) / 20.0

    def regret(predicted: torch.Tensor) -> torch.Tensor:
        x = matched(predicted, chances, 0.8, scale=torch.ones(len(times)).double())
        return ((torch.logsumexp(20.0 * (x * times).sum(-1), -1) / 20.0 - least) / 5).sum()

    predicted = (times * (1.0 + 0.3 * torch.rand(times.shape, generator=generator))).detach()
    asked = predicted.clone().requires_grad_()
    regret(asked).backward()
    ends, step = torch.zeros_like(predicted), 1e-5
    for k in range(predicted.numel()):
        move = torch.zeros_like(predicted)
        move.view(-1)[k] = step
        ends.view(-1)[k] = (regret(predicted + move) - regret(predicted - move)) / (2.0 * step)
    off = float((asked.grad - ends).abs().max() / ends.abs().max())
    return Outcome(
        f"predict, match, regret, and back: {off:.0e} from central differences",
        "reproduced" if off < 1e-4 else "refuted",
        "a drawing without numbers",
    )


FIGURE_1 = Item(
    "figure 1",
    "A platform predicts tasks on clusters and matches them.",
    "",
    "wl.matching.match(predictor.predict(tasks).times, ...)",
    _figure_1,
)
FIGURE_2 = Item(
    "figure 2",
    "Lines fitted one by one send task 2 to the wrong cluster; lines weighted by what "
    "each cluster is preferred for do not.",
    "task 2 wrong, then right",
    "wl.learn.matched(times, success)",
    _figure_2,
)
FIGURE_3 = Item(
    "figure 3",
    "The pipeline: prediction, matching, regret, and the gradient back.",
    "",
    "wl.learn.matched(times, success)",
    _figure_3,
)
