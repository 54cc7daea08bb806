"""Histories that an exchange would keep of simulated runs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

import walras as wl
from walras.exchange.history import History, Outcome, Recorded
from walras.policies.placements import Policy
from walras.rounds import Decision, Rules, Snapshot
from walras.simulate import PlacedRun, Slots, TaskTrace
from walras.simulate.placed import Placer

RULES = Rules(min_success=0.0)


def recorded_run(
    tasks: TaskTrace, slots: Slots, placer: Placer, shift: float = 0.0
) -> tuple[History, PlacedRun]:
    """The history that an exchange would keep of a simulated run, by a clock of its own."""
    kept: list[tuple[Snapshot, Decision]] = []

    def listening(snapshot: Snapshot) -> Decision:
        kept.append((snapshot, placer(snapshot)))
        return kept[-1][1]

    run = wl.simulate.run(tasks, slots, listening, round_seconds=10.0)
    at = [snapshot.at for snapshot, _ in kept]
    rows: list[dict[Any, Any]] = run.runs.to_dict("records")
    outcomes = {
        (
            at.index(row["placed"]),
            tasks.name.index(row["task"]) + 1,
            slots.names.index(row["cluster"]) + 1,
        ): Outcome(
            "completed" if row["outcome"] == "succeeded" else "failed",
            row["ended"] - row["began"],
            row["ended"] + shift,
        )
        for row in rows
    }
    policy = Policy(rules=RULES, explore=0.0)
    rounds = [
        Recorded(seq, policy, 3, "prior", _later(snapshot, shift), decision)
        for seq, (snapshot, decision) in enumerate(kept)
    ]
    return History("a run", tuple(rounds), outcomes, {}), run


def _later(snapshot: Snapshot, shift: float) -> Snapshot:
    tasks = replace(
        snapshot.tasks,
        submitted=snapshot.tasks.submitted + shift,
        deadline=snapshot.tasks.deadline + shift,
    )
    return replace(snapshot, at=snapshot.at + shift, tasks=tasks)


def tasks_of_one_cluster(n: int = 40, *, chance: float = 1.0) -> TaskTrace:
    """Tasks of one cluster, so that a run there says how long they take anywhere; the first one
    comes at 0, when rounds begin.
    """
    rng = np.random.default_rng(5)
    return TaskTrace.of(
        [f"t{j}" for j in range(n)],
        tenant=tuple(f"u{k}" for k in rng.integers(2, size=n)),
        size=rng.integers(1, 4, n),
        arrival=np.concatenate([[0.0], np.sort(rng.uniform(0.0, 900.0, n - 1))]),
        priority=rng.integers(0, 2, n),
        clusters=("east",),
        seconds=rng.uniform(10.0, 200.0, (n, 1)),
        chance=np.full((n, 1), chance),
    )


SLOTS = Slots({"east": 5}, rules=RULES, quotas={"u0": 4}, weights={"u1": 2.0})
