"""Scenarios: from the tables of a TOML file to problem, network and links."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from walras import checks
from walras import data as datasets
from walras.files import read_toml
from walras.network.backends import Backend
from walras.network.graph.network import Network
from walras.network.links.faults import Faults
from walras.network.links.quantizers import Ideal, Links, LogQuantizer, UniformQuantizer
from walras.network.methods.surplus import Surplus
from walras.network.problem.cpu_costs import QuadraticCPU, ThroughputCPU
from walras.network.problem.losses import LeastSquares, Logistic, Loss, SmoothHinge, Softmax
from walras.network.problem.network_problem import Problem
from walras.network.problem.shards import split
from walras.network.problem.test_set import TestSet
from walras.network.scenario.tables import Table, completed
from walras.types import Weights


@dataclass(frozen=True, eq=False)
class Scenario:
    """The complete input of a run.

    Attributes:
        problem: The problem.
        network: The graph of the centres.
        links: The coding of messages.
        faults: Faults of the run; None for none.
        method: The algorithm's settings.
        steps: Number of steps.
        every: Steps between records.
        seed: Seed of faults and batches.
        test: Samples to test the model on; None without a loss.
        backend: The back end.
        deploy: The table for real processes.
        tables: All tables, with the stated values and the defaults of this version.
    """

    problem: Problem
    network: Network
    links: Links
    faults: Faults | None
    method: Surplus
    steps: int
    every: int
    seed: int
    test: TestSet | None
    backend: Backend
    deploy: Table
    tables: Table

    @property
    def synthetic(self) -> str:
        """The parts that are drawn at random, in words; empty if all is stated or measured."""
        cpu, loss = self.tables["cpu"], self.tables.get("loss", {})
        stated = ("center", "scale") if cpu["kind"] == "quadratic" else ("work",)
        drawn = ["costs"] if any(name not in cpu for name in stated) else []
        if loss and self.test is not None and "measured" not in self.test.origin:
            drawn.append("samples")
        return " and ".join(drawn)


def read_scenario(path: Path) -> Scenario:
    """Read the scenario in a TOML file.

    Raises:
        DataError: The file does not exist, or is not TOML.
        InputError: A key is unknown, or a value cannot be used.
    """
    return scenario(read_toml(path, "walras network example prints one"))


def scenario(content: Table) -> Scenario:
    """Make the scenario of some tables; :data:`EXAMPLE` gives the values that are left out.

    Args:
        content: The tables as read from TOML.

    Raises:
        InputError: A key is unknown, or a value cannot be used.
    """
    tables = completed(content)
    seed = tables["seed"]
    network = _network(tables["network"])
    loss, shards, test = _loss(tables.get("loss", {}), network.centres)
    problem = _problem(tables["cpu"], network.centres, loss, shards)
    tables["cpu"] = {**tables["cpu"], "budget": problem.budget}
    return Scenario(
        problem=problem,
        network=network,
        links=_links(tables["links"]),
        faults=Faults(**tables["faults"]) if "faults" in tables else None,
        method=Surplus(**tables["method"]),
        steps=tables["steps"],
        every=tables["every"],
        seed=seed,
        test=test,
        backend=tables["backend"],
        deploy=tables.get("deploy", {}),
        tables=tables,
    )


def _network(table: Table) -> Network:
    kind, seed = table["kind"], table["seed"]
    if kind == "file":
        network = Network.from_file(table["file"], directed=table["directed"])
    elif kind == "ring":
        network = Network.ring(table["centres"], directed=table["directed"])
    elif kind == "grid":
        network = Network.grid(table["rows"], table["columns"])
    elif kind == "small_world":
        network = Network.small_world(table["centres"], table["k"], table["p"], seed=seed)
    else:
        network = Network.erdos_renyi(
            table["centres"], table["p"], seed=seed, directed=table["directed"]
        )
    if "switching" in table:
        network = network.switching(
            table["switching"], kind=table["law"], parts=table.get("parts", 2), seed=seed
        )
    if "failing" in table:
        network = network.failing(table["failing"], seed=seed)
    return network


def _problem(table: Table, n: int, loss: Loss | None, shards: Any) -> Problem:
    """The problem with given or drawn costs: center U(1, 5), scale U(0.5, 4), work U(50, 400)."""
    rng = np.random.default_rng(table["seed"])
    cpu: list[QuadraticCPU] | list[ThroughputCPU]
    if table["kind"] == "quadratic":
        center, scale = (
            _each(table, name, n, rng.uniform(least, most, n))
            for name, least, most in (("center", 1.0, 5.0), ("scale", 0.5, 4.0))
        )
        cpu = [QuadraticCPU(c, k) for c, k in zip(center, scale, strict=True)]
        budget = table.get("budget", 1.2 * sum(center))
    else:
        work, rate = _each(table, "work", n, rng.uniform(50, 400, n)), _each(table, "rate", n)
        shape = (table["efficiency"], table["power"])
        cpu = [ThroughputCPU(w, r, *shape) for w, r in zip(work, rate, strict=True)]
        budget = table.get("budget", 2.0 * n)
    low = np.array(_each(table, "low", n, -np.inf))
    high = np.array(_each(table, "high", n, np.inf))
    boxes = (low, high) if np.isfinite(low).any() or np.isfinite(high).any() else None
    return Problem(cpu, budget, boxes, loss, shards)


def _loss(table: Table, n: int) -> tuple[Loss | None, Any, TestSet | None]:
    if not table:
        return None, None, None
    seed, weight = table["seed"], table["regularisation"]
    train, targets, test = _samples(table["data"], table.get("samples", 0), seed)
    losses: dict[str, Callable[[], Loss]] = {
        "svm": lambda: SmoothHinge(weight, table["sharpness"]),
        "logistic": lambda: Logistic(weight),
        "least_squares": lambda: LeastSquares(weight),
        "softmax": lambda: Softmax(max(2, int(np.max(targets)) + 1), weight),
    }
    shards = split(train, targets, n, seed=seed, classes_each=table.get("classes_each"))
    return losses[table["kind"]](), shards, test


def _samples(name: str, count: int, seed: int) -> tuple[Weights, Any, TestSet]:
    """Training samples, their targets, and a test set: points, or MNIST minus its mean image."""
    if name == "points":
        rng = np.random.default_rng(seed)
        x = rng.normal(size=(2 * count, 2))
        clean = x @ np.array([1.0, -0.7]) + 0.3
        t = np.where(clean + 0.5 * rng.normal(size=2 * count) >= 0.0, 1.0, -1.0)
        return x[:count], t[:count], TestSet(x[count:], t[count:], f"drawn with seed {seed}")
    digits = datasets.load("mnist", seed=seed)
    train, test = digits.scaled()
    mean = train.mean(axis=0)
    train, test = train - mean, test - mean
    origin = f"{digits.source}: {digits.origin}"
    a, b = digits.train_labels, digits.test_labels
    if name == "mnist":
        return train, a, TestSet(test, b, origin)
    own, held = np.isin(a, (3, 5)), np.isin(b, (3, 5))
    signs = [np.where(labels == 3, 1.0, -1.0) for labels in (a[own], b[held])]
    return train[own].astype(np.float64), signs[0], TestSet(test[held], signs[1], origin)


def _links(table: Table) -> Links:
    if table["kind"] == "ideal":
        return Ideal()
    if table["kind"] == "uniform":
        return UniformQuantizer(table["step"], table["width"])
    return LogQuantizer(table["rho"], table["mode"], table["width"])


def _each(table: Table, name: str, n: int, drawn: Any = 0.0) -> list[float]:
    value = table.get(name, drawn)
    return [float(v) for v in checks.one_each(value, f"cpu.{name}", n, "centre")]


EXAMPLE = """\
# Twenty centres share CPU and train a support vector machine; messages are lost, two centres crash.
seed = 0
steps = 3000

[network]
kind = "erdos_renyi"   # or ring, grid, small_world, file
centres = 20
p = 0.3
switching = 50         # a new graph every 50 steps

[cpu]
kind = "quadratic"     # or throughput; centers and scales are drawn unless given
low = 0.0
high = 8.0

[loss]
kind = "svm"           # or logistic, least_squares, softmax
data = "points"        # or mnist-3-5, mnist

[links]
kind = "log"           # or uniform, ideal
rho = 0.125
mode = "innovation"

[faults]
loss = 0.2
crashes = [[4, 500], [9, 800, 1500]]   # centre, step, and the step of rejoining
"""
"""A scenario with every table; ``walras network example`` prints it."""
