"""What a user states as a round's arrays, and what an error says where it cannot be used."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from walras.domains import load_balancing as lb
from walras.errors import InputError

LOADS = [3.0, 2.0, 1.0]
SHARES = np.array([[0.5, 0.0, 1.0], [1.5, 2.0, 0.0]])


def refused(**changes: Any) -> InputError:
    given: dict[str, Any] = {"loads": LOADS, "placement": [0, 1, 1], "band": 0.5}
    with pytest.raises(InputError) as caught:
        lb.make_round(**{**given, **changes})
    return caught.value


def test_what_is_left_out_is_one_each() -> None:
    found = lb.make_round(LOADS, [0, 1, 1])
    assert found.load.tolist() == LOADS
    assert found.footprint.tolist() == found.cost.tolist() == [1.0, 1.0, 1.0]
    assert found.weight.tolist() == [1.0, 1.0]
    assert found.memory.tolist() == [np.inf, np.inf]
    assert found.drain.tolist() == [False, False]
    assert (found.band, found.spread, found.replicas) == (0.1, 1, None)
    assert found.zone.tolist() == [0, 1]  # each server is its own
    assert (found.server_names, found.shard_names) == (("0", "1"), ("0", "1", "2"))
    assert (found.server.tolist(), found.shard.tolist()) == ([0, 1, 1], [0, 1, 2])
    assert found.share.tolist() == [1.0, 1.0, 1.0]


def test_one_number_stands_for_all_and_others_are_taken_as_they_are() -> None:
    found = lb.make_round(
        LOADS,
        [0, 1, 1],
        footprint=2.0,
        cost=[4.0, 5.0, 6.0],
        weight=3,
        memory=[7.0, np.inf],
        replicas=2,
        drain=[1],
        zone=["b", "a"],
        spread=2,
        band=0,
    )
    assert found.footprint.tolist() == [2.0] * 3
    assert found.cost.tolist() == [4.0, 5.0, 6.0]
    assert found.weight.tolist() == [3.0] * 2
    assert found.memory.tolist() == [7.0, np.inf]
    assert found.replicas is not None
    assert found.replicas.tolist() == [2] * 3
    assert found.drain.tolist() == [False, True]
    assert found.zone.tolist() == [1, 0]
    assert (found.spread, found.band) == (2, 0.0)
    three = lb.make_round(LOADS, [0, 1, 1], replicas=[1, 2, 1]).replicas
    assert three is not None
    assert three.tolist() == [1, 2, 1]


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array, sp.coo_array, pd.DataFrame])
def test_shares_of_a_matrix_sum_to_one_over_each_shard(kind: Any) -> None:
    found = lb.make_round(LOADS, kind(SHARES))
    assert found.shard.tolist() == [0, 0, 1, 2]
    assert found.server.tolist() == [0, 1, 1, 0]
    assert found.share.tolist() == [0.25, 0.75, 1.0, 1.0]


def test_true_is_an_equal_share_and_a_stated_zero_none() -> None:
    found = lb.make_round(LOADS, SHARES > 0.0)
    assert found.share.tolist() == [0.5, 0.5, 1.0, 1.0]
    zero = sp.coo_array((np.array([1.0, 0.0, 1.0]), (np.array([0, 1, 1]), np.array([0, 1, 2]))))
    found = lb.make_round(LOADS, zero)
    assert found.shard.tolist() == [0, 2]


def test_servers_are_named_by_the_placement_or_beside_it() -> None:
    assert lb.make_round(LOADS, ["b", "a", "b"]).server_names == ("a", "b")
    named = lb.make_round(LOADS, ["b", "a", "b"], servers=["c", "b", "a"])
    assert named.server_names == ("c", "b", "a")
    assert named.server.tolist() == [1, 2, 1]
    assert lb.make_round(LOADS, [1, 0, 1], servers=4).server_names == ("0", "1", "2", "3")
    assert lb.make_round(LOADS, SHARES, servers=["x", "y"]).server_names == ("x", "y")
    frame = pd.DataFrame(SHARES, ["x", "y"])
    assert lb.make_round(LOADS, frame).server_names == ("x", "y")


def test_where_one_of_two_is_only_counted_the_order_is_the_same() -> None:
    """Shards with names on one side, and 0, 1, 2 on the other."""
    named = pd.Series(LOADS, list("cab"))
    found = lb.make_round(named, pd.Series(["x", "y", "y"]))
    assert found.shard_names == ("c", "a", "b")
    assert found.server.tolist() == [0, 1, 1]
    found = lb.make_round(LOADS, pd.Series(["x", "y", "y"], list("cab")))
    assert found.shard_names == ("0", "1", "2")
    assert found.server.tolist() == [0, 1, 1]
    # Counted in another order, both sides are names.
    found = lb.make_round(pd.Series(LOADS, [2, 0, 1]), pd.Series(["x", "y", "y"]))
    assert found.server.tolist() == [1, 0, 1]


@pytest.mark.parametrize(
    ("changes", "where", "what", "allowed"),
    [
        ({"loads": ["a", 1.0]}, "loads", "is not numeric", "numbers"),
        ({"loads": [[1.0]]}, "loads", "has shape (1, 1)", "one number each"),
        ({"loads": []}, "loads", "has shape (0,)", "one number each"),
        ({"loads": 1.0}, "loads", "has shape ()", "one number each"),
        ({"cost": [1.0, 2.0]}, "cost", "has shape (2,)", "(3,), or one number for all"),
        ({"memory": [1.0]}, "memory", "has shape (1,)", "(2,), or one number for all"),
        ({"loads": [1.0, np.inf, 1.0]}, "loads[1]", "is inf", "finite and > 0"),
        ({"memory": [np.inf, 0.0]}, "memory[1]", "is 0", "> 0"),
        (
            {"loads": pd.Series([1.0, -2.0, -3.0], list("abc"))},
            "loads[b]",
            "is -2",
            "finite and > 0",
        ),
        ({"placement": 5}, "placement", "is 5", "one server a shard, or a matrix of shares"),
        ({"placement": ["a", "b"]}, "placement", "has 2 entries", "3, one a shard"),
        (
            {"placement": ["a", "b", "c"], "servers": ["a", "b"]},
            "placement[2]",
            "there is no server 'c'",
            "a, b",
        ),
        (
            {"placement": [0, 9, 1], "servers": 6},
            "placement[1]",
            "there is no server '9'",
            "0, 1, 2, 3, 4, 5",
        ),
        (
            {"placement": [0, 9, 1], "servers": 5},
            "placement[1]",
            "there is no server '9'",
            "0, 1, 2, 3, 4",
        ),
        ({"placement": np.ones((0, 3))}, "placement", "has shape (0, 3)", "(servers, 3)"),
        ({"placement": np.ones((2, 4))}, "placement", "has shape (2, 4)", "(servers, 3)"),
        (
            {"placement": [[0.0, 1.0, np.inf], [-1.0, 1.0, 1.0]]},
            "placement[0, 2]",
            "is inf",
            "finite and >= 0",
        ),
        (
            {"placement": [[0.0, 1.0, 1.0], [-1.5, 1.0, 1.0]]},
            "placement[1, 0]",
            "is -1.5",
            "finite and >= 0",
        ),
        (
            {"placement": np.ones((2, 3)), "servers": 3},
            "servers",
            "names 3 servers, the placement has 2",
            "one label a row",
        ),
        (
            {"servers": ["a", "b", "a"], "placement": ["a"] * 3},
            "servers",
            "the id 'a' appears twice, at 0 and 2",
            "distinct ids",
        ),
        ({"drain": ["2"]}, "drain", "there is no server '2'", "0, 1"),
        ({"drain": ["1", "0"]}, "drain", "names every server", "at most all but one"),
        ({"zone": ["a", "a", "b"]}, "zone", "has 3 entries", "2, one a server"),
        ({"replicas": [1, 2, 3]}, "replicas[2]", "is 3", "whole numbers, 1 to 2"),
        ({"replicas": [1, 1.5, 1]}, "replicas[1]", "is 1.5", "whole numbers, 1 to 2"),
        ({"replicas": 0}, "setting replicas", "is 0", "a whole number, 1 to 2"),
        ({"replicas": 3}, "setting replicas", "is 3", "a whole number, 1 to 2"),
        ({"band": 1.1e6}, "setting band", "is 1100000.0", "a number, 0 to 1e+06"),
        ({"spread": 0}, "setting spread", "is 0", "a whole number, 1 to 2"),
        ({"spread": 1.5}, "setting spread", "is 1.5", "a whole number, 1 to 2"),
        (
            {
                "loads": pd.Series(LOADS, list("abc")),
                "placement": pd.Series([0, 1, 1], list("abd")),
            },
            "loads",
            "the shard 'c' is unknown to the placement",
            "a, b, c",
        ),
        (
            {
                "loads": pd.Series(LOADS, list("bcd")),
                "placement": pd.Series([0, 1, 1], list("abc")),
            },
            "placement",
            "the shard 'a' is unknown to the loads",
            "b, c, d",
        ),
    ],
)
def test_an_error_names_the_place_the_value_and_what_is_allowed(
    changes: dict[str, Any], where: str, what: str, allowed: str
) -> None:
    error = refused(**changes)
    assert (error.where, error.allowed) == (where, allowed)
    assert error.what == what or error.what.startswith(f"{what}: ")
    assert error.remedy


def test_a_matrix_of_words_is_no_matrix_of_numbers() -> None:
    error = refused(placement=[["a", "b", "c"]])
    assert error.where == "placement"
    assert error.what.startswith("is not a matrix of numbers")
    assert error.allowed == "shares or True, servers in rows, shards in columns"


def test_the_widest_and_the_narrowest_settings_pass() -> None:
    assert lb.make_round(LOADS, [0, 1, 1], band=1e6, spread=2).spread == 2
    assert lb.make_round(LOADS, [0, 1, 1], band=0.0, spread=1).band == 0.0
