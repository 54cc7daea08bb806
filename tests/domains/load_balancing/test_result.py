"""What a result says of its replicas, against sums and sources worked out by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from walras.domains import load_balancing as lb
from walras.domains.load_balancing.result import Rebalanced, Transfer
from walras.status import Status

# Loads 4, 6 and 10 on x, y and z; shard c is on y (6 of its 10) and on z.
HELD = np.array([[1.0, 1.0, 0.0], [0.0, 0.0, 0.6], [0.0, 0.0, 0.4]])


def round_(**options: Any) -> lb.Round:
    given = {"band": 0.25, "servers": ["x", "y", "z"], "cost": [1.0, 10.0, 100.0]}
    problem = lb.make_round([4.0, 6.0, 10.0], HELD, **{**given, **options})
    return lb.Round(**{**vars(problem), "shard_names": ("a", "b", "c")})


def result(
    replicas: list[tuple[int, int, float]], bound: float = 1.0, **options: Any
) -> Rebalanced:
    """Of (server, shard, load) triples."""
    server, shard, load = zip(*replicas, strict=True)
    return Rebalanced(
        round_(**options),
        np.array(server, np.int32),
        np.array(shard, np.int32),
        np.array(load),
        bound,
        Status.LIMIT,
        0.25,
        7,
        "by hand",
    )


# b's 6 go to z in two parts; c gives y's 6 to z but for 2, and 3 to x.
MOVED = [(0, 0, 4.0), (1, 1, 2.0), (2, 1, 4.0), (0, 2, 3.0), (1, 2, 5.0), (2, 2, 2.0)]


def test_shares_placement_and_loads_are_sums_over_replicas() -> None:
    found = result(MOVED)
    assert found.shares == pytest.approx(
        np.array([[1.0, 0.0, 0.3], [0.0, 1 / 3, 0.5], [0.0, 2 / 3, 0.2]])
    )
    assert found.placement.tolist() == [[1, 0, 1], [0, 1, 1], [0, 1, 1]]
    assert found.loads.tolist() == [7.0, 7.0, 6.0]
    idle = result([*MOVED, (0, 1, 0.0)])
    assert idle.placement[0, 1]
    assert idle.shares[0, 1] == 0.0


def test_moves_are_replicas_that_were_not_there() -> None:
    found = result(MOVED)
    assert found.is_new.tolist() == [False, True, True, True, False, False]
    assert found.moves == 3
    assert found.value == 10 + 10 + 100
    assert found.gap == (120 - 1) / 120
    assert result(MOVED, bound=130.0).gap == 0.0
    still = result([(0, 0, 4.0), (0, 1, 6.0), (1, 2, 6.0), (2, 2, 4.0)], bound=0.0)
    assert (still.moves, still.value, still.gap) == (0, 0.0, 0.0)


def test_transfers_come_from_who_gave_most_of_the_shard_the_largest_first() -> None:
    """Of c, y gave 1 and z 2; of b, x gave all 6, and each part comes from it."""
    found = result(MOVED)
    assert found.transfers == (
        Transfer("b", "x", "z", 4.0),
        Transfer("c", "z", "x", 3.0),
        Transfer("b", "x", "y", 2.0),
    )
    frame = found.frame()
    assert frame.columns.tolist() == ["shard", "source", "target", "load"]
    assert frame["load"].tolist() == [4.0, 3.0, 2.0]
    still = result([(0, 0, 4.0), (0, 1, 6.0), (1, 2, 6.0), (2, 2, 4.0)])
    assert still.frame().columns.tolist() == ["shard", "source", "target", "load"]
    assert len(still.frame()) == 0


def test_what_a_source_has_given_it_gives_no_more() -> None:
    """c leaves y (6) and z (4) for x in two replicas' loads of one shard: 5 from y, then z."""
    two = lb.make_round([10.0], np.array([[0.6], [0.4], [0.0], [0.0]]), band=3.0)
    found = Rebalanced(
        two,
        np.array([2, 3], np.int32),
        np.array([0, 0], np.int32),
        np.array([5.0, 5.0]),
        0.0,
        Status.LIMIT,
        0.0,
        0,
        "",
    )
    assert [(move.source, move.target) for move in found.transfers] == [("0", "2"), ("1", "3")]


def test_a_shard_that_was_nowhere_has_no_source() -> None:
    placed = np.array([[1.0, 0.0], [0.0, 0.0]])
    problem = lb.make_round([1.0, 2.0], placed, band=1.0)
    found = Rebalanced(
        problem,
        np.array([0, 1], np.int32),
        np.array([0, 1], np.int32),
        np.array([1.0, 2.0]),
        1.0,
        Status.OPTIMAL,
        0.0,
        0,
        "",
    )
    assert found.transfers == (Transfer("1", "", "1", 2.0),)


@pytest.mark.parametrize(
    ("changes", "options", "violation"),
    [
        ({}, {}, 0.0),
        # The mean is 20 / 3: 5 to 8 1/3 in the band.
        ({0: 6.0, 3: 3.0, 1: 0.0}, {}, 0.5),  # shard a half too much, b a third too little
        ({}, {"band": 0.02}, (20 / 3 * 0.98 - 6.0) / (20 / 3)),
        ({}, {"band": 0.05}, (20 / 3 * 0.95 - 6.0) / (20 / 3)),
        ({}, {"weight": [1.0, 1.0, 2.0], "band": 0.25}, (7.5 - 6.0) / (20 / 3)),
        ({}, {"weight": [2.0, 2.0, 1.0], "band": 0.25}, (6.0 - 5.0) / (20 / 3)),
        ({}, {"memory": [1.5, 2.0, 2.0]}, 0.5 / 1.5),
        ({}, {"memory": [0.25, 2.0, 2.0]}, 1.75),
        ({}, {"memory": 2.0}, 0.0),
        ({}, {"drain": ["x"], "band": 0.5}, 2.0),
        ({4: 7.5, 5: -0.5}, {"band": 0.9}, 0.5 / (20 / 3)),
    ],
)
def test_the_largest_breach_of_a_limit(
    changes: dict[int, float], options: dict[str, Any], violation: float
) -> None:
    moved = [(i, j, changes.get(e, load)) for e, (i, j, load) in enumerate(MOVED)]
    found = result(moved, **options)
    assert found.violation == pytest.approx(violation, abs=1e-12)


def test_its_arrays_are_its_own_and_cannot_be_changed() -> None:
    found = result(MOVED)
    for array in (
        found.server,
        found.shard,
        found.load,
        found.shares,
        found.placement,
        found.is_new,
        found.loads,
    ):
        assert isinstance(array, np.ndarray)
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


def test_the_next_round_begins_with_what_is_carried_now() -> None:
    after = result(MOVED).next_round(np.array([1.0, 2.0, 3.0]))
    assert after.load.tolist() == [1.0, 2.0, 3.0]
    assert after.shard.tolist() == [0, 1, 1, 2, 2, 2]
    assert after.server.tolist() == [0, 1, 2, 0, 1, 2]
    assert after.share.tolist() == pytest.approx([1.0, 1 / 3, 2 / 3, 0.3, 0.5, 0.2])


def test_it_prints_in_one_line() -> None:
    assert str(result(MOVED)) == (
        "user_limit: 3 moves, cost 120, bound 1, violation 0.0e+00; by hand, 0.25 s"
    )
