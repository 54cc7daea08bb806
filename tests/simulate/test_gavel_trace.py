"""Gavel's stream: its means in the window that its authors measured, and its law."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from walras import InputError
from walras.simulate import gavel_trace

WINDOW = slice(4000, 5001)


def test_a_seed_gives_one_stream_and_rates_only_stretch_it() -> None:
    slow, fast = (gavel_trace(rate, 200, 3, synthetic=True) for rate in (1.0, 4.0))
    assert slow.steps.tolist() == fast.steps.tolist()
    assert slow.arrival == pytest.approx(4 * fast.arrival)
    assert gavel_trace(1.0, 200, 4, synthetic=True).steps.tolist() != slow.steps.tolist()


def test_arrivals_are_poisson_and_sizes_have_their_shares() -> None:
    trace = gavel_trace(2.0, 20_000, 0, multiple=True, synthetic=True)
    gaps = np.diff(trace.arrival)
    assert gaps.mean() == pytest.approx(1800, rel=0.03)
    assert gaps.std() == pytest.approx(1800, rel=0.03)
    found = [float((trace.size == size).mean()) for size in (1, 2, 4, 8)]
    assert found == pytest.approx([0.7, 0.1, 0.15, 0.05], abs=0.01)
    hours = trace.seconds("v100") / 3600
    assert float((hours > 1000 / 60).mean()) == pytest.approx(0.2, abs=0.01)
    assert hours.max() < 10_000 / 60 + 1e-9


@pytest.mark.real_data("gavel")
def test_means_in_the_published_window() -> None:
    """Means on the V100 and on each job's fastest type, from which published times follow: at low
    load FIFO adds 0.16 h (17.58 and 15.31 h with one GPU, 18.56 and 16.91 h with several)."""
    for multiple, v100, fastest in ((False, 17.40, 15.13), (True, 18.41, 16.78)):
        trace = gavel_trace(jobs=5001, multiple=multiple)
        assert trace.seconds("v100")[WINDOW].mean() / 3600 == pytest.approx(v100, abs=0.005)
        assert trace.seconds()[WINDOW].mean() / 3600 == pytest.approx(fastest, abs=0.005)


def test_a_fifth_of_the_jobs_has_high_priority() -> None:
    trace = gavel_trace(jobs=20_000, priorities=True, synthetic=True)
    assert set(trace.weight) == {1.0, 5.0}
    assert float((trace.weight == 5.0).mean()) == pytest.approx(0.2, abs=0.01)
    assert set(gavel_trace(jobs=100, synthetic=True).weight) == {1.0}


@pytest.mark.parametrize(
    "bad",
    [
        {"rate": 0.0},
        {"jobs": 0},
        {"jobs": 10**8},
        {"seed": -1},
        {"multiple": "no"},
        {"priorities": 2},
        {"synthetic": "x"},
        {"synthetic": 0},
    ],
)
def test_numbers_out_of_range_are_refused(bad: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        gavel_trace(**({"synthetic": True} | bad))
