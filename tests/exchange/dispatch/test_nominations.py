"""Whether a workload needs names now, and which."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from walras.exchange.dispatch.chain import Clusters
from walras.exchange.dispatch.nominations import MOST, Rules, Standing, nomination, standing
from walras.exchange.dispatch.workloads import Workload

NAMES = [f"c{k}" for k in range(30)]


def _workload(*names: str, reserved: bool = True) -> Workload:
    return Workload("lab", "w", "u", "1", "cq", {}, reserved, nominated=names)


def _standing(*names: str, active: str = "abcde", last: float = 0.0, now: float = 0.0) -> Standing:
    return standing(_workload(*names), Clusters(tuple(active)), last, now, Rules())


def test_a_workload_without_names_is_due_at_once() -> None:
    assert _standing(now=5.0) == Standing("due", "no cluster is nominated", tuple("abcde"), 5.0)


def test_more_are_added_after_five_minutes() -> None:
    waits = _standing("a", last=100.0, now=399.0)
    assert (waits.state, waits.at, waits.clusters) == ("waits", 400.0, tuple("bcde"))
    assert _standing("a", last=100.0, now=400.0).state == "due"


def test_a_clock_that_was_put_back_makes_nobody_wait_longer() -> None:
    assert _standing("a", last=9000.0, now=100.0).at == 400.0


def test_when_there_is_nothing_to_add() -> None:
    assert _standing(*"abcde", now=1e6).state == "complete"
    assert _standing(*NAMES[:20], now=1e6).state == "complete"
    closed = standing(_workload(reserved=False), Clusters(("a",)), 0.0, 0.0, Rules())
    assert (closed.state, closed.text) == ("closed", "has no quota reserved")
    blocked = standing(_workload(), Clusters(why="x is missing"), 0.0, 0.0, Rules())
    assert (blocked.state, blocked.text) == ("blocked", "x is missing")


def test_the_best_are_added_after_those_that_are_there() -> None:
    where = _standing("c", now=400.0)
    made = nomination(_workload("c"), where, tuple("edcba"), Rules())
    assert made is not None
    assert (made.names, made.added) == (tuple("cedb"), tuple("edb"))


def test_nothing_is_written_for_a_workload_that_is_not_due() -> None:
    waits = _standing("a", now=1.0)
    assert nomination(_workload("a"), waits, tuple("bc"), Rules()) is None
    assert nomination(_workload(), _standing(), ("unknown",), Rules()) is None


@given(
    have=st.lists(st.sampled_from(NAMES), unique=True, max_size=20),
    active=st.lists(st.sampled_from(NAMES), unique=True, max_size=20),
    order=st.permutations(NAMES),
    batch=st.integers(1, 20),
    last=st.floats(0, 1e4),
    now=st.floats(0, 1e4),
)
def test_names_are_appended_at_most_twenty_and_active(
    have: list[str], active: list[str], order: list[str], batch: int, last: float, now: float
) -> None:
    workload, rules = _workload(*have), Rules(batch)
    clusters = Clusters(tuple(active), why="" if active else "none is active")
    where = standing(workload, clusters, last, now, rules)
    made = nomination(workload, where, order, rules)
    due = bool(set(active) - set(have)) and len(have) < MOST
    due = due and (not have or now >= min(last, now) + rules.every)
    assert (made is not None) == due
    if made is not None:
        assert made.names[: len(have)] == tuple(have)
        assert made.names[len(have) :] == made.added
        assert len(made.names) <= MOST
        assert len(set(made.names)) == len(made.names)
        assert 1 <= len(made.added) <= batch
        assert set(made.added) <= set(active)


@pytest.mark.parametrize("batch", [1, 3, 20])
def test_all_are_nominated_in_the_end(batch: int) -> None:
    workload, now, rounds = _workload(), 0.0, 0
    while True:
        where = standing(workload, Clusters(tuple(NAMES[:20])), now - 300.0, now, Rules(batch))
        made = nomination(workload, where, NAMES, Rules(batch))
        if made is None:
            break
        workload, now, rounds = _workload(*made.names), now + 300.0, rounds + 1
    assert where.state == "complete"
    assert rounds == -(-20 // batch)
