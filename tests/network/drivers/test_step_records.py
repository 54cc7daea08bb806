"""Reports of centres, brought to common steps."""

from __future__ import annotations

import numpy as np

from walras.network.drivers.step_records import StepRecords


def _row(epoch: int, step: int, time: float, held: int) -> list[float]:
    return [epoch, step, time, held, held, 100 * step]


def test_steps_are_those_of_the_centres_and_a_lost_one_holds_nothing() -> None:
    long = [_row(0, k, 10.0 + k, 5) for k in range(1, 5)]
    short = [_row(0, k, 10.0 + k, 7) for k in range(1, 3)]
    found = StepRecords.of([long, short, []], np.array([True, False, False]), began=10.0)
    assert found.steps.tolist() == [1, 2, 3, 4]
    assert found.seconds.tolist() == [1.0, 2.0, 3.0, 4.0]
    assert found.held.tolist() == [[5, 7, 0], [5, 7, 0], [5, 0, 0], [5, 0, 0]]
    assert found.alive[:, 1].tolist() == [True, True, False, False]
    assert found.bytes.tolist() == [200, 400, 500, 600]  # what a lost centre sent was sent


def test_a_later_life_stands_where_the_others_are_at_that_time() -> None:
    others = [_row(0, k, float(k), 5) for k in range(1, 9)]
    again = [_row(0, 1, 1.0, 7), _row(0, 2, 2.0, 7), _row(1, 1, 6.0, 0), _row(1, 2, 7.0, 3)]
    found = StepRecords.of([others, others, again], np.array([True] * 3), began=0.0)
    assert found.held[:, 2].tolist() == [7, 7, 0, 0, 0, 0, 3, 3]
    assert found.alive[:, 2].tolist() == [True, True, False, False, False, True, True, True]


def test_without_reports_there_are_no_records() -> None:
    found = StepRecords.of([[], []], np.array([False, False]), began=0.0)
    assert len(found.steps) == 0
    assert found.shares.shape == (0, 2)
