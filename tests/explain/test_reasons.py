"""Why a demand moved: its access to a resource, then prices, then what it gets of it."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import pytest
from tests.explain.rounds import cs, sharp

import walras as wl
from walras.explain.active import active
from walras.explain.reasons import Reasons, names_of

SPEEDS = [[4.0, 3.0], [1.0, 2.0]]


def round_of(
    speeds: Sequence[Sequence[float]] = SPEEDS,
    capacity: Sequence[float] = (1.5, 1.0),
    resources: Sequence[str] = ("v100", "k80"),
) -> wl.Solution:
    table = pd.DataFrame(speeds, index=list(resources), columns=["a", "b"])
    return sharp(cs.total_throughput(table, [1.0, 1.0], list(capacity)))


def said(now: wl.Solution, before: wl.Solution, lost: str = "", gained: str = "") -> str:
    def side(s: wl.Solution) -> tuple[wl.Separable, wl.Certificate]:
        problem = s.problem
        assert isinstance(problem, wl.Separable)
        return problem, s.certificate

    sides = side(now), side(before)
    return Reasons(sides[0], active(*sides[0]), sides[1], active(*sides[1])).of("b", lost, gained)


def test_resources_that_came_or_went_come_first() -> None:
    one, two = round_of(), round_of(resources=("v100", "t4"))
    assert said(two, one, lost="k80") == "k80 is gone"
    assert said(two, one, gained="t4") == "t4 is new"


def test_pairs_that_may_and_may_not_are_told_from_prices() -> None:
    barred = round_of([[4.0, 3.0], [1.0, 0.0]])
    assert said(barred, round_of(), lost="k80") == "k80 is no longer allowed"
    assert said(round_of(), barred, gained="k80") == "k80 is now allowed"


def test_a_price_that_changed_is_told_with_its_numbers() -> None:
    """Of 1.5 machines b holds half at a price of 1, what another is worth to it; of 2 none."""
    scarce, ample = round_of(capacity=(1.5, 1.0)), round_of(capacity=(2.5, 1.0))
    assert said(scarce, ample, lost="v100").startswith("v100 became dearer: 0 -> ")
    assert said(ample, scarce, gained="v100").startswith("v100 became cheaper: ")


def test_a_benefit_that_changed_is_told_where_no_price_did() -> None:
    more = round_of([[4.0, 3.0], [1.0, 2.5]], (2.5, 1.0))
    less = round_of(capacity=(2.5, 1.0))
    assert said(more, less, gained="k80") == "k80 brings it more: 2 -> 2.5"
    assert said(less, more, lost="k80") == "k80 brings it less: 2.5 -> 2"


def test_a_move_between_two_says_which_is_best_now() -> None:
    scarce, ample = round_of(capacity=(0.5, 1.0)), round_of(capacity=(2.5, 1.0))
    assert said(scarce, ample, "v100", "k80").endswith("k80 is now its best")
    even = round_of([[4.0, 3.0], [1.0, 3.0]], (2.5, 1.0))
    assert said(even, even, "v100", "k80") == "k80 and v100 are equally good now"
    assert said(ample, ample) == "other rows of it changed"


@pytest.mark.parametrize("names", [[1, 2], ["1", "2"]])
def test_names_are_text(names: list[str]) -> None:
    assert names_of(names) == ["1", "2"]
