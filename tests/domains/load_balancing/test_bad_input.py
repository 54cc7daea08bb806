"""Each way in which a round can be wrong is one error that says what would do."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from walras.domains import load_balancing as lb
from walras.errors import InfeasibleError, InputError

GOOD: dict[str, Any] = {"loads": [3.0, 2.0, 1.0], "placement": [0, 1, 1], "band": 0.5}


@pytest.mark.parametrize(
    ("change", "where", "what"),
    [
        ({"loads": [3.0, -2.0, 1.0]}, r"loads\[1\]", "-2"),
        ({"loads": [3.0, 0.0, 1.0]}, r"loads\[1\]", "is 0"),
        ({"loads": [3.0, np.nan, 1.0]}, r"loads\[1\]", "NaN"),
        ({"loads": ["a", 1.0, 1.0]}, "loads", "not numeric"),
        ({"loads": pd.Series([1.0, 2.0, 3.0], ["a", "b", "a"])}, "loads", "'a' appears twice"),
        ({"placement": [0, 7, 1], "servers": 2}, r"placement\[1\]", "no server '7'"),
        ({"placement": [0, 1]}, "placement", "2 entries"),
        ({"placement": np.ones((2, 2))}, "placement", r"shape \(2, 2\)"),
        ({"placement": -np.ones((2, 3))}, "placement", "is -1"),
        ({"placement": np.ones((2, 3)), "servers": ["a", "a"]}, "servers", "'a' appears twice"),
        ({"placement": np.ones((2, 3)), "servers": ["a"]}, "servers", "names 1 servers"),
        ({"placement": None}, "placement", "is None"),
        ({"placement": "ab"}, "placement", "is 'ab'"),
        (
            {
                "loads": pd.Series([1.0, 2.0, 3.0], list("abc")),
                "placement": pd.Series([0, 1, 1], list("abd")),
            },
            "loads",
            "'c' is unknown",
        ),
        (
            {
                "loads": pd.Series([1.0, 2.0, 3.0], list("bcd")),
                "placement": pd.DataFrame(np.ones((2, 3)), columns=list("abc")),
            },
            "placement",
            "'a' is unknown",
        ),
        (
            {"placement": pd.DataFrame(np.ones((2, 3)), columns=list("aab"))},
            "placement",
            "'a' appears twice",
        ),
        ({"band": -0.1}, "band", "-0.1"),
        ({"band": np.nan}, "band", "NaN"),
        ({"memory": -1.0}, "memory", "-1"),
        ({"memory": [1.0]}, "memory", "shape"),
        ({"footprint": 0.0}, "footprint", "is 0"),
        ({"cost": [1.0, 1.0, 0.0]}, r"cost\[2\]", "is 0"),
        ({"weight": [1.0, np.inf]}, r"weight\[1\]", "inf"),
        ({"drain": ["x"]}, "drain", "no server 'x'"),
        ({"drain": [0, 1]}, "drain", "every server"),
        ({"zone": ["a"]}, "zone", "1 entries"),
        ({"spread": 3}, "spread", "3"),
        ({"replicas": 1.5}, "replicas", "1.5"),
        ({"replicas": 3}, "replicas", "is 3"),
        ({"attempts": -1}, "attempts", "-1"),
        ({"seed": 0.5}, "seed", "0.5"),
        ({"time_limit": -1.0}, "time_limit", "-1"),
    ],
)
def test_an_unusable_argument_is_named(change: dict[str, Any], where: str, what: str) -> None:
    with pytest.raises(InputError, match=f"{where}.*{what}") as caught:
        lb.rebalance(**{**GOOD, **change})
    assert caught.value.allowed
    assert caught.value.remedy


def test_memory_that_is_too_small_says_what_would_do() -> None:
    with pytest.raises(InfeasibleError, match="is 2 in all; the shards need 3") as caught:
        lb.rebalance([1.0, 3.0], [0, 1], band=0.1, memory=1)
    assert "memory of 2 on every server" in caught.value.remedy
    assert "a band of 0.5" in caught.value.remedy
    assert lb.rebalance([1.0, 3.0], [0, 1], band=0.1, memory=2).moves == 1
    assert lb.rebalance([1.0, 3.0], [0, 1], band=0.5, memory=1).moves == 0


def test_a_band_that_no_placement_meets_says_which_one_would_do() -> None:
    # Whole shards 3, 3, 2 on two servers: 5 and 3 at best, a quarter off the mean.
    with pytest.raises(InfeasibleError, match="no placement meets the band") as caught:
        lb.rebalance([3.0, 3.0, 2.0], [0, 0, 1], band=0.1, replicas=1)
    assert "a band of 0.25" in caught.value.remedy
    assert lb.rebalance([3.0, 3.0, 2.0], [0, 0, 1], band=0.25, replicas=1).moves == 1


def test_a_shard_that_is_larger_than_any_server() -> None:
    with pytest.raises(InfeasibleError, match=r"footprint of shard 0.*takes 9") as caught:
        lb.rebalance([1.0, 1.0], [0, 1], memory=5, footprint=[9.0, 1.0])
    assert "memory 9" in caught.value.remedy
    with pytest.raises(InfeasibleError, match=r"load of shard 1: is 3") as caught:
        lb.rebalance([1.0, 3.0], [0, 1], band=0.1, replicas=1)
    assert "band of 0.5" in caught.value.remedy


def test_zones_that_are_too_few() -> None:
    with pytest.raises(InfeasibleError, match="stand in 1 zones"):
        lb.rebalance([1.0, 1.0], [0, 1], spread=2, zone=["a", "a"])
    with pytest.raises(InfeasibleError, match="fewer than the spread"):
        lb.rebalance([1.0, 1.0], [0, 1], spread=2, replicas=1)
    with pytest.raises(InfeasibleError, match="replicas: are 2"):
        lb.rebalance([1.0, 1.0, 1.0], [0, 1, 2], drain=[0, 1], replicas=2)


def test_shards_are_told_by_their_names_in_whatever_order() -> None:
    loads = pd.Series([1.0, 3.0, 2.0], ["a", "b", "c"])
    home = pd.Series(["y", "x", "y"], ["b", "c", "a"])
    matrix = pd.DataFrame([[0, 1, 0], [1, 0, 1]], ["x", "y"], ["b", "c", "a"])
    plain = lb.make_round(loads, ["y", "y", "x"])
    for placement in (home, matrix):
        named = lb.make_round(loads, placement)
        assert named.server_names == plain.server_names
        assert np.array_equal(named.held, plain.held)
