"""The synthetic log: its own truth, slots kept, and a past that logs may share."""

from __future__ import annotations

import numpy as np

from walras.data.synthetic.scheduler_log import synthetic_log


def test_the_log_is_the_truth_of_the_clusters_that_users_chose() -> None:
    made = synthetic_log(4, 50, seed=2)
    frame = made.frame
    names = list(made.slots)
    at, where = np.arange(len(frame)), frame["cluster"].map(names.index).to_numpy()
    assert (frame["end"] - frame["start"] == made.seconds[at, where]).all()
    assert ((frame["outcome"] == "completed") == made.good[at, where]).all()
    assert (frame["start"] >= frame["submit"]).all()
    assert (np.diff(frame["submit"]) >= 0).all()


def test_logs_with_one_past_differ_after_it_alone() -> None:
    one, two = (synthetic_log(6, 50, seed=s, past_days=3, past_seed=9).frame for s in (1, 2))
    past = one["submit"] < (one["submit"].min() // 86400 + 3) * 86400
    n = int(past.sum())
    assert one[:n].equals(two[:n])
    assert not one.equals(two)
