"""Streams of failures: known numbers, exponential times, checkpoints within a round."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from walras.simulate.time_shared.faults import count_work, exponential, no_faults


def test_streams_are_those_of_splitmix64() -> None:
    """The first numbers of seed 0, from the authors' reference implementation in C."""
    words = [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4, 0x06C45D188009454F]
    wanted = [-np.log(((word >> 11) + 0.5) * 2.0**-53) for word in words]
    found = [exponential(np.uint64(0), k) for k in range(3)]
    np.testing.assert_allclose(found, wanted, rtol=1e-15)


def test_times_are_exponential_over_turns_and_over_workers() -> None:
    keys = np.random.SeedSequence([0, 19, 0]).generate_state(2000, np.uint64)
    for drawn in (
        [exponential(keys[0], k) for k in range(2000)],
        [exponential(key, 0) for key in keys],
    ):
        assert stats.kstest(drawn, "expon").pvalue > 0.01


def test_checkpoints_within_a_round() -> None:
    faults = no_faults(np.array([1]), 1)._replace(
        checkpoint=np.array([100.0]),
        life=np.array([1000.0]),
        since=np.array([30.0]),
        unsaved=np.array([60.0]),
    )
    count_work(0, 50.0, 100.0, True, faults)  # two steps a second
    assert (faults.since[0], faults.unsaved[0]) == (80.0, 160.0)
    count_work(0, 145.0, 290.0, True, faults)  # 225 s: the last checkpoint was 25 s ago
    assert (faults.since[0], faults.unsaved[0]) == (25.0, 50.0)
    assert faults.life[0] == pytest.approx(805.0)
