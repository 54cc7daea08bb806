"""Rounds that counting shows to be impossible, and the least relaxation, against its definition."""

from __future__ import annotations

from decimal import ROUND_CEILING, Decimal
from typing import Any

import numpy as np
import pytest

from walras.domains import load_balancing as lb
from walras.domains.load_balancing import feasibility
from walras.domains.load_balancing.feasibility import (
    _is_met,
    _least,
    _relaxations,
    _rounded_up,
    refuse_impossible,
    refuse_unmet,
)
from walras.errors import InfeasibleError


def refused(loads: Any, placement: Any, **options: Any) -> InfeasibleError:
    with pytest.raises(InfeasibleError) as caught:
        refuse_impossible(lb.make_round(loads, placement, **options))
    return caught.value


def passes(loads: Any, placement: Any, **options: Any) -> None:
    refuse_impossible(lb.make_round(loads, placement, **options))


def test_a_shard_must_fit_a_server_that_stays() -> None:
    error = refused([1.0, 1.0], [0, 1], footprint=[2.0, 4.0], memory=[3.0, 9.0], drain=["1"])
    assert error.what == "takes 4, the largest server has 3"
    assert (error.where, error.allowed) == ("footprint of shard 1", "at most 3")
    assert error.remedy == "give a server memory 4, or split the shard"
    passes([1.0, 1.0], [0, 1], footprint=[2.0, 4.0], memory=[4.0, 9.0], band=1.0)


def test_a_shards_replicas_must_carry_its_load() -> None:
    """Servers of 2, 4 and 6 in a band of a half carry 3, 6 and 9."""
    options: dict[str, Any] = {"weight": [1.0, 2.0, 3.0], "band": 0.5}
    error = refused([2.5, 9.5], [0, 1], servers=3, replicas=1, **options)
    assert error.what == "is 9.5; its 1 replicas can carry 9"
    assert (error.where, error.allowed) == ("load of shard 1", "at most 9")
    assert error.remedy == "a band of 0.584 at least, or 2 replicas"  # 9.5 / 6 - 1
    passes([2.5, 9.5], [0, 1], servers=3, replicas=[1, 2], **options)
    passes([3.0, 9.0], [0, 1], servers=3, replicas=1, **options)
    # Two replicas carry at most what the two largest do; of those that stay, 3 and 6.
    error = refused([1.0, 15.5], [0, 1], servers=3, replicas=2, weight=[1, 2, 3], band=0.0)
    assert error.what == "is 15.5; its 2 replicas can carry 13.75"
    assert error.remedy == "a band of 0.128 at least, or 3 replicas"  # 15.5 / 13.75 - 1
    # Of 3 and 6 that stay, in a band of a fifth, one carries 7.2.
    error = refused(
        [1.0, 8.0], [0, 1], servers=3, replicas=1, drain=["2"], weight=[1, 2, 3], band=0.2
    )
    assert error.what == "is 8; its 1 replicas can carry 7.2"


def test_replicas_need_as_many_servers_that_stay() -> None:
    error = refused([1.0, 1.0], [0, 1], servers=3, drain=["0"], replicas=[1, 3], band=1.0)
    assert (error.what, error.where, error.allowed) == ("are 3", "replicas", "at most 2")
    passes([1.0, 1.0], [0, 1], servers=3, drain=["0"], replicas=[1, 2], band=1.0)


def test_a_spread_needs_zones_that_stay_and_replicas() -> None:
    zones: dict[str, Any] = {"servers": 3, "zone": ["a", "a", "b"], "band": 1.0}
    error = refused([1.0, 1.0], [0, 1], spread=2, drain=["2"], **zones)
    assert error.what == "is 2, but servers that do not drain stand in 1 zones"
    assert (error.where, error.allowed, error.remedy) == ("spread", "1 to 1", "a spread of 1")
    passes([1.0, 1.0], [0, 1], spread=2, **zones)
    error = refused([1.0, 1.0], [0, 1], spread=2, replicas=[2, 1], **zones)
    assert error.what == "is 1, fewer than the spread of 2"
    assert (error.where, error.allowed) == ("replicas of shard 1", "2 or more")
    assert error.remedy == "at least 2 replicas"
    passes([1.0, 1.0], [0, 1], spread=2, replicas=2, **zones)


def test_all_shards_must_fit_all_servers_that_stay() -> None:
    error = refused([1.0, 1.0, 1.0], [0, 1, 2], memory=1.0, drain=["2"], band=0.5)
    assert error.what == "is 2 in all; the shards need 3 (3 replicas at least in this band)"
    assert (error.where, error.allowed) == ("memory", "at least 3 in all")
    passes([1.0, 1.0, 1.0], [0, 1, 2], memory=1.5, drain=["2"], band=0.5)
    # 0.1 + 0.2 is a hair more than 0.3: rounding.
    passes([1.0, 1.0], [0, 0], servers=1, footprint=[0.1, 0.2], memory=0.3)


def test_a_refusal_names_the_least_relaxations() -> None:
    problem = lb.make_round([3.0, 3.0, 2.0], [0, 0, 1], band=0.1, replicas=1, memory=5)
    with pytest.raises(InfeasibleError) as caught:
        refuse_unmet(problem)
    assert caught.value.what == "no placement meets the band within the memory"
    assert caught.value.where == "band 0.1"
    assert caught.value.remedy == "the least relaxation that would do: a band of 0.25"


def test_memory_and_band_are_relaxed_each_by_itself() -> None:
    """Loads 1 and 3 in a band of 0.1 split the second: 3 replicas, so one server takes 2."""
    text = "the least relaxation that would do: "
    problem = lb.make_round([1.0, 3.0], [0, 1], band=0.1, memory=1)
    assert _relaxations(problem) == f"{text}memory of 2 on every server, or a band of 0.5"
    odd = lb.make_round([1.0, 3.0], [0, 1], band=0.1, memory=1.9)
    assert _relaxations(odd) == f"{text}memory of 2 on every server, or a band of 0.5"
    bulky = lb.make_round([1.0, 3.0], [0, 1], band=0.1, memory=5, footprint=5.0)
    assert _relaxations(bulky) == f"{text}memory of 10 on every server, or a band of 0.5"
    # Footprints of two kinds have no unit: a part of the second stands beside the first.
    fine = lb.make_round([1.0, 3.0], [0, 1], band=0.1, memory=2, footprint=1.2345)
    assert _relaxations(fine) == f"{text}memory of 2.469 on every server, or a band of 0.5"
    mixed = lb.make_round([1.0, 3.0], [0, 1], band=0.1, memory=2, footprint=[2.0, 1.0])
    assert _relaxations(mixed) == f"{text}memory of 3 on every server, or a band of 0.5"
    mixed = lb.make_round([1.0, 3.0], [0, 1], band=0.1, memory=4.5, footprint=[4.5, 1.0])
    assert _relaxations(mixed) == f"{text}memory of 5.5 on every server, or a band of 0.5"
    # No band and no memory helps: three replicas, and two servers that stay.
    hopeless = lb.make_round([1.0, 3.0], [0, 1], servers=3, drain=["2"], replicas=3, band=0.1)
    assert _relaxations(hopeless) == "more servers, or fewer shards"


@pytest.mark.parametrize("enough", [0.30001, 0.3456, 2.0, 2.0000001, 7.9, 40.0, 63.9])
def test_the_least_number_that_does_is_found_to_three_digits(
    enough: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feasibility, "_is_met", lambda value: value >= enough)
    found = _least(lambda value: value, 0.3, 64.0, 0.0)  # type: ignore[arg-type, return-value]
    assert found is not None
    digits = Decimal(str(enough)).adjusted() - 2
    exact = Decimal(str(enough)).quantize(Decimal(1).scaleb(digits), ROUND_CEILING)
    assert found == pytest.approx(float(exact), rel=1e-9)


@pytest.mark.parametrize("unit", [1.5, 0.3125])
@pytest.mark.parametrize("enough", [3.1, 4.0, 4.5, 9.0, 61.2])
def test_the_least_multiple_that_does_is_found(
    enough: float, unit: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From 3 on; and nothing else is asked about but the widest."""
    asked: list[float] = []

    def met(value: float) -> bool:
        asked.append(value)
        return value >= enough

    monkeypatch.setattr(feasibility, "_is_met", met)
    found = _least(lambda value: value, 3.0, 64.0, unit)  # type: ignore[arg-type, return-value]
    assert found == np.ceil(enough / unit) * unit
    assert asked[0] == 64.0
    assert all(value % unit == 0.0 for value in asked[1:])
    assert len(asked) <= 10


def test_what_the_widest_does_not_do_nothing_does(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(feasibility, "_is_met", lambda value: False)
    assert _least(lambda value: value, 0.3, 64.0, 0.0) is None  # type: ignore[arg-type, return-value]


def test_a_round_is_met_where_a_placement_is_found() -> None:
    def met(**options: Any) -> bool:
        return _is_met(lb.make_round([1.0, 3.0], [0, 1], **options))

    assert met(band=0.1, memory=2)
    assert not met(band=0.1, memory=1)
    assert met(band=0.5, memory=1)
    assert met(band=0.5, replicas=1)
    assert met(band=0.1, replicas=2)
    # Whole shards of 3, 3 and 2: 5 on one of two servers at best, beside a mean of 4.
    for band, possible_ in ((0.249, False), (0.25, True)):
        problem = lb.make_round([3.0, 3.0, 2.0], [0, 0, 1], band=band, replicas=1)
        assert _is_met(problem) == possible_
    assert met(band=0.1, spread=2)
    assert not met(band=0.1, memory=2, spread=2, drain=["0"])
    # Three replicas for three places.
    assert met(band=0.1, memory=[1.0, 2.0])


def test_large_rounds_with_counts_are_not_asked_about() -> None:
    """Beyond 4096 pairs, HiGHS would take too long; a plain search is asked all the same."""
    loads, home = np.ones(2049), np.arange(2049) % 2
    assert _is_met(lb.make_round(loads, home, band=0.5))
    assert not _is_met(lb.make_round(loads, home, band=0.5, replicas=1))
    assert _is_met(lb.make_round(loads[:40], home[:40], band=0.5, replicas=1))


@pytest.mark.parametrize(
    ("value", "rounded"),
    [
        (1.0, 1.0),
        (1.001, 1.01),
        (1.0099, 1.01),
        (0.12345, 0.124),
        (0.123, 0.123),
        (98.75, 98.8),
        (999.5, 1000.0),
        (1234.0, 1240.0),
        (0.5 + 1e-12, 0.5),
        (5.004e-5, 5.01e-5),
        (0.0, 0.0),
        (-3.21987, -3.21987),
        (np.inf, np.inf),
    ],
)
def test_numbers_are_rounded_up_to_three_digits(value: float, rounded: float) -> None:
    assert _rounded_up(value) == rounded
