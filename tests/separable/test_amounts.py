"""Which rows have their amount as a scalar's factor, and what one more of it is worth."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.bank.statement import INF, Entry, Row, Scalar, state

from walras.separable import Family, Rows, Side, Utility
from walras.separable.amounts import bound_of_one, scalar_of_amount, scaled_amounts


def rows(*given: Row, family: int = 1) -> Rows:
    """Rows of two resources and one demand, with two shared scalars, in families of this length."""
    entries = [Entry(0, 0), Entry(1, 0)]
    built = state(entries, given, [Scalar(1.0), Scalar(2.0)]).rows
    count = len(given)
    starts = range(0, count, family)
    families = tuple(Family(f"f{k}", k, min(k + family, count)) for k in starts)
    return replace(built, families=families)


def link(
    amount: float, *, scalar: int = 1, lower: float = -INF, upper: float = 0.0, resource: int = 0
) -> Row:
    """``load <= amount t``, as stored."""
    return Row(
        f"link[{resource}]",
        {resource: 1.0},
        lower,
        upper,
        scalars={scalar: -amount},
        side=Side.RESOURCE,
    )


PLAIN = Row("plain[0]", {0: 1.0}, upper=4.0, side=Side.RESOURCE)


@pytest.mark.parametrize("scalar", [0, 1])
@pytest.mark.parametrize(("lower", "upper"), [(-INF, 0.0), (0.0, INF)])
def test_a_scalar_times_the_amount_is_found(scalar: int, lower: float, upper: float) -> None:
    some = rows(link(3.0, scalar=scalar, lower=lower, upper=upper), PLAIN)
    assert scalar_of_amount(some).tolist() == [scalar, -1]
    t = np.array([0.25, 0.5])
    assert bound_of_one(some, t).tolist() == [t[scalar], 1.0]
    assert scaled_amounts(some, t).tolist() == [3.0 * t[scalar], 0.0]


OTHERS = {
    "a bound beside it": link(3.0, upper=4.0),
    "a lower bound beside it": link(3.0, lower=1.0, upper=INF),
    "an equality": link(3.0, lower=0.0, upper=0.0),
    "a finite bound below": link(3.0, lower=-1.0),
    "a finite bound above": link(3.0, lower=0.0, upper=1.0),
    "the scalar on the other side": link(-3.0),
    "a little of it on the other side": link(-0.5),
    "two scalars": replace(link(3.0), scalars={0: -1.0, 1: -3.0}),
    "a demand's row": replace(link(3.0), side=Side.DEMAND),
    "a coupled row": replace(link(3.0), terms={0: 1.0, 1: 1.0}, side=Side.RESOURCE),
    "a utility": replace(link(3.0), utility=Utility.LOG, upper=INF),
    "a utility without bound above": replace(link(3.0), utility=Utility.LOG, lower=0.0, upper=INF),
}


@pytest.mark.parametrize("name", OTHERS)
def test_other_rows_have_their_amount_as_bound(name: str) -> None:
    some = rows(OTHERS[name], PLAIN)
    assert scalar_of_amount(some).tolist() == [-1, -1]
    t = np.array([0.25, 0.5])
    assert bound_of_one(some, t).tolist() == [1.0, 1.0]
    assert scaled_amounts(some, t).tolist() == [0.0, 0.0]


def test_a_family_counts_when_all_its_rows_with_a_scalar_are_of_the_form() -> None:
    """In ``load - t <= amount`` the bound is the amount also where it is zero."""
    first, second = link(3.0), link(2.0, scalar=0, resource=1)
    bounded = link(1.0, upper=5.0)
    assert scalar_of_amount(rows(first, bounded, family=2)).tolist() == [-1, -1]
    assert scalar_of_amount(rows(first, bounded)).tolist() == [1, -1]
    # Rows without a scalar say nothing against the others.
    both = rows(PLAIN, first, bounded, PLAIN, second, PLAIN, family=3)
    assert scalar_of_amount(both).tolist() == [-1, -1, -1, -1, 0, -1]
    together = rows(second, PLAIN, first, family=3)
    assert scalar_of_amount(together).tolist() == [0, -1, 1]
    t = np.array([0.25, 0.5])
    assert bound_of_one(together, t).tolist() == [0.25, 1.0, 0.5]
    assert scaled_amounts(together, t).tolist() == [0.5, 0.0, 1.5]


def test_without_scalars_every_bound_is_an_amount() -> None:
    some = state([Entry(0, 0)], [Row("cap[0]", {0: 1.0}, upper=0.0, side=Side.RESOURCE)]).rows
    assert scalar_of_amount(some).tolist() == [-1]
    assert bound_of_one(some, np.zeros(0)).tolist() == [1.0]
    assert scaled_amounts(some, np.zeros(0)).tolist() == [0.0]
