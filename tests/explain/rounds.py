"""Rounds of a small cluster that the tests of explanations share."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

import walras as wl
from walras.separable import Separable

cs = wl.domains.cluster_scheduling


SHARP = 1e-9


def cluster(seed: int, m: int = 3, n: int = 7) -> tuple[pd.DataFrame, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    T = pd.DataFrame(
        rng.lognormal(0, 0.8, (m, n)),
        index=[f"type{i}" for i in range(m)],
        columns=[f"job{j}" for j in range(n)],
    )
    return T, rng.choice([1.0, 2.0], n), rng.uniform(0.8, 1.6, m)


def with_bound(problem: Separable, row: int, bound: float) -> Separable:
    upper = problem.rows.upper.copy()
    upper[row] = bound
    return replace(problem, rows=replace(problem.rows, upper=upper))


def records(table: pd.DataFrame) -> list[dict[str, Any]]:
    return [dict(row) for row in table.to_dict("records")]  # type: ignore[arg-type]


def cell(table: pd.DataFrame, row: str, column: str) -> Any:
    return table.loc[row, column]


def sharp(problem: Separable) -> wl.Solution:
    return wl.solve(problem, tolerance=SHARP, engine="exact", threads=1)
