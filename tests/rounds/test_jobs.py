"""Snapshots of jobs that share workers in time."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from walras import InputError
from walras.rounds import JobsSnapshot, Shares


def two(**given: Any) -> JobsSnapshot:
    made = {"speed": [[3.0, 1.0], [2.0, 0.0]], "workers": [1, 2]} | given
    return JobsSnapshot.of(["a", "b"], **made)


def test_a_job_fits_where_it_has_a_speed_and_enough_workers() -> None:
    assert two(size=[2, 1]).fits.tolist() == [[False, True], [True, False]]


def test_deadlines_and_attempts_are_what_policies_see() -> None:
    seen = two(steps=[9, 5], left=[4, 5], deadline=[60, np.inf], attempt=[2, 0])
    assert seen.done.tolist() == [5.0, 0.0]
    assert (seen.deadline.tolist(), seen.attempt.tolist()) == ([60.0, np.inf], [2, 0])
    assert len({seen.hash, two(steps=[9, 5], left=[4, 5]).hash}) == 2


def test_shares_of_the_last_decision_follow_the_names() -> None:
    last = Shares(("gone", "b"), ("type 0", "type 1"), np.array([[1.0, 0.0], [0.25, 0.5]]))
    assert two(last=last).held.tolist() == [[0.0, 0.0], [0.25, 0.5]]
    assert two().held.tolist() == [[0.0, 0.0], [0.0, 0.0]]


def test_pairs_of_the_last_decision_follow_the_names() -> None:
    paired = {"group": [0, 0], "paired": [[[1.0, 1.0]]]}
    last = Shares(
        ("b", "gone", "a"),
        ("type 0", "type 1"),
        np.zeros((3, 2)),
        pair=np.array([[0, 1], [0, 2]]),
        pair_time=np.array([[0.1, 0.0], [0.2, 0.3]]),
    )
    jobs, time = two(last=last, **paired).held_pairs
    assert (jobs.tolist(), time.tolist()) == ([[0, 1]], [[0.2, 0.3]])
    assert two(**paired).held_pairs[0].shape == (0, 2)


def test_bytes_are_equal_for_equal_snapshots_alone() -> None:
    last = two().shares([[1.0, 0.0], [0.0, 0.0]])
    assert two(last=last).to_bytes() == two(last=last).to_bytes()
    assert len({two().hash, two(at=1.0).hash, two(last=last).hash}) == 3


def test_fields_that_were_checked_make_the_same_snapshot() -> None:
    made = two()
    given = {name: getattr(made, name) for name in made.__dataclass_fields__}
    left = np.array(made.left)
    again = JobsSnapshot.checked(**given | {"left": left})
    assert again.to_bytes() == made.to_bytes()
    with pytest.raises(ValueError, match="read-only"):
        again.left[0] = 5.0
    left[0] = 5.0  # the caller's own


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"speed": [[1.0, 1.0]]}, "shape"),
        ({"left": [1.0, 0.0]}, r"left\[1\]"),
        ({"weight": [1.0, np.nan]}, r"weight\[1\]"),
        ({"workers": [0, 1]}, r"workers\[0\]"),
        ({"deadline": [1.0, np.nan]}, r"deadline\[1\]"),
        ({"attempt": [-1, 0]}, r"attempt\[0\]"),
        ({"group": [0, 0]}, r"group\[0\]"),
        ({"paired": [[[1.0]]]}, "shape"),
        ({"at": np.nan}, "at: is nan"),
        ({"sizes": [1, 1]}, "no field 'sizes'"),
    ],
)
def test_bad_numbers_are_named(given: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        two(**given)


def test_speeds_and_workers_are_needed() -> None:
    with pytest.raises(InputError, match="'workers' is missing"):
        JobsSnapshot.of(["a"], speed=[[1.0]])
