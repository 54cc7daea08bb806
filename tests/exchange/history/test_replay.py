"""Replays: the recorded policy gives what was recorded; others, what was observed or predicted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.exchange.history.recorded import record

import walras as wl
from walras.errors import InputError
from walras.exchange.history import History, read_history, replay
from walras.rounds import Decision, Predict, Snapshot, planned


@pytest.fixture(scope="module")
def history(tmp_path_factory: pytest.TempPathFactory) -> History:
    path = tmp_path_factory.mktemp("recorded") / "exchange.db"
    record(f"sqlite:///{path}")
    return read_history(path)


def _values(found: wl.exchange.history.Replayed, column: str = "replayed") -> dict[str, float]:
    frame = found.frame()
    return dict(zip(frame["measure"], frame[column], strict=True))


def test_the_recorded_policy_gives_the_recorded_decisions_to_the_byte(history: History) -> None:
    found = replay(history)
    assert list(found.decisions) == [recorded.decision for recorded in history.rounds]
    assert found.alike == 1.0
    assert found.refused == ()
    frame = found.frame()
    assert frame["recorded"].equals(frame["replayed"])


def test_figures_are_those_of_the_rounds(history: History) -> None:
    values = _values(replay(history), "recorded")
    assert (values["rounds"], values["observed outcomes"]) == (2.0, 3.0)
    placed = int(sum(recorded.decision.placed.sum() for recorded in history.rounds))
    assert values["tasks placed"] == placed
    # Two completed runs of the first round, submitted at 1 and ended at 20 and 25.
    assert values["observed completion"] == pytest.approx((19.0 + 24.0) / 2)
    assert values["lateness"] == pytest.approx((10.0 + 15.0) / 2 - 60.0)
    assert values["observed success"] == pytest.approx(2 / 3)
    assert values["predicted success"] == 1.0
    assert values["expected success"] == pytest.approx((2 + placed - 3) / placed)


def test_elsewhere_there_is_what_was_predicted(history: History) -> None:
    def elsewhere(predict: Predict | None) -> wl.simulate.placed.Placer:
        """Each task on the other cluster than the one recorded, as far as slots go."""
        del predict

        def policy(snapshot: Snapshot) -> Decision:
            kept = next(r for r in history.rounds if r.snapshot.hash == snapshot.hash)
            cluster = kept.decision.cluster.copy()
            plan = np.where(cluster >= 0, 1 - cluster, -1)
            room = snapshot.room.copy()
            for j in np.flatnonzero(plan >= 0).tolist():
                room[plan[j]] -= 1
                plan[j] = plan[j] if room[plan[j]] >= 0 else -1
            return planned(snapshot, plan, policy="elsewhere")

        return policy

    found = replay(history, policy=elsewhere)
    assert found.policy == "elsewhere"
    assert found.alike == 0.0
    values = _values(found)
    assert values["observed outcomes"] == 0.0
    assert np.isnan(values["observed completion"])
    assert values["expected success"] == values["predicted success"] == 1.0
    late = values["lateness"]
    assert values["expected completion"] == pytest.approx(values["predicted completion"] + late)


def test_another_floor_binds(history: History) -> None:
    found = replay(history, {"min_success": 1.0, "explore": 0.0})
    assert "min_success=1.0" in found.policy
    for recorded, decision in zip(history.rounds, found.decisions, strict=True):
        assert decision.snapshot != recorded.snapshot.hash  # the rules are part of a snapshot
        assert decision.state == "ok"  # the prior is sure


def test_a_policy_that_places_nothing_misses_the_deadline(history: History) -> None:
    def nothing(predict: Predict | None) -> wl.simulate.placed.Placer:
        del predict
        return lambda snapshot: planned(snapshot, np.full(len(snapshot.tasks), -1))

    values = _values(replay(history, policy=nothing))
    assert values["deadlines missed"] == 1.0
    assert values["tasks placed"] == 0.0
    assert np.isnan(values["predicted completion"])


def test_a_refused_decision_places_nothing_and_is_named(history: History) -> None:
    def greedy(predict: Predict | None) -> wl.simulate.placed.Placer:
        del predict
        return lambda snapshot: planned(snapshot, np.zeros(len(snapshot.tasks), np.int64))

    found = replay(history, policy=greedy)
    assert found.refused[0][0] == 1
    assert found.refused[0][1].code == "capacity"
    assert found.decisions[0].placed.sum() == 0


def test_a_stop_keeps_the_rounds_so_far(history: History, tmp_path: Path) -> None:
    found = replay(history, on_progress=lambda step: True)
    assert len(found.decisions) == 1
    assert _values(found)["rounds"] == 1.0
    found.save_placements(tmp_path / "placements.csv")
    assert (tmp_path / "placements.csv").read_text(encoding="utf-8").startswith("round,at,task")


@pytest.mark.parametrize(
    ("settings", "policy", "words"),
    [
        ({"colour": 1}, None, "unknown key 'colour'"),
        ({"min_success": 2.0}, None, "min_success"),
        ({"explore": "often"}, None, "explore"),
        ({"explore": 0.0}, wl.policies.first_fit, "a setting of the exchange's search"),
    ],
)
def test_bad_settings_are_named(
    history: History, settings: dict[str, Any], policy: Any, words: str
) -> None:
    with pytest.raises(InputError, match=words):
        replay(history, settings, policy=policy)
