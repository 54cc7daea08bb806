"""MNIST on 20 centres with one or two classes each: logistic, SVM, softmax, a small network."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd

from benchmarks.network.study import CENTRES, Outcome, Study, costs, net
from walras import data
from walras import network as wn
from walras.network import baselines as rv
from walras.network.methods.interfaces import Method
from walras.plot import network as plots

LINKS = wn.LogQuantizer(0.5, width=6)  # 6 bits a scalar and 16 a message: under one byte


class Digits(NamedTuple):
    """Training samples less their mean image, and a test set.

    Attributes:
        features: (samples, pixels).
        targets: (samples,) digits, or signs.
        test: The samples kept apart.
    """

    features: np.ndarray
    targets: np.ndarray
    test: wn.TestSet


def _digits() -> Digits:
    digits = data.load("mnist")
    train, test = digits.scaled()
    mean = train.mean(axis=0)
    kept = wn.TestSet(test - mean, digits.test_labels, digits.source)
    return Digits(train - mean, digits.train_labels, kept)


def _problem(loss: object, found: Digits, each: int, seed: int) -> wn.NetworkProblem:
    cpu, budget = costs(seed)
    shards = wn.split(found.features, found.targets, CENTRES, seed=seed, classes_each=each)
    return wn.NetworkProblem(cpu, budget, loss=loss, shards=shards)  # type: ignore[arg-type]


def _row(
    name: str, problem: wn.NetworkProblem, run: wn.Run, test: wn.TestSet, best: float
) -> dict[str, object]:
    model, (loss, _) = np.asarray(run.model), problem.learning
    arcs, scalars = 2 * net(0).links, model.shape[1]
    share = 16 * arcs * run.steps
    worst = min(test.accuracy(loss, row) for row in model)
    return {
        "model": f"{name}, {test.origin}",
        "scalars": scalars,
        "centralised": best,
        "mean model": run.accuracy[-1],
        "points behind": 100.0 * (best - run.accuracy[-1]),
        "worst centre": worst,
        "its points behind": 100.0 * (best - worst),
        "bytes a scalar sent": (run.bits[-1] - share) / 8 / (2 * arcs * scalars * run.steps),
        "cost gap": run.cost_gap[-1],
        "worst audit": int(np.abs(run.audit).max()),
        "seconds": run.seconds[-1],
    }


def softmax(seed: int) -> Outcome:
    """Ten classes; the reference is the optimum of all data together."""
    digits = _digits()
    problem = _problem(wn.Softmax(10, 1e-4), digits, 2, seed)
    best = digits.test.accuracy(problem.learning[0], np.asarray(problem.optimum().model))
    run = wn.simulate(
        problem,
        net(seed),
        links=LINKS,
        steps=8000,
        every=80,
        test=digits.test,
        method=wn.Surplus(batch=128, momentum=0.97, alpha=4.0),
    )
    row = _row(f"softmax, seed {seed}", problem, run, digits.test, best)
    figure = plots.training(run.frame(), "bits", {run.method: best})
    return Outcome(pd.DataFrame([row]), figure)


def three_or_five(seed: int) -> Outcome:
    """Threes against fives: logistic regression and the support vector machine."""
    digits = _threes_and_fives(_digits())
    rows, frames, reference = [], [], {}
    for name, loss in (("logistic", wn.Logistic(1e-3)), ("SVM", wn.SmoothHinge(1e-3))):
        problem = _problem(loss, digits, 1, seed)
        best = digits.test.accuracy(loss, np.asarray(problem.optimum().model))
        run = wn.simulate(
            problem,
            net(seed),
            links=LINKS,
            steps=2000,
            every=50,
            test=digits.test,
            method=wn.Surplus(batch=128, momentum=0.97, alpha=4.0),  # as softmax
        )
        rows.append(_row(f"3 or 5, {name}", problem, run, digits.test, best))
        frames.append(run.frame().assign(method=name))
        reference[name] = best
    figure = plots.training(pd.concat(frames), "bits", reference)
    return Outcome(pd.DataFrame(rows), figure)


def _threes_and_fives(digits: Digits) -> Digits:
    """These two alone, as 1 and -1."""
    own, held = np.isin(digits.targets, (3, 5)), np.isin(digits.test.targets, (3, 5))
    signs = [
        np.where(labels == 3, 1.0, -1.0)
        for labels in (digits.targets[own], digits.test.targets[held])
    ]
    kept = wn.TestSet(digits.test.features[held], signs[1], digits.test.origin)
    return Digits(digits.features[own], signs[0], kept)


def network(seed: int) -> Outcome:
    """A network with one hidden layer of 32; the reference trains it on all data at once."""
    import torch

    digits = _digits()
    torch.manual_seed(seed)
    module = torch.nn.Sequential(torch.nn.Linear(784, 32), torch.nn.ReLU(), torch.nn.Linear(32, 10))

    def cross_entropy(outputs: object, targets: object) -> object:
        return torch.nn.functional.cross_entropy(outputs, targets, reduction="none")

    loss = wn.TorchLoss(module, cross_entropy, regularisation=1e-5, smoothness_hint=1.0)
    problem = _problem(loss, digits, 2, seed)
    surplus = wn.Surplus(batch=32, momentum=0.9, alpha=4.0, model_step=0.15, unsafe=True)
    centre: Method = rv.Centralised(step=0.05, batch=32, momentum=0.9)
    done, run = (
        wn.simulate(
            problem, net(seed), links=LINKS, steps=2000, every=100, method=method, test=digits.test
        )
        for method in (centre, surplus)
    )
    row = _row("784-32-10", problem, run, digits.test, float(done.accuracy[-1]))
    frames = [run.frame(), done.frame()]
    return Outcome(pd.DataFrame([row]), plots.training(pd.concat(frames)))


STUDIES = (
    Study(
        "digits", "MNIST, ten classes, two a centre",
        "Mini-batches of 128, six bits a scalar, against the optimum of all data together; the "
        "accuracy of the centres' mean model and of the worst centre's own.", softmax, 200,
    ),
    Study(
        "three-or-five", "MNIST, 3 against 5, one class a centre",
        "Logistic regression and the support vector machine, six bits a scalar.", three_or_five, 60,
    ),
    Study(
        "network", "MNIST, a small neural network",
        "One hidden layer, two classes a centre, six bits a scalar; the reference takes as many "
        "steps on batches of all centres' data.", network, 150,
    ),
)  # fmt: skip
