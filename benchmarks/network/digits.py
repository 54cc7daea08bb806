"""MNIST on 20 centres with two classes each: logistic, SVM, softmax, and a small network."""

from __future__ import annotations

import numpy as np
import pandas as pd

from benchmarks.network.study import CENTRES, Outcome, Study, costs, net
from walras import data
from walras import network as wn
from walras.network import rivals as rv
from walras.network.sides import Method
from walras.plot import network as plots

LINKS = wn.LogQuantizer(0.5, width=6)  # 6 bits a scalar and 16 a message: under one byte


def _digits() -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, str]:
    digits = data.load("mnist")
    train, test = digits.scaled()
    mean = train.mean(axis=0)
    return train - mean, digits.train_labels, test - mean, digits.test_labels, digits.source


def _problem(loss: object, x: np.ndarray, t: np.ndarray, each: int, seed: int) -> wn.Problem:
    cpu, budget = costs(seed)
    shards = wn.split(x, t, CENTRES, seed=seed, classes_each=each)
    return wn.Problem(cpu, budget, loss=loss, shards=shards)  # type: ignore[arg-type]


def _accuracy(problem: wn.Problem, model: object, x: np.ndarray, t: np.ndarray) -> float:
    loss, _ = problem.learning
    return float((loss.predict(model, x) == t).mean())  # type: ignore[arg-type]


def _row(
    name: str, problem: wn.Problem, run: wn.Run, x: np.ndarray, t: np.ndarray, best: float
) -> dict[str, object]:
    scalars = run.model.shape[1] if run.model is not None else 0
    arcs = 2 * net(0).links
    share = 16 * arcs * run.steps
    return {
        "model": name,
        "scalars": scalars,
        "test accuracy": _accuracy(problem, run.mean_model, x, t),
        "centralised": best,
        "points behind": 100.0 * (best - _accuracy(problem, run.mean_model, x, t)),
        "worst centre": min(_accuracy(problem, row, x, t) for row in np.asarray(run.model)),
        "bytes a scalar sent": (run.bits[-1] - share) / 8 / (2 * arcs * scalars * run.steps),
        "cost gap": run.cost_gap[-1],
        "worst audit": int(np.abs(run.audit).max()),
        "seconds": run.seconds[-1],
    }


def softmax(seed: int) -> Outcome:
    """Ten classes; the reference is the optimum of all data together."""
    x, t, test, labels, source = _digits()
    problem = _problem(wn.Softmax(10, 1e-4), x, t, 2, seed)
    best = _accuracy(problem, problem.optimum().model, test, labels)
    method = wn.Surplus(batch=128, momentum=0.97, alpha=4.0)
    run = wn.simulate(problem, net(seed), links=LINKS, steps=4000, every=40, method=method)
    row = _row(f"softmax, {source}", problem, run, test, labels, best)
    return Outcome(pd.DataFrame([row]), plots.progress_of_methods(run.frame(), "loss", "bits"))


def three_or_five(seed: int) -> Outcome:
    """Threes against fives: logistic regression and the support vector machine."""
    x, t, test, labels, source = _digits()
    own, held = np.isin(t, (3, 5)), np.isin(labels, (3, 5))
    x, test = x[own], test[held]
    t, labels = (np.where(v == 3, 1.0, -1.0) for v in (t[own], labels[held]))
    rows, frames = [], []
    for name, loss in (("logistic", wn.Logistic(1e-3)), ("SVM", wn.SmoothHinge(1e-3))):
        problem = _problem(loss, x, t, 1, seed)
        best = _accuracy(problem, problem.optimum().model, test, labels)
        run = wn.simulate(
            problem, net(seed), links=LINKS, steps=2000, every=50,
            method=wn.Surplus(batch=128, momentum=0.97, alpha=4.0),  # as softmax
        )  # fmt: skip
        rows.append(_row(f"3 or 5, {name}, {source}", problem, run, test, labels, best))
        frames.append(run.frame().assign(method=name))
    figure = plots.progress_of_methods(pd.concat(frames), "loss", "bits")
    return Outcome(pd.DataFrame(rows), figure)


def network(seed: int) -> Outcome:
    """A network with one hidden layer of 32; the reference trains it on all data at once."""
    import torch

    x, t, test, labels, source = _digits()
    torch.manual_seed(seed)
    module = torch.nn.Sequential(torch.nn.Linear(784, 32), torch.nn.ReLU(), torch.nn.Linear(32, 10))

    def cross_entropy(outputs: object, targets: object) -> object:
        return torch.nn.functional.cross_entropy(outputs, targets, reduction="none")

    loss = wn.TorchLoss(module, cross_entropy, regularisation=1e-5, smoothness_hint=1.0)
    problem = _problem(loss, x, t, 2, seed)
    steps, rows, frames = 2000, [], []
    surplus = wn.Surplus(batch=32, momentum=0.9, alpha=4.0, model_step=0.15, unsafe=True)
    centre: Method = rv.Centralised(step=0.05, batch=32, momentum=0.9)
    done = wn.simulate(problem, net(seed), steps=steps, every=100, method=centre)
    best = _accuracy(problem, done.mean_model, test, labels)
    run = wn.simulate(problem, net(seed), links=LINKS, steps=steps, every=100, method=surplus)
    rows.append(_row(f"784-32-10, {source}", problem, run, test, labels, best))
    frames = [run.frame(), done.frame()]
    figure = plots.progress_of_methods(pd.concat(frames), "loss")
    return Outcome(pd.DataFrame(rows), figure)


STUDIES = (
    Study(
        "digits", "MNIST, ten classes, two a centre",
        "Mini-batches of 128, six bits a scalar, against the optimum of all data together.",
        softmax, 200,
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
