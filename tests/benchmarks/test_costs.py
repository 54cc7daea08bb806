"""Learning what engines cost: known coefficients are found again, outliers are not followed."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from benchmarks.costs import errors, fitted, main, samples

from benchmarks import costs as learning

TRUE = np.array([2e-3, 5e-6, 0.0])


def runs(count: int = 60, noise: float = 0.05) -> list[tuple[str, str, list[float], float]]:
    rng = np.random.default_rng(0)
    sizes = 10.0 ** rng.uniform(1, 6, count)
    values = np.column_stack([np.ones(count), sizes, rng.uniform(0.0, 1e-3, count)])
    seconds = values @ TRUE * rng.lognormal(0.0, noise, count)
    return [("interior", f"{k}", values[k].tolist(), float(seconds[k])) for k in range(count)]


def test_coefficients_are_found_again() -> None:
    learned = fitted(runs())
    assert learned["interior"][:2] == pytest.approx(TRUE[:2], rel=0.1)
    off = errors(runs(), learned)["interior"]
    assert off["runs"] == 60
    assert off["middle"] < 1.1


def test_one_run_that_took_far_too_long_is_not_followed() -> None:
    case, name, values, seconds = runs()[0]
    learned = fitted([*runs(), (case, name, values, 1e3 * seconds)])
    assert learned["interior"][:2] == pytest.approx(TRUE[:2], rel=0.2)


def test_recorded_runs_are_learned_from(tmp_path: Path) -> None:
    target, recorded = tmp_path / "costs.json", tmp_path / "runs.jsonl"
    recorded.write_text("\n".join(json.dumps(run) for run in runs()), encoding="utf-8")
    assert main(["--fit"], target, recorded) == 0
    written = json.loads(target.read_text(encoding="utf-8"))
    assert written["coefficients"]["interior"][:2] == pytest.approx(TRUE[:2], rel=0.1)


def test_engines_are_timed_on_what_they_solve(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(learning, "SHAPES", ((3, 8),))
    monkeypatch.setattr(learning, "CAPACITIES", (1.0,))
    monkeypatch.setattr(learning, "FLOWS", ())
    found = list(samples())
    assert {case for case, *_ in found} >= {"interior", "admm", "exact, scalar", "exact, cone"}
    assert all(seconds > 0.0 for *_, seconds in found)
