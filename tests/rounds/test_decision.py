"""Decisions: figures, rows and bytes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from walras.errors import DataError, InputError
from walras.rounds import BINDS, Blocker, Blockers, Decision

TWO = Decision.empty(
    ("a", "b", "c"),
    ("east", "west"),
    snapshot="0" * 64,
    method="by hand",
    cluster=[1, -1, 0],
    seconds=[60.0, 0.0, 30.0],
    seconds_low=[50.0, 0.0, 0.0],
    seconds_high=[80.0, 0.0, np.inf],
    chance=[0.9, 0.0, 0.7],
    chance_low=[0.8, 0.0, 0.0],
    chance_high=[1.0, 0.0, 1.0],
    runner_up=[0, -1, -1],
    runner_up_seconds=[70.0, 0.0, 0.0],
    runner_up_chance=[0.95, 0.0, 0.0],
    makespan_if_moved=[70.0, 0.0, 0.0],
    binds=[BINDS.index("quickest"), 0, BINDS.index("drawn")],
    propensity=[0.0, 0.0, 0.5],
    prices=[2.0, 0.0],
    makespan=60.0,
    bound=57.0,
    blockers=Blockers.of([(1, Blocker("slots", (4.0, 3.0)))]),
)


def test_figures() -> None:
    assert TWO.placed.tolist() == [True, False, True]
    assert TWO.gap == pytest.approx(0.05)
    assert TWO.mean_success == pytest.approx(0.8)
    assert repr(TWO) == "Decision(ok, 2 of 3 tasks placed, makespan 60 s, gap 5.0e-02)"
    empty = Decision.empty(("a",), ())
    assert (empty.gap, empty.mean_success, list(empty.rows())) == (0.0, 1.0, [])


def test_rows_are_plain_values() -> None:
    first, last = TWO.rows()
    assert first == {
        "task": "a",
        "cluster": "west",
        "seconds": 60.0,
        "seconds_interval": [50.0, 80.0],
        "chance": 0.9,
        "chance_interval": [0.8, 1.0],
        "runner_up": "east",
        "runner_up_seconds": 70.0,
        "runner_up_chance": 0.95,
        "makespan_if_moved": 70.0,
        "binds": "quickest",
        "slot_price": 0.0,
        "floor_price": 0.0,
        "propensity": None,
    }
    assert last["seconds_interval"] == [0.0, None]
    assert (last["runner_up"], last["runner_up_seconds"]) == (None, None)
    assert (last["binds"], last["slot_price"], last["propensity"]) == ("drawn", 2.0, 0.5)


@given(st.integers(0, 6), st.integers(1, 4), st.integers(0, 2**32 - 1))
def test_bytes_round_trip(n: int, m: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    found = [(int(j), Blocker("behind", (float(j),))) for j in range(n)]
    decision = Decision.empty(
        tuple(f"t{j}" for j in range(n)),
        tuple(f"c{i}" for i in range(m)),
        seed=seed,
        cluster=rng.integers(-1, m, n),
        seconds=rng.uniform(0, 9, n),
        seconds_high=np.full(n, np.inf),
        prices=rng.uniform(0, 1, m),
        makespan=rng.uniform(),
        blockers=Blockers.of(found),
        why="ä",
    )
    again = Decision.from_bytes(decision.to_bytes())
    assert again == decision
    assert hash(again) == hash(decision)
    assert list(again.blockers) == found
    assert decision != Decision.empty((), ())


@pytest.mark.parametrize(
    "changed",
    [
        {"cluster": [2]},
        {"cluster": [-2]},
        {"cluster": [0, 1]},
        {"chance": [1.5]},
        {"seconds": [np.nan]},
        {"binds": [len(BINDS)]},
        {"prices": [-1.0, 0.0]},
        {"makespan": np.inf},
        {"bound": -1.0},
        {"state": "good"},
        {"seed": -1},
    ],
)
def test_what_cannot_be_used_is_named(changed: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=f"Decision.{next(iter(changed))}"):
        Decision.empty(("a",), ("east", "west"), **changed)


def test_bytes_of_something_else_are_refused() -> None:
    data = TWO.to_bytes()
    for old, new in ((b'"ok"', b'"no"'), (b'"chance_low"', b'"chance_lov"')):
        with pytest.raises(DataError, match="hold no decision"):
            Decision.from_bytes(data.replace(old, new))
    with pytest.raises(DataError):
        Decision.from_bytes(data[:-8])
