"""Random placements are among the nearly best, and never cost the makespan or the floor."""

from __future__ import annotations

import numpy as np
from tests.policies.placements.predictions import table
from tests.policies.placements.small import stated, trusted

from walras.policies.placements import Policy, decide
from walras.rounds import (
    BINDS,
    Rules,
)


def test_placements_are_drawn_among_those_nearly_best() -> None:
    n, m = 400, 4
    seconds = np.array([[100.0], [110.0], [119.0], [130.0]]) * np.ones((m, n))
    snapshot = stated(n, trusted(m, slots=[n] * m))
    decision = decide(snapshot, table(seconds), Policy(explore=0.25), seed=1)
    drawn = decision.propensity > 0
    # The makespan stays as it is: the quickest cluster takes all, so that nothing slower is drawn.
    assert not drawn.any()
    assert decision.makespan == 100.0
    seconds[0, 0] = seconds[1:, 0] = 200.0  # one long task
    decision = decide(snapshot, table(seconds), Policy(explore=0.25), seed=1)
    drawn = decision.propensity > 0
    assert 60 < drawn[1:].sum() < 140
    assert set(decision.propensity[1:][drawn[1:]]) == {1 / 3}
    assert set(decision.cluster[1:][drawn[1:]]) == {0, 1, 2}
    assert (decision.cluster[1:][~drawn[1:]] == 0).all()
    assert (decision.makespan, decision.gap) == (200.0, 0.0)
    assert {BINDS[k] for k in decision.binds[drawn]} == {"drawn"}


def test_draws_that_break_the_floor_are_given_up() -> None:
    n = 30
    seconds = np.array([[100.0], [110.0]]) * np.ones((2, n))
    seconds[:, 0] = 150.0
    chance = np.array([[0.8], [0.1]]) * np.ones((2, n))
    snapshot = stated(n, trusted(2, slots=[n, n]), rules=Rules(0.8))
    decision = decide(snapshot, table(seconds, chance), Policy(explore=1.0))
    assert decision.state == "ok"
    assert not decision.propensity.any()
