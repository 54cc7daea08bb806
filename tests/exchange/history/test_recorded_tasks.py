"""What a history says of tasks: measured where they ran, predicted elsewhere."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from tests.exchange.history.simulated import RULES, recorded_run

import walras as wl
from walras.exchange.history import History, Recorded, recorded_tasks
from walras.policies.placements import Policy
from walras.predict import fit, recipe
from walras.rounds import Clusters, FeatureSet, Snapshot, Tasks, Tenants
from walras.simulate import Outage, Slots


def test_measured_runs_and_predicted_ones_are_told_apart() -> None:
    tasks = wl.simulate.draw_tasks(30, rate=600.0, error=0.0, chance=1.0)
    slots = Slots({"east": 4, "west": 4}, rules=RULES)
    history, run = recorded_run(tasks, slots, wl.policies.fastest_cluster(predict=tasks.predict))
    found = recorded_tasks(history)
    assert found.measured.sum() == 30
    ran = run.run_task, run.run_cluster
    assert found.measured[ran].all()
    np.testing.assert_allclose(found.tasks.seconds[ran], tasks.seconds[ran])
    typical = history.rounds[0].snapshot.typical
    ratio = found.tasks.seconds[~found.measured][0] / typical
    predicted = sum(r.decision.seconds[r.decision.placed].sum() for r in history.rounds)
    assert ratio == pytest.approx(tasks.seconds[ran].sum() / predicted)
    np.testing.assert_allclose(found.completion, run.ended - run.arrival)


def test_what_failed_there_fails_there_again_and_clusters_are_away() -> None:
    slots = Slots({"east": 5, "west": 3}, rules=RULES, outages=[Outage("west", 200.0, 400.0)])
    tasks = wl.simulate.draw_tasks(40, rate=240.0, chance=0.5, largest=2)
    history, run = recorded_run(tasks, slots, wl.policies.first_fit())
    found = recorded_tasks(history)
    ran = run.run_task, run.run_cluster
    good = np.zeros(tasks.seconds.shape)
    np.add.at(good, ran, run.runs["outcome"] == "succeeded")
    count = np.zeros(tasks.seconds.shape)
    np.add.at(count, ran, 1)
    np.testing.assert_allclose(
        found.tasks.chance[count > 0], (good / np.maximum(count, 1))[count > 0]
    )
    (outage,) = found.slots.outages
    assert outage.cluster == "west"
    assert 200.0 <= outage.begin + tasks.arrival[0] < 230.0
    assert outage.state == "down"


def test_a_task_that_no_cluster_can_run_is_left_out() -> None:
    tasks = wl.simulate.draw_tasks(10, rate=240.0, chance=1.0)
    slots = Slots({"east": 5, "west": 3}, rules=RULES)
    history, _ = recorded_run(tasks, slots, wl.policies.first_fit())
    whole = recorded_tasks(history)
    assert whole.left_out == 0
    for recorded in history.rounds:
        snapshot = recorded.snapshot
        wide = np.where(snapshot.tasks.key == 1, 99, snapshot.tasks.slots)
        object.__setattr__(snapshot.tasks, "slots", wide)
    found = recorded_tasks(history)
    assert found.left_out == 1
    assert found.tasks.name == whole.tasks.name[1:]


def test_labels_that_tasks_require_are_kept_once_each() -> None:
    wanted: tuple[dict[str, str], ...] = ({}, {"gpu": "a100", "zone": "1"})
    drawn = wl.simulate.draw_tasks(12, rate=600.0, clusters=("east", "west"), chance=1.0)
    tasks = replace(drawn, requirements=wanted, requires=np.arange(12) % 2)
    slots = Slots({"east": 12, "west": 12}, labels={"west": wanted[1]}, rules=RULES)
    history, _ = recorded_run(tasks, slots, wl.policies.first_fit())
    found = recorded_tasks(history).tasks
    assert len(found.requirements) == 2
    for j, name in enumerate(tasks.name):
        k = found.requires[found.name.index(name)]
        assert found.requirements[k] == wanted[j % 2]


def test_a_recorded_predictor_is_asked() -> None:
    jobs = recipe("gavel", train_tasks=12, synthetic=True)
    names = tuple(f"x{k}" for k in range(jobs.train.features.shape[1]))
    train, validation = (
        replace(part, feature_names=names) for part in (jobs.train, jobs.validation)
    )
    predictor = fit(train, validation)
    known = predictor.clusters[:2]
    values = np.random.default_rng(0).uniform(0.5, 2.0, (3, len(names))).astype(np.float32)
    snapshot = replace(
        Snapshot.of(
            Tasks.of(["a", "b", "c"], pin=[-1, 0, -1]),
            Clusters.of([*known, "new"], slots=[2, 2, 2]),
            Tenants.of(["lab"]),
        ),
        features=(FeatureSet(tuple(names), values),),
    )
    decision = wl.policies.first_fit()(snapshot)
    recorded = Recorded(1, Policy(), 0, "predictor 1", snapshot, decision)
    history = History("one round", (recorded,), {}, {"predictor 1": predictor.to_bytes()})
    found = recorded_tasks(history).tasks
    frame = pd.DataFrame(values.astype(np.float64), columns=list(names))
    wanted = predictor.predict(frame, clusters=snapshot.clusters.uid)
    np.testing.assert_allclose(found.predicted_chance, wanted.success.T)
    times = wanted.times.T.copy()
    times[1, 1:] = np.inf  # pinned to the first cluster
    np.testing.assert_allclose(found.predicted_seconds, times)
    np.testing.assert_allclose(found.seconds, times)
