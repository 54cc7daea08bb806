"""Each breach of a limit by itself, with numbers worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest

from walras.domains import load_balancing as lb

# Loads 4, 4, 8 on servers of memory 4 and 2; the mean is 8.
LOADS = [4.0, 4.0, 8.0]
EVEN = np.array([[1.0, 1.0, 0.0], [0.0, 0.0, 1.0]])


def round_(**options: object) -> lb.Round:
    given = {"band": 0.25, "memory": [4.0, 2.0], "cost": [1.0, 10.0, 100.0]}
    return lb.make_round(LOADS, [0, 1, 1], **{**given, **options})  # type: ignore[arg-type]


def test_a_placement_within_all_limits_breaches_none() -> None:
    found = lb.evaluate(round_(), EVEN)
    assert found.violation == 0.0
    assert found.loads.tolist() == [8.0, 8.0]
    assert (found.moves, found.cost) == (1, 10.0)  # shard 1 to server 0


def test_moves_are_new_replicas_idle_ones_too_where_they_are_reported() -> None:
    placed = EVEN > 0.0
    placed[0, 2] = True
    found = lb.evaluate(round_(), EVEN, placed)
    assert (found.moves, found.cost, found.violation) == (2, 110.0, 0.0)


@pytest.mark.parametrize(
    ("shares", "options", "violation"),
    [
        # Loads 12 and 4 beside 6..10, of a mean of 8.
        ([[1.0, 0.0, 1.0], [0.0, 1.0, 0.0]], {}, 2 / 8),
        ([[1.0, 0.0, 1.0], [0.0, 1.0, 0.0]], {"band": 0.5}, 0.0),
        # Half of shard 0 is nowhere, and loads are 6 and 8.
        ([[0.5, 1.0, 0.0], [0.0, 0.0, 1.0]], {}, 0.5),
        ([[1.1, 1.0, 0.0], [0.0, 0.0, 1.0]], {}, 0.1),
        ([[1.25, 1.0, -0.125], [-0.25, 0.0, 1.125]], {}, 0.25),
        # Two replicas beside a memory of 1.5: a third over it.
        (EVEN, {"memory": [1.5, 2.0]}, 0.5 / 1.5),
        # Beside one below 1, over 1.
        (EVEN, {"memory": [4.0, 0.5]}, 0.5),
        (EVEN, {"footprint": [3.0, 3.0, 1.0]}, 2 / 4),
        (EVEN, {"memory": np.inf}, 0.0),
        (EVEN, {"replicas": 2}, 1.0),
        (EVEN, {"replicas": 1}, 0.0),
        (EVEN, {"spread": 2}, 1.0),
        # Nothing is below 8 / 2 of the mean, but 1 drains: two of no room, 8 of no load.
        (EVEN, {"drain": ["1"], "band": 1.5}, 1.0),
    ],
)
def test_each_breach_is_measured_by_its_own_unit(
    shares: object, options: dict[str, object], violation: float
) -> None:
    found = lb.evaluate(round_(**options), np.array(shares))
    assert found.violation == pytest.approx(violation, abs=1e-12)


def test_load_below_the_band_is_a_breach_of_its_own() -> None:
    """Of weights 3 and 1 the targets are 12 and 4: 8 has 3.6 more than a tenth above, 2.8 less."""
    found = lb.evaluate(round_(weight=[3.0, 1.0], band=0.1), EVEN)
    assert found.violation == pytest.approx((8 - 4.4) / 8)
    # Of weights 1, 1 and 2 in a band of a half: 3..9, 3..9 and 6..18.
    three = lb.make_round([8.0, 8.0, 8.0], [0, 1, 2], weight=[1.0, 1.0, 2.0], band=0.5)
    within = np.array([[0.5, 0.0, 0.0], [0.0, 1.0, 0.0], [0.5, 0.0, 1.0]])
    assert lb.evaluate(three, within).violation == 0.0
    below = np.array([[0.25, 0.0, 0.0], [0.125, 1.0, 0.0], [0.625, 0.0, 1.0]])  # 2, 9 and 13
    assert lb.evaluate(three, below).violation == (3 - 2) / 8


def test_zones_count_once_each() -> None:
    """Two replicas in one zone are one zone; of three zones wanted, two stand."""
    problem = lb.make_round([4.0] * 3, np.eye(3), band=9.0, spread=2, zone=["a", "a", "b"])
    shares = np.array([[0.5, 0.5, 0.5], [0.5, 0.0, 0.0], [0.0, 0.5, 0.5]])
    assert lb.evaluate(problem, shares).violation == 1.0
    shares[0, 0], shares[2, 0] = 0.25, 0.25
    assert lb.evaluate(problem, shares).violation == 0.0


def test_a_zone_without_a_replica_does_not_count() -> None:
    """Of three zones one has replicas, and two are wanted."""
    problem = lb.make_round([4.0] * 3, np.eye(3), band=9.0, spread=2)
    shares = np.zeros((3, 3))
    shares[0] = 1.0
    assert lb.evaluate(problem, shares).violation == 1.0


def test_a_share_where_no_replica_is_reported_is_a_breach() -> None:
    placed = EVEN > 0.0
    placed[0, 1] = False
    assert lb.evaluate(round_(), EVEN, placed).violation == 1.0


def test_a_draining_server_has_no_room_for_idle_replicas() -> None:
    shares = np.array([[1.0, 1.0, 1.0], [0.0, 0.0, 0.0]])
    placed = shares > 0.0
    assert lb.evaluate(round_(drain=["1"]), shares, placed).violation == 0.0
    placed[1, 2] = True
    assert lb.evaluate(round_(drain=["1"]), shares, placed).violation == 1.0
