"""What a round says of itself: targets, bands, counts, and the round after it."""

from __future__ import annotations

import numpy as np
import pytest

from walras.domains import load_balancing as lb

SHARES = np.array([[3.0, 0.0, 1.0], [1.0, 2.0, 0.0], [0.0, 0.0, 0.0]])


def round_(**options: object) -> lb.Round:
    """Loads 4, 6, 10; shard 0 three quarters on server 0 and a quarter on 1."""
    return lb.make_round([4.0, 6.0, 10.0], SHARES, **options)  # type: ignore[arg-type]


def test_targets_are_the_parts_of_all_load_by_weight_of_those_that_stay() -> None:
    problem = round_(weight=[1.0, 3.0, 5.0], drain=["1"], band=0.25)
    assert problem.target.tolist() == pytest.approx([20 / 6, 0.0, 100 / 6])
    assert problem.lower.tolist() == pytest.approx([0.75 * 20 / 6, 0.0, 0.75 * 100 / 6])
    assert problem.upper.tolist() == pytest.approx([1.25 * 20 / 6, 0.0, 1.25 * 100 / 6])
    assert (problem.servers, problem.shards) == (3, 3)


def test_a_band_of_more_than_one_leaves_no_lower_limit() -> None:
    wide = round_(band=1.5)
    assert wide.lower.tolist() == [0.0] * 3
    assert wide.upper.tolist() == pytest.approx([2.5 * 20 / 3] * 3)


def test_a_round_is_plain_without_counts_and_spread() -> None:
    assert round_().is_plain
    assert round_(spread=1).is_plain
    assert not round_(spread=2).is_plain
    assert not round_(replicas=1).is_plain


def test_what_is_held_and_carried_now() -> None:
    problem = round_()
    assert problem.held.tolist() == (SHARES > 0.0).tolist()
    assert problem.loads_now().tolist() == [0.75 * 4 + 10, 0.25 * 4 + 6, 0.0]


@pytest.mark.parametrize(
    ("load", "options", "fewest"),
    [
        # The mean is 4 and the band 0.25: a server takes 5.
        ([5.0, 2.0, 1.0], {}, [1, 1, 1]),
        ([5.1, 1.9, 1.0], {}, [2, 1, 1]),
        ([5.1, 1.9, 1.0], {"replicas": [1, 2, 1]}, [2, 2, 1]),
        ([5.1, 1.9, 1.0], {"spread": 2}, [2, 2, 2]),
    ],
)
def test_shards_need_as_many_replicas_as_servers_to_carry_them(
    load: list[float], options: dict[str, object], fewest: list[int]
) -> None:
    problem = lb.make_round(load, [0, 1, 1], band=0.25, **options)  # type: ignore[arg-type]
    assert problem.fewest.tolist() == fewest
    assert problem.fewest.dtype == np.int32


def test_a_shard_of_just_two_servers_loads_needs_two_for_all_rounding() -> None:
    """6.6 of 9.9 over 3 x 3.3: the quotient is a hair above 2."""
    problem = lb.make_round([6.6, 1.1, 2.2], [0, 1, 2], band=0.0)
    assert problem.fewest.tolist() == [2, 1, 1]
    assert problem.with_band(1.0).fewest.tolist() == [1, 1, 1]


def test_bands_and_memory_are_replaced_alone() -> None:
    problem = round_(weight=[1.0, 3.0, 5.0], band=0.1)
    wider = problem.with_band(0.5)
    assert (wider.band, problem.band) == (0.5, 0.1)
    assert wider.upper.tolist() == (1.5 * problem.target).tolist()
    roomy = problem.with_memory(np.array([1.0, 2.0, 3.0]))
    assert roomy.memory.tolist() == [1.0, 2.0, 3.0]
    assert roomy.load is problem.load


def test_the_round_after_holds_what_was_carried_shard_by_shard() -> None:
    """A shard's shares sum to one, whatever rounding left of its load."""
    after = round_(weight=[1.0, 3.0, 5.0]).after(
        np.array([1.0, 2.0, 3.0]),
        np.array([2, 1, 0, 0], np.int32),
        np.array([0, 1, 2, 0], np.int32),
        np.array([1.0, 6.0, 9.9, 3.0]),
    )
    assert after.load.tolist() == [1.0, 2.0, 3.0]
    assert after.shard.tolist() == [0, 0, 1, 2]
    assert after.server.tolist() == [0, 2, 1, 0]
    assert after.share.tolist() == pytest.approx([0.75, 0.25, 1.0, 1.0])
    assert after.weight.tolist() == [1.0, 3.0, 5.0]
