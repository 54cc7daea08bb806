"""Samples dealt to centres."""

from __future__ import annotations

import numpy as np

from walras import network as wn


def test_shards_of_two_classes_each_hold_few_labels() -> None:
    labels = np.repeat(np.arange(10), 60)
    shards = wn.split(np.zeros((600, 3)), labels, 20, classes_each=2)
    assert sum(len(t) for _, t in shards) == 600
    assert max(len(np.unique(t)) for _, t in shards) <= 3
    assert max(len(np.unique(t)) for _, t in wn.split(np.zeros((600, 3)), labels, 20)) == 10
