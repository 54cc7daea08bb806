"""Kinds of machines."""

from __future__ import annotations

import numpy as np
import pandas as pd

from walras.domains.placement.inputs import make_instance
from walras.domains.placement.instance import kinds_of


def test_machines_with_the_same_left_are_one_kind() -> None:
    nodes = pd.DataFrame({"cpu": [4.0, 4.0, 8.0, 4.0], "gpus": [2, 2, 2, 2]})
    machines = make_instance(nodes, pd.DataFrame({"cpu": [1.0], "gpus": [1]})).empty()
    machines.device[0] = [300, 1000]
    machines.device[1] = [1000, 300]
    kinds = kinds_of(machines)
    assert kinds.of.tolist() == [0, 0, 1, 2]
    assert kinds.count.tolist() == [2, 1, 1]
    machines.held[1, 0] = np.uint64(2**63)
    machines.held[0, 0] = np.uint64(2**63 + 1)
    assert len(kinds_of(machines).count) == 4
