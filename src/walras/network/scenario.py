"""A run stated in words and numbers, as TOML files hold them: tables to problem, network, links."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from walras import data as datasets
from walras.errors import DataError, InputError
from walras.network.costs import QuadraticCPU, ThroughputCPU
from walras.network.faults import Faults
from walras.network.graph import Network
from walras.network.links import Ideal, Links, LogQuantizer, UniformQuantizer
from walras.network.losses import LeastSquares, Logistic, Loss, SmoothHinge, Softmax
from walras.network.problem import Problem
from walras.network.shards import split
from walras.network.simulate import DEFAULT_LINKS
from walras.network.stated import (
    Check,
    Table,
    anything,
    choice,
    flag,
    number,
    numbers,
    text,
    whole,
)
from walras.network.surplus import Surplus
from walras.network.types import Weights

_SEED, _COUNT, _BOUND = whole, partial(whole, least=1), partial(numbers, finite=False)
_KEYS: Mapping[str, Mapping[str, Check]] = {
    "": {
        "seed": _SEED, "steps": _COUNT, "every": _COUNT, "network": anything, "cpu": anything,
        "loss": anything, "links": anything, "faults": anything, "method": anything,
        "deploy": anything,
    },
    "network": {
        "kind": choice("erdos_renyi", "ring", "grid", "small_world", "file"), "centres": whole,
        "p": number, "k": _COUNT, "rows": _COUNT, "columns": _COUNT, "file": text,
        "directed": flag, "seed": _SEED, "switching": _COUNT, "law": choice("redraw", "union"),
        "parts": _COUNT, "failing": number,
    },
    "cpu": {
        "kind": choice("quadratic", "throughput"), "center": numbers, "scale": numbers,
        "work": numbers, "rate": numbers, "efficiency": number, "power": number,
        "budget": number, "low": _BOUND, "high": _BOUND, "seed": _SEED,
    },
    "loss": {
        "kind": choice("svm", "logistic", "least_squares", "softmax"),
        "data": choice("points", "mnist", "mnist-3-5"), "samples": _COUNT,
        "regularisation": number, "sharpness": number, "classes_each": _COUNT, "seed": _SEED,
    },
    "links": {
        "kind": choice("log", "uniform", "ideal"), "rho": number, "mode": text, "width": whole,
        "step": number,
    },
    "faults": {
        "loss": number, "duplication": number, "reordering": number, "delay": whole,
        "crashes": anything, "lease": whole,
    },
    "method": {
        "alpha": number, "share_step": number, "share_momentum": number, "model_step": number,
        "batch": whole, "momentum": number, "tempo": number, "learner": text, "guard": flag,
        "unsafe": flag,
    },
    "deploy": dict.fromkeys(
        ("pace", "period", "launcher", "restart", "time_limit", "hosts", "cgroup"), anything
    ),
}  # fmt: skip
"""What each table may state. ``deploy`` is looked at where it is used."""


@dataclass(frozen=True, eq=False)
class Test:
    """Samples kept for testing.

    Attributes:
        features: (samples, features).
        targets: (samples,).
        origin: Where all samples come from.
    """

    features: Weights
    targets: npt.NDArray[Any]
    origin: str

    __test__ = False  # no test case, whatever its name


@dataclass(frozen=True, eq=False)
class Scenario:
    """Everything a run needs.

    Attributes:
        problem: What is to be decided.
        network: Who talks to whom.
        links: What they carry.
        faults: What goes wrong; None for nothing.
        method: The algorithm's settings.
        steps: How many.
        every: Steps between records.
        seed: Of faults and batches.
        test: Samples to test the model on; None without a loss.
        deploy: Where and how real processes run.
        tables: All that was stated, every value in its type, and the seed; what is left out of
            them has the default of this version.
    """

    problem: Problem
    network: Network
    links: Links
    faults: Faults | None
    method: Surplus
    steps: int
    every: int
    seed: int
    test: Test | None
    deploy: Table
    tables: Table


def read_scenario(path: Path) -> Scenario:
    """The scenario in a TOML file.

    Raises:
        DataError: The file is not there, or not TOML.
        InputError: A key is unknown, or a value cannot be used.
    """
    try:
        with path.open("rb") as file:
            content = tomllib.load(file)
    except (OSError, tomllib.TOMLDecodeError) as error:
        raise DataError(
            f"cannot be read: {error}", where=str(path), allowed="a TOML file",
            remedy="walras network example prints one",
        ) from error  # fmt: skip
    return scenario(content)


def scenario(content: Table) -> Scenario:
    """The scenario that tables state; what is left out is as in :data:`EXAMPLE`.

    Args:
        content: As read from TOML.

    Raises:
        InputError: A key is unknown, or a value cannot be used.
    """
    content = _checked("", content)
    parts = {name: _checked(name, content.get(name, {})) for name in _KEYS if name}
    seed = content.get("seed", 0)
    network = _network(parts["network"], seed)
    loss, shards, test = _loss(parts["loss"], network.centres, seed)
    problem = _problem(parts["cpu"], network.centres, seed, loss, shards)
    steps = content.get("steps", 2000)
    return Scenario(
        problem=problem,
        network=network,
        links=_links(parts["links"]),
        faults=Faults(**parts["faults"]) if parts["faults"] else None,
        method=Surplus(**parts["method"]),
        steps=steps,
        every=content.get("every", max(1, steps // 1000)),
        seed=seed,
        test=test,
        deploy=parts["deploy"],
        tables={"seed": seed, **content, **{name: part for name, part in parts.items() if part}},
    )


def _network(table: Table, seed: int) -> Network:
    seed = table.get("seed", seed)
    n, directed = table.get("centres", 20), table.get("directed", False)
    kind = table.get("kind", "erdos_renyi")
    if kind == "file":
        network = Network.from_file(table.get("file", ""), directed=directed)
    elif kind == "ring":
        network = Network.ring(n, directed=directed)
    elif kind == "grid":
        network = Network.grid(table.get("rows", 4), table.get("columns", 4))
    elif kind == "small_world":
        network = Network.small_world(n, table.get("k", 4), table.get("p", 0.2), seed=seed)
    else:
        network = Network.erdos_renyi(n, table.get("p", 0.3), seed=seed, directed=directed)
    if "switching" in table:
        network = network.switching(
            table["switching"], kind=table.get("law", "redraw"), parts=table.get("parts", 2),
            seed=seed,
        )  # fmt: skip
    if "failing" in table:
        network = network.failing(table["failing"], seed=seed)
    return network


def _problem(table: Table, n: int, seed: int, loss: Loss | None, shards: Any) -> Problem:
    """Costs as given, or drawn: center U(1, 5), scale U(0.5, 4), work U(50, 400)."""
    rng = np.random.default_rng(table.get("seed", seed))
    kind = table.get("kind", "quadratic")
    cpu: list[QuadraticCPU] | list[ThroughputCPU]
    if kind == "quadratic":
        center, scale = (
            _each(table, name, n, rng.uniform(least, most, n))
            for name, least, most in (("center", 1.0, 5.0), ("scale", 0.5, 4.0))
        )
        cpu = [QuadraticCPU(c, k) for c, k in zip(center, scale, strict=True)]
        budget = table.get("budget", 1.2 * sum(center))
        ends = (-np.inf, np.inf)
    else:
        work, rate = (
            _each(table, "work", n, rng.uniform(50, 400, n)),
            _each(table, "rate", n, np.full(n, 10.0)),
        )
        shape = (table.get("efficiency", 1.0), table.get("power", 1.0))
        cpu = [ThroughputCPU(w, r, *shape) for w, r in zip(work, rate, strict=True)]
        budget = table.get("budget", 2.0 * n)
        ends = (0.1, 16.0)
    low = np.array(_each(table, "low", n, np.full(n, ends[0])))
    high = np.array(_each(table, "high", n, np.full(n, ends[1])))
    boxes = (low, high) if np.isfinite(low).any() or np.isfinite(high).any() else None
    return Problem(cpu, budget, boxes, loss, shards)


def _loss(table: Table, n: int, seed: int) -> tuple[Loss | None, Any, Test | None]:
    if not table:
        return None, None, None
    kind, name = table.get("kind", "svm"), table.get("data", "points")
    seed = table.get("seed", seed)
    train, targets, test = _samples(name, table.get("samples", 2000), seed)
    weight = table.get("regularisation", 0.01)
    losses: dict[str, Loss] = {
        "svm": SmoothHinge(weight, table.get("sharpness", 3.0)),
        "logistic": Logistic(weight),
        "least_squares": LeastSquares(weight),
        "softmax": Softmax(max(2, int(np.max(targets)) + 1), weight),
    }
    each = table.get("classes_each")
    return losses[kind], split(train, targets, n, seed=seed, classes_each=each), test


def _samples(name: str, count: int, seed: int) -> tuple[Weights, Any, Test]:
    """Training samples, their targets, and a test set: points, or MNIST less its mean image."""
    if name == "points":
        rng = np.random.default_rng(seed)
        x = rng.normal(size=(2 * count, 2))
        clean = x @ np.array([1.0, -0.7]) + 0.3
        t = np.where(clean + 0.5 * rng.normal(size=2 * count) >= 0.0, 1.0, -1.0)
        return x[:count], t[:count], Test(x[count:], t[count:], f"drawn with seed {seed}")
    digits = datasets.load("mnist", seed=seed)
    train, test = digits.scaled()
    mean = train.mean(axis=0)
    train, test = train - mean, test - mean
    origin = f"{digits.source}: {digits.origin}"
    a, b = digits.train_labels, digits.test_labels
    if name == "mnist":
        return train, a, Test(train[:0] if not len(test) else test, b, origin)
    own, held = np.isin(a, (3, 5)), np.isin(b, (3, 5))
    signs = [np.where(labels == 3, 1.0, -1.0) for labels in (a[own], b[held])]
    return train[own].astype(np.float64), signs[0], Test(test[held], signs[1], origin)


def _links(table: Table) -> Links:
    kind = table.get("kind", "log")
    if kind == "ideal":
        return Ideal()
    if kind == "uniform":
        return UniformQuantizer(table.get("step", 0.01), table.get("width", 16))
    given = {k: table[k] for k in ("rho", "mode", "width") if k in table}
    return LogQuantizer(**({"rho": DEFAULT_LINKS.rho} | given))


def _each(table: Table, name: str, n: int, drawn: Any) -> list[float]:
    value = table.get(name, drawn)
    array = np.broadcast_to(value, n) if np.ndim(value) == 0 else np.asarray(value)
    if array.shape != (n,):
        raise InputError(
            f"has {len(array)} numbers", where=f"cpu.{name}", allowed=f"one, or {n}",
            remedy="give one number for all centres, or one each",
        )  # fmt: skip
    return [float(v) for v in array]


def _checked(name: str, table: object) -> dict[str, Any]:
    """The table with every value in its type; keys that mean nothing are refused."""
    where = name or "the file"
    if not isinstance(table, Mapping):
        raise InputError(
            f"is {table!r}", where=where, allowed="a table", remedy=f"begin it with [{name}]"
        )
    for key in table:
        if key not in _KEYS[name]:
            raise InputError(
                f"has the unknown key '{key}'", where=where, allowed=", ".join(_KEYS[name]),
                remedy="correct its spelling, or leave it out",
            )  # fmt: skip
    dotted = f"{name}." if name else ""
    return {key: _KEYS[name][key](value, dotted + key) for key, value in table.items()}


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
