"""The tables of states: every move leads to a state that there is, and ends are ends."""

from __future__ import annotations

import pytest

from walras.exchange import states

TABLES = {
    "task": states.TASK,
    "placement": states.PLACEMENT,
    "cluster": states.CLUSTER,
    "round": states.ROUND,
    "predictor": states.PREDICTOR,
}


@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
def test_moves_lead_to_states_that_there_are_and_never_stand_still(table: states.Moves) -> None:
    for state, following in table.items():
        assert set(following) <= set(table)
        assert state not in following
        assert len(set(following)) == len(following)


def test_a_task_is_open_or_ended() -> None:
    ended = {state for state, following in states.TASK.items() if not following}
    assert ended == set(states.ENDED_TASK)
    assert set(states.OPEN_TASK) == set(states.TASK) - ended
    assert set(states.LIVE_PLACEMENT) <= set(states.PLACEMENT)


@pytest.mark.parametrize("outcome", states.OUTCOMES)
def test_each_outcome_ends_a_running_placement(outcome: str) -> None:
    state = states.placement_state(outcome)
    assert state in states.PLACEMENT["running"]
    assert (state == "succeeded") == (outcome == "completed")
    assert (state in ("succeeded", "failed")) == (outcome in states.COUNTED)
