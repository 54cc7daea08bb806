"""The log of rounds: a decision belongs to the round that follows it."""

from __future__ import annotations

import numpy as np

from walras.simulate.rounds_log import RoundsLog


def test_decisions_stand_in_the_next_round() -> None:
    log = RoundsLog(2)
    log.decide(0.5, 0, 1.0, 2.0)
    log.add(np.zeros((0, 5)), 1.0)
    log.served(0.5)
    log.decide(0.25, 3, 3.0, 4.0)
    log.served(0.75)
    log.add(np.arange(15.0).reshape(3, 5), 3.0)
    log.add(np.ones((1, 5)), 2.0)
    rows = log.arrays()
    assert log.rounds == len(rows["at"]) == 4
    assert rows["decisions"].tolist() == [2.0, 0.0, 0.0, 0.0]
    assert rows["refused"].tolist() == [1.0, 0.0, 0.0, 0.0]
    assert rows["policy"].tolist() == [0.75, 0.0, 0.0, 0.0]
    assert rows["overhead"].tolist() == [1.0, 1.0, 1.0, 2.0]
    assert rows["busy"].shape == (4, 2)
    for name, last in (("value", 3.0), ("bound", 4.0), ("fairness", 0.75)):
        assert rows[name][0] == last  # of two decisions before a round, the one in force
        assert np.isnan(rows[name][1:]).all()


def test_a_decision_that_no_round_follows_is_left_out() -> None:
    log = RoundsLog(1)
    log.add(np.ones((2, 4)), 1.0)
    log.decide(0.5, 0, 1.0, 1.0)
    assert log.arrays()["decisions"].tolist() == [0.0, 0.0]


def test_an_empty_log_has_its_columns() -> None:
    assert RoundsLog(2).arrays()["busy"].shape == (0, 2)
