"""Learn what engines cost: ``python -m benchmarks.costs`` times them and writes their coefficients.

The instances have other seeds than those that the benchmarks report. Runs that a limit stops, or
that prove less than they were asked for, teach nothing. ``--fit`` learns from the recorded runs.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import scipy.optimize as so

import walras as wl
from benchmarks.flow_instances import FlowSpec, build_flow, domain_arguments
from benchmarks.instances import Spec, build
from benchmarks.measure import described_machine
from benchmarks.peers.walras_engine import BUILDERS, state
from benchmarks.store import RESULTS
from walras.domains import traffic_engineering as te
from walras.select import cost_model as costs
from walras.select.cost_model import features
from walras.types import Floats

Sample = tuple[str, str, list[float], float]  # case, instance, features, seconds

SEED = 0
SHAPES = (
    (3, 8), (3, 30), (3, 300), (5, 60), (10, 100), (20, 200), (50, 300), (100, 150), (40, 800),
    (100, 1000), (30, 4000), (456, 500), (456, 2000),
)  # fmt: skip
CAPACITIES = (0.3, 1.0)
FLOWS = (
    FlowSpec("B4", 0.3, SEED), FlowSpec("ASN2k-40", 0.15, SEED, "hard"),
    FlowSpec("ASN2k-60", 0.15, SEED, "hard"), FlowSpec("UsCarrier", 0.15, SEED),
    FlowSpec("ASN2k-150", 0.15, SEED, "hard"), FlowSpec("Kdl", 0.05, SEED),
)  # fmt: skip
BY_LINK = ("B4", "ASN2k-40", "ASN2k-60")
ROUTING = ("max-total-flow", "min-max-utilisation")
TOLERANCES = {"interior": (1e-6,), "exact": (1e-6,), "admm": (1e-2, 1e-3)}
LIMIT = 12.0  # seconds a run
LARGEST = {"exact": 1_000_000, "admm": 3_000_000}  # nonzeros from which no run ends in that time
TARGET = Path(costs.__file__).with_name(costs.FILE)
RUNS = RESULTS / "costs.jsonl"


def problems() -> Iterator[tuple[str, wl.Separable]]:
    """Problems of all sizes, with their names."""
    for shape in SHAPES:
        for capacity in CAPACITIES:
            instance = build(Spec("heterogeneous", *shape, SEED, capacity))
            for objective in BUILDERS:
                found = state(instance, objective)
                if isinstance(found, wl.Separable):
                    yield f"{objective} {shape[0]}x{shape[1]} x{capacity:g}", found
    for spec in FLOWS:
        flow = build_flow(spec)
        for objective in ROUTING:
            yield f"{objective} {spec.name}", state(flow, objective)  # type: ignore[misc]
        if spec.topology in BY_LINK:
            network, demand, _ = domain_arguments(flow)
            yield f"by-link {spec.name}", te.max_total_flow_by_link(network, demand)


def samples() -> Iterator[Sample]:
    """Time the engines; compiled before by a solve of the smallest problem of each kind."""
    found = list(problems())
    began = time.perf_counter()
    for k, (name, problem) in enumerate(found):
        for engine, tolerances in TOLERANCES.items():
            for tolerance in tolerances:
                taken = _seconds(problem, engine, tolerance)
                if taken is not None:
                    case, values = features(problem, engine, tolerance)
                    yield case, f"{name}, {tolerance:g}", values.tolist(), taken
        left = (time.perf_counter() - began) / (k + 1) * (len(found) - k - 1)
        print(f"{k + 1} of {len(found)}: {name}, about {left:.0f} s left", file=sys.stderr)


def _seconds(problem: wl.Separable, engine: str, tolerance: float) -> float | None:
    """The median of a few runs, one where it takes seconds; None if it is not solved."""
    if problem.rows.matrix.nnz > LARGEST.get(engine, np.inf):
        return None
    taken: list[float] = []
    while len(taken) < (5 if sum(taken) < 1.0 else 1):
        began = time.perf_counter()
        try:
            s = wl.solve(
                problem,
                engine=engine,
                tolerance=tolerance,
                threads=2,
                time_limit=LIMIT,
            )
        except wl.WalrasError:
            return None
        taken.append(time.perf_counter() - began)
        if s.status is not wl.Status.OPTIMAL or s.engine != engine:
            return None
    return float(np.median(taken))


def fitted(found: list[Sample]) -> dict[str, Floats]:
    """Coefficients >= 0 of each case, by least squares of the logarithms of seconds.

    Far outliers count as their distance, not its square: a limit of the form, not of the fit.
    """
    out = {}
    for case in sorted({sample[0] for sample in found}):
        values = np.array([sample[2] for sample in found if sample[0] == case])
        seconds = np.array([sample[3] for sample in found if sample[0] == case])
        size = np.max(values / seconds[:, None], axis=0)
        scaled = values / np.where(size > 0, size, 1.0)  # a coefficient of 1 explains one run alone

        def off(weight: Floats, a: Floats = scaled, b: Floats = seconds) -> Floats:
            return np.asarray(np.log(a @ weight / b))

        start = np.full(values.shape[1], 1.0 / values.shape[1])
        bounds = (np.full(len(start), 1e-9), np.full(len(start), np.inf))
        best = so.least_squares(off, start, bounds=bounds, loss="soft_l1", x_scale=start)
        weight = np.where(best.x > 1e-6, best.x, 0.0)
        out[case] = weight / np.where(size > 0, size, 1.0)
    return out


def errors(found: list[Sample], learned: dict[str, Floats]) -> dict[str, dict[str, float]]:
    """How far predictions are off in each case: runs, and the middle and the largest factor."""
    out = {}
    for case, of_case in learned.items():
        off = [
            np.log(of_case @ np.array(values) / taken)
            for name, _, values, taken in found
            if name == case
        ]
        middle, largest = np.exp([np.median(np.abs(off)), np.max(np.abs(off))])
        out[case] = {"runs": len(off), "middle": round(middle, 2), "largest": round(largest, 2)}
    return out


def main(arguments: list[str] | None = None, target: Path = TARGET, runs: Path = RUNS) -> int:
    """Time, fit and write."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.costs", description=__doc__)
    parser.add_argument("--fit", action="store_true", help="from the recorded runs")
    if not parser.parse_args(arguments).fit:
        lines = [json.dumps(sample) for sample in samples()]
        runs.write_text("\n".join(lines) + "\n", encoding="utf-8")
    found: list[Sample] = [tuple(json.loads(line)) for line in runs.read_text().splitlines()]
    learned = fitted(found)
    off = errors(found, learned)
    record = {
        "coefficients": {case: [float(f"{v:.3g}") for v in learned[case]] for case in learned},
        "factor off": off,
        "machine": described_machine(),
        "seed": SEED,
    }
    target.write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")
    for case, one in off.items():
        print(f"{case}: {one['runs']} runs, off by {one['middle']}x, at most {one['largest']}x")
    return 0


if __name__ == "__main__":
    sys.exit(main())
