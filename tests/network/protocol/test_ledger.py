"""Running sums: what messages lose, the next one brings."""

from __future__ import annotations

import hypothesis.strategies as st
import numpy as np
from hypothesis import given

from walras.network.protocol.ledger import Ledger

AMOUNT = st.integers(-(2**61), 2**61)


@given(
    pushes=st.lists(st.tuples(AMOUNT, st.booleans()), min_size=1, max_size=30),
    start=st.integers(-(2**63), 2**63 - 1),
)
def test_whatever_arrives_the_latest_sum_brings_all(
    pushes: list[tuple[int, bool]], start: int
) -> None:
    """Also where the running sums pass 2^63 and go around."""
    one, other = Ledger(np.array([2**50])), Ledger(np.array([0]))
    for ledger in (one, other):
        ledger.open(7, 0)
    one.links[7].sent += np.array([start])
    other.links[7].credited += np.array([start])
    for amount, arrives in pushes:
        one.push(7, np.array([amount]) // len(pushes))
        if arrives:
            other.credit(7, one.links[7].sent.copy())
            assert not other.credit(7, one.links[7].sent.copy()).any()
    other.credit(7, one.links[7].sent.copy())
    assert one.held + other.held == 2**50


def test_a_closed_link_leaves_its_balance() -> None:
    ledger = Ledger(np.array([100, 0]))
    ledger.open(3, 0)
    ledger.push(3, np.array([30, -4]))
    ledger.credit(3, np.array([10, 1]))
    ledger.close(3)
    assert ledger.held.tolist() == [80, 5]
    assert ledger.closed[3, 0].balance.tolist() == [20, -5]
    assert not ledger.links
    assert ledger.open(3, 1).sent.tolist() == [0, 0]


def test_a_link_is_drained_when_the_latest_push_is_confirmed() -> None:
    ledger = Ledger(np.array([100]))
    link = ledger.open(3, 0)
    assert link.drained
    link.number = 4
    ledger.push(3, np.array([1]))
    before, link.confirmed = link.drained, 5
    assert (before, link.drained) == (False, True)
    ledger.push(3, np.array([0]))
    assert link.drained


def test_what_is_handed_over_is_gone_and_what_arrives_is_new_only() -> None:
    ledger = Ledger(np.array([10, 0]))
    link = ledger.open(3, 2)
    assert (link.epoch, link.number, link.latest, link.confirmed, link.changed) == (2, 0, 0, 0, 0)
    ledger.push(3, np.array([4, -1]))
    assert ledger.held.tolist() == [6, 1]
    assert link.sent.tolist() == [4, -1]
    assert link.changed == 1
    assert ledger.credit(3, np.array([7, 2])).tolist() == [7, 2]
    assert ledger.held.tolist() == [13, 3]
    assert ledger.credit(3, np.array([9, 2])).tolist() == [2, 0]
    assert ledger.held.tolist() == [15, 3]
    assert link.credited.tolist() == [9, 2]
    assert link.balance.tolist() == [-5, -3]


def test_a_push_of_some_entries_counts_and_a_push_of_none_does_not() -> None:
    ledger = Ledger(np.array([10, 5]))
    link = ledger.open(1, 0)
    link.number = 8
    ledger.push(1, np.array([0, 0]))
    assert link.changed == 0
    ledger.push(1, np.array([0, 2]))
    assert link.changed == 9
    link.confirmed = 8
    assert not link.drained
    link.confirmed = 9
    assert link.drained


def test_a_ledger_is_a_copy_of_what_it_starts_with() -> None:
    start = np.array([5])
    ledger = Ledger(start)
    ledger.open(1, 0)
    ledger.push(1, np.array([2]))
    assert start.tolist() == [5]
