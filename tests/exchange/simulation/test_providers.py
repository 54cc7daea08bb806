"""Providers of a simulated world: drawn from the seed, honest alike, and liars that lie."""

from __future__ import annotations

import json
import random

import pytest

from walras.exchange.service.messages import Grant
from walras.exchange.simulation.providers import TRUSTED, Fate, Providers

SEEDS = range(200)


def _grant(command: str) -> Grant:
    return Grant(1, 1, "t", 1, None, {"command": [command]})


def test_a_share_of_the_seeds_has_providers() -> None:
    drawn = [Providers.drawn(seed, 0.3, 2) for seed in range(1000)]
    assert 250 < sum(one is not None for one in drawn) < 350
    assert all(Providers.drawn(seed, 0.0, 2) is None for seed in SEEDS)


def test_there_are_as_many_clusters_as_asked_for_and_the_trusted_one_never_lies() -> None:
    liars = set()
    for seed in SEEDS:
        made = Providers(random.Random(seed), 6)
        assert len(made.of) == 6
        assert TRUSTED not in made.liars
        assert made.liars <= set(made.of)
        liars.add(len(made.liars))
    assert liars == {0, 1, 2}


def test_the_work_of_a_task_ends_alike_at_all_honest_providers() -> None:
    made = Providers(random.Random(1), 4)
    made.liars = frozenset()
    fates = [made.fate(k, _grant("w")) for k in range(4)]
    assert {(one.outcome, one.exit_code) for one in fates} in ({("completed", 0)}, {("failed", 1)})
    taken = [one.lasts / speed for one, speed in zip(fates, made.speed, strict=True)]
    assert taken == pytest.approx([taken[0]] * 4)


def test_liars_forge_slander_and_now_and_then_are_honest() -> None:
    made = Providers(random.Random(1), 3)
    made.liars = frozenset()
    true = made.fate(0, _grant("w"))
    made.liars = frozenset(made.of)
    seen = {made.fate(0, _grant("w")) for _ in range(200)}
    assert seen == {
        true,
        Fate(0.02 * true.lasts, "completed", 0, true.lasts),
        Fate(0.02 * true.lasts, "failed", 1, true.lasts),
        Fate(true.lasts, "completed", 3),
    }


def test_a_plan_places_a_task_where_it_must_run() -> None:
    made = Providers(random.Random(2), 4)
    spec = json.dumps({"command": ["w"]})
    for wanted in set(made.of):
        rows = [(1, 0, 1, spec, json.dumps({"provider": wanted})), (2, 0, 1, spec, "{}")] * 20
        plan = made.plan(rows)
        assert {made.of[one.cluster - 1] for one in plan[::2]} == {wanted}
        assert len({one.cluster for one in plan[1::2]}) == len(made.of)
        for one in plan:
            low, high = json.loads(one.receipt or "")["seconds_interval"]
            assert one.predicted is not None
            assert low < one.predicted < high
