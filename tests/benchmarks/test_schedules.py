"""Schedules are played in several processes, each seed once; violations are reported."""

from __future__ import annotations

import pytest
from benchmarks.schedules import Part, main, parts, play

from benchmarks import schedules
from walras.exchange.simulation.world import World


def test_seeds_are_played_once_each() -> None:
    found = [seed for part in parts(7, 120) for seed in part]
    assert found == list(range(7, 127))


def test_violations_are_reported_with_their_seed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    true = World.run

    def run(self: World) -> int:
        if self.seed == 5:
            raise self._violated("planted")
        return true(self)

    monkeypatch.setattr(World, "run", run)
    found = play(range(4, 7))
    assert found.schedules == 3
    assert found.syncs > 0
    assert found.broken == ("seed 5, time 0.0: planted",)
    monkeypatch.setattr(schedules, "measured", lambda *_: (found, 2.0))
    assert main(["--first", "4", "--count", "3"]) == 1
    assert "violated: seed 5" in capsys.readouterr().out
    monkeypatch.setattr(schedules, "measured", lambda *_: (Part(9, 40, 3.0, ()), 2.0))
    assert main([]) == 0
    assert "4 schedules a second with 2 processes; 3 a processor second" in capsys.readouterr().out
