"""What a study is: a question, a run, a table and a figure, kept under its name."""

from __future__ import annotations

import math
import platform
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from benchmarks.tables import Tables
from walras import network as wn

TABLES = Tables("network")
CENTRES = 20


@dataclass(frozen=True)
class Outcome:
    """What a study found.

    Attributes:
        table: What the page shows, as measured.
        figure: What it draws.
    """

    table: pd.DataFrame
    figure: Figure


@dataclass(frozen=True)
class Study:
    """One command, one figure, one table.

    Attributes:
        name: On the command line and of the files.
        title: Of its section.
        question: What it asks, in a sentence or two.
        run: From a seed to what was found.
        estimate: Seconds that it takes.
    """

    name: str
    title: str
    question: str
    run: Callable[[int], Outcome]
    estimate: float

    def measure(self, seed: int, tables: Tables = TABLES) -> None:
        """Run, and keep table and figure."""
        found = self.run(seed)
        table = found.table.assign(seed=seed, python=platform.python_version())
        tables.write(self.name, table)
        found.figure.savefig(tables.picture(self.name), dpi=130, facecolor="white")
        print(found.table.to_string(index=False), flush=True)


def write_page(studies: Sequence[Study], tables: Tables = TABLES) -> Path:
    """Write ``page.md`` from the studies that have a table."""
    sections = []
    for study in studies:
        text = "Not measured yet.\n"
        frame = tables.read(study.name)
        if frame is not None:
            table = _markdown(frame.drop(columns=["seed", "python"]))
            text = f"{table}\n{tables.shown(study.title, study.name)}\n"
        command = f"`python -m benchmarks.network {study.name}`"
        sections.append(f"### {study.title}\n\n{study.question} {command}\n\n{text}")
    return tables.write_page("\n".join(sections))


def _markdown(frame: pd.DataFrame) -> str:
    lines = [list(map(str, frame.columns)), ["---", *["--:"] * (len(frame.columns) - 1)]]
    lines += [[_cell(value) for value in row] for row in frame.to_numpy()]
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)


def _cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return "" if math.isnan(value) else f"{value:.4g}"
    return str(value)


def costs(seed: int, centres: int = CENTRES) -> tuple[list[wn.CPUCost], float]:
    """The theory page's CPU data: scale U(0.5, 4), center U(1, 5), 1.2 times the centers' sum."""
    rng = np.random.default_rng(seed)
    center, scale = rng.uniform(1, 5, centres), rng.uniform(0.5, 4, centres)
    cpu: list[wn.CPUCost] = [wn.QuadraticCPU(c, k) for c, k in zip(center, scale, strict=True)]
    return cpu, 1.2 * float(center.sum())


def shares_only(seed: int, centres: int = CENTRES) -> wn.NetworkProblem:
    """CPU without a model."""
    return wn.NetworkProblem(*costs(seed, centres))


def points(seed: int, samples: int = 300) -> tuple[np.ndarray, np.ndarray]:
    """Two overlapping classes in the plane."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(samples, 2))
    clean = x @ np.array([1.0, -0.7]) + 0.3
    return x, np.where(clean + 0.5 * rng.normal(size=samples) >= 0, 1.0, -1.0)


def with_loss(
    seed: int, loss: object, x: np.ndarray, t: np.ndarray, **rest: int
) -> wn.NetworkProblem:
    """CPU and a model on split samples."""
    cpu, budget = costs(seed)
    shards = wn.split(x, t, CENTRES, seed=seed, **rest)
    return wn.NetworkProblem(cpu, budget, loss=loss, shards=shards)  # type: ignore[arg-type]


def net(seed: int, p: float = 0.3) -> wn.Network:
    """The experiments' random graph."""
    return wn.Network.erdos_renyi(CENTRES, p, seed=seed)


def first_below(run: wn.Run, values: np.ndarray, tolerance: float = 1e-6) -> dict[str, float]:
    """Steps, bits and seconds until values stay below a tolerance; NaN if they never do."""
    above = np.flatnonzero(~(np.abs(values) < tolerance))
    k = int(above[-1]) + 1 if len(above) else 0
    if k >= len(values):
        return {"steps": np.nan, "bits": np.nan, "seconds": np.nan}
    return {
        "steps": float(run.recorded[k]),
        "bits": float(run.bits[k]),
        "seconds": float(run.seconds[k]),
    }
