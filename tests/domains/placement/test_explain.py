"""Why a task is where it is."""

from __future__ import annotations

import pandas as pd
import pytest

import walras as wl
from walras.domains import placement as pl

NODES = pd.DataFrame(
    {"cpu": [8.0, 2.0, 8.0], "gpus": [1, 1, 1], "model": ["T4", "A10", "A10"]},
    index=["a", "b", "c"],
)


def test_each_node_says_what_it_lacks() -> None:
    tasks = pd.DataFrame(
        {
            "cpu": [1.0, 4.0, 4.0],
            "gpus": [1.0, 0.5, 0.6],
            "model": ["A10", "A10", "A10"],
            "anti_affinity": ["", "g", "g"],
            "value": [3.0, 2.0, 1.0],
        },
        index=["x", "y", "z"],
    )
    p = pl.place(NODES, tasks)
    assert p.node.to_dict() == {"x": "b", "y": "c", "z": ""}
    why = p.explain("z")
    assert why.lacking == {
        "a GPU of the right model": 1,
        "cpu": 1,
        "GPUs": 2,
        "nodes without a task of its anti-affinity": 1,
    }
    assert (why.fits_now, why.fits_empty) == (0, 1)
    assert str(p.explain("x")).startswith("x is on b: of 3 nodes, 0 others have room now, 2")
    with pytest.raises(wl.InputError, match="there is no task 'w'"):
        p.explain("w")
