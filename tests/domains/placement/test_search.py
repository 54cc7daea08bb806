"""The search from the bound to the placement, where its parts show."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from tests.domains.placement.instances import drawn

from walras.domains.placement.inputs import make_instance
from walras.domains.placement.options import Options
from walras.domains.placement.search import search
from walras.progress import Progress


def test_patterns_close_a_gap_that_filling_leaves() -> None:
    rng = np.random.default_rng(1)
    nodes = pd.DataFrame({"cpu": [100.0] * 40, "gpus": [4] * 40})
    cpu = rng.choice([10.0, 25.0, 45.0, 60.0], 200)
    tasks = pd.DataFrame({"cpu": cpu, "gpus": rng.choice([0.3, 0.7, 1.0, 2.0], 200)})
    steps: list[Progress] = []
    found = search(make_instance(nodes, tasks), Options(on_progress=steps.append))
    assert found.gap <= 0.005
    assert found.gap == pytest.approx(steps[-1].gap, abs=1e-9)
    values = [step.value for step in steps]
    assert values == sorted(values)


def test_patterns_are_packed_by_their_shares() -> None:
    nodes = pd.DataFrame({"cpu": [40.0] * 30, "gpus": [2] * 30})
    # By CPU both shares of 0.3 would come first, on one GPU, and the second of 0.7 nowhere.
    tasks = pd.DataFrame({"cpu": [15.0, 5.0] * 60, "gpus": [0.3, 0.7] * 60})
    found = search(make_instance(nodes, tasks), Options())
    assert found.value == pytest.approx(60.0)


def test_the_same_seed_gives_the_same_placement() -> None:
    instance = make_instance(*drawn(11, 5, 30))
    first, second = (search(instance, Options(seed=4, tolerance=0.0)) for _ in range(2))
    assert np.array_equal(first.home, second.home)
    assert first.bound == second.bound
