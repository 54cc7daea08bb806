"""What the past teaches: nearer than no features, and nothing of the replayed jobs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

import walras as wl
from walras.shadow.learning import learn
from walras.shadow.support import split


def test_kinds_tell_times_and_chances_of_jobs_to_come() -> None:
    made = wl.shadow.synthetic_log(20, 100, slots=6, seed=1)
    log = wl.shadow.read_jobs(made.frame)
    cut = split(log, 0.5)
    kind = np.unique(np.array(log.name), return_inverse=True)[1]
    found = learn(log, cut.past, cut.replayed, kind, 0)
    true = np.log(made.seconds[cut.replayed].T)
    error = np.sqrt(((np.log(found.times) - true) ** 2).mean())
    assert error < 0.6 * true.std()
    assert abs(found.success.mean() - made.good[cut.replayed].mean()) < 0.03


def test_nothing_is_learned_from_the_jobs_that_are_replayed() -> None:
    log = wl.shadow.read_jobs(wl.shadow.synthetic_log(8, 60, slots=6).frame)
    cut = split(log, 0.5)
    kind = np.unique(np.array(log.name), return_inverse=True)[1]
    end = log.end.copy()
    end[cut.replayed] += 1e5
    other = replace(log, end=end, good=log.good & (log.start < cut.cut))
    one, two = (learn(each, cut.past, cut.replayed, kind, 0) for each in (log, other))
    assert (one.times == two.times).all()
    assert (one.success == two.success).all()


def test_features_that_are_missing_and_clusters_without_a_past_are_met() -> None:
    frame = wl.shadow.synthetic_log(8, 60, slots=6).frame
    frame["layers"] = np.where(np.arange(len(frame)) % 2, 3.0, np.nan)
    log = wl.shadow.read_jobs(frame)
    cut = split(log, 0.5)
    past = cut.past[log.cluster[cut.past] != 2]
    kind = np.unique(np.array(log.name), return_inverse=True)[1]
    found = learn(log, past, cut.replayed, kind, 0)
    assert found.known.tolist() == [True, True, False]
    assert np.isfinite(found.times).all()
