"""Seconds of the processor that a first fit and a refit with 100 new rows take; drawn data.

``python -m benchmarks.learning.refits [ROWS]`` prints them and writes ``results/refits.json``. Each
of the rows is one run of one task on one of ten clusters, with thirty features.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from walras.predict import Predictor, Tasks, fit

_FRESH = 100
_CLUSTERS, _FEATURES = 10, 30
_RESULT = Path(__file__).parent.parent / "results" / "refits.json"


def drawn(rows: int, seed: int = 0) -> tuple[Any, ...]:
    """Features, times, success and runs of a synthetic log: log-normal times, one run a task."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(rows, _FEATURES))
    slopes, odds = rng.normal(size=(2, _CLUSTERS, _FEATURES)) * 0.2
    where, k = rng.integers(_CLUSTERS, size=rows), np.arange(rows)
    mean = np.exp(np.einsum("nd,nd->n", x, slopes[where]) + 0.1 * where)
    chance = 1.0 / (1.0 + np.exp(-1.5 - np.einsum("nd,nd->n", x, odds[where])))
    done = rng.random(rows) < chance
    times = np.full((_CLUSTERS, rows), np.nan)
    success, runs = times.copy(), np.zeros((_CLUSTERS, rows))
    success[where, k], runs[where, k] = done, 1.0
    times[where[done], k[done]] = (mean * rng.lognormal(0.0, 0.3, rows))[done]
    return x, times, success, runs


def tasks_of(log: tuple[Any, ...], rows: int) -> Tasks:
    """The first rows of a log."""
    x, *arrays = log
    times, success, runs = (array[:, :rows] for array in arrays)
    names = tuple(f"t{j}" for j in range(rows))
    clusters = tuple(f"c{i}" for i in range(_CLUSTERS))
    return Tasks(names, clusters, x[:rows], times, success, runs)


def main(rows: int = 100_000) -> dict[str, Any]:
    """Measure; the figures."""
    log = drawn(rows + _FRESH)
    began = time.process_time()
    first = fit(tasks_of(log, rows))
    first_seconds = time.process_time() - began
    began = time.process_time()
    again = fit(tasks_of(log, rows + _FRESH), start=first)
    refit_seconds = time.process_time() - began
    return {
        "rows": rows,
        "clusters": _CLUSTERS,
        "features": _FEATURES,
        "synthetic": True,
        "first_cpu_seconds": round(first_seconds, 3),
        "refit_cpu_seconds": round(refit_seconds, 3),
        "apart": _apart(first, again, log),
        "peak_mebibytes": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024),
    }


def _apart(first: Predictor, again: Predictor, log: tuple[Any, ...]) -> float:
    """Largest relative change of a predicted time: the new rows do count."""
    asked = tasks_of(log, 1000)
    return float(np.abs(again.predict(asked).times / first.predict(asked).times - 1.0).max())


if __name__ == "__main__":
    found = main(*map(int, sys.argv[1:2]))
    print(json.dumps(found, indent=2))
    _RESULT.write_text(json.dumps(found, indent=2) + "\n")
