"""Tasks that arrive one by one: FGD's policies by their published scores, written out here."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.domains.placement.instances import with_zeros

import walras as wl
from walras.domains import placement as pl
from walras.domains.placement.online import POLICIES

NODES = pd.DataFrame(
    {
        "cpu": [32.0, 64.0, 96.0, 96.0],
        "memory": [128.0, 256.0, 384.0, 384.0],
        "gpus": [2, 4, 4, 2],
        "model": ["T4", "V100", "G2", "G2"],
    }
)


def _tasks(seed: int, count: int = 40) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "cpu": rng.choice([2.0, 6.0, 12.0], count),
            "memory": rng.choice([4.0, 20.0], count),
            "gpus": rng.choice([0.0, 0.3, 0.5, 0.8, 1.0, 2.0], count),
            "model": rng.choice(["", "", "G2", "T4|V100"], count),
        }
    )


def _loss(cpu: float, gpus: list[int], model: str, typical: Any) -> float:
    """FGD's fragmentation of one node, by the definition in the paper."""
    idle, out = sum(gpus), 0.0
    for one in typical.itertuples():
        share = 1000 if one.gpus >= 1 else round(1000 * one.gpus)
        room = sum(g >= share for g in gpus)
        can = one.gpus > 0 and (not one.model or model in one.model.split("|"))
        can = can and one.cpu <= cpu and room >= max(1, one.gpus)
        out += one.freq * (sum(g for g in gpus if g < share) if can else idle)
    return out


def _replayed(tasks: Any, arriving: list[int], seed: int, policy: str) -> list[int]:
    """The choices of FGD or best fit, one node at a time, without any cache."""
    count = tasks.groupby(["cpu", "gpus", "model"], sort=False).size()
    count = count.sort_values(ascending=False, kind="stable")
    keep = int(np.searchsorted(count.cumsum(), 0.95 * len(tasks) - 1e-9)) + 1
    typical = count.iloc[:keep].rename("n").reset_index()
    typical["freq"] = typical["n"] / typical["n"].sum()
    order = np.random.default_rng(seed).permutation(len(NODES))
    cpu: list[float] = NODES["cpu"].tolist()
    memory: list[float] = NODES["memory"].tolist()
    gpus = [[1000] * n for n in NODES["gpus"]]
    out: list[int] = []
    for a in arriving:
        task = tasks.iloc[a]
        best: tuple[float, float, int, list[int]] = (-math.inf, 0.0, -1, [0])
        share = 1000 if task.gpus >= 1 else round(1000 * task.gpus)
        for i, model in enumerate(NODES["model"]):
            if task.cpu > cpu[i] or task.memory > memory[i]:
                continue
            if task.model and model not in task.model.split("|"):
                continue
            if sum(g >= share for g in gpus[i]) < (max(1, task.gpus) if share else 0):
                continue
            ways = [[k] for k, g in enumerate(gpus[i]) if g >= share] if 0 < share < 1000 else []
            full = [k for k, g in enumerate(gpus[i]) if g == 1000][: int(task.gpus)]
            if policy == "best_fit" and ways:
                ways = [min(ways, key=lambda w: gpus[i][w[0]])]
            for way in ways or [full]:
                after = [g - share * (k in way) for k, g in enumerate(gpus[i])]
                gain = _loss(cpu[i], gpus[i], model, typical)
                gain -= _loss(cpu[i] - task.cpu, after, model, typical)
                score = math.floor(100 / (1 + math.exp(-gain / 1000)))
                if policy == "best_fit":
                    rest = (cpu[i] - task.cpu) / 96 + sum(after) / 4000
                    score = math.floor(100 * (1 - rest / 2) + 1e-9)
                if (score, -order[i]) > best[:2]:
                    best = (score, -order[i], i, after)
        out.append(best[2])
        if best[2] >= 0:
            i = best[2]
            cpu[i], memory[i], gpus[i] = cpu[i] - task.cpu, memory[i] - task.memory, best[3]
    return out


@pytest.mark.parametrize("policy", ["fgd", "best_fit"])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_choices_are_those_of_the_published_scores(policy: str, seed: int) -> None:
    tasks = _tasks(seed)
    arriving = np.random.default_rng(seed).integers(0, len(tasks), 60).tolist()
    found = pl.arrive(pl.make_instance(NODES, tasks), arriving, policy, seed=seed)
    assert found.tolist() == _replayed(tasks, arriving, seed, policy)


@pytest.mark.parametrize("policy", POLICIES)
def test_limits_are_kept_and_nothing_that_fits_is_refused(policy: str) -> None:
    tasks = _tasks(5)
    arriving = np.arange(len(tasks)).tolist()
    on = pl.arrive(pl.make_instance(NODES, tasks), arriving, policy, seed=3)
    placed = tasks[on >= 0].assign(node=on[on >= 0])
    for r in ("cpu", "memory", "gpus"):
        used = placed.groupby("node")[r].sum()
        assert (used <= NODES.loc[used.index, r] + 1e-9).all()
    small = tasks[(tasks["gpus"] == 0) & (tasks["model"] == "")].index
    assert (on[small] >= 0).all()  # CPU is not scarce here
    again = pl.arrive(pl.make_instance(NODES, tasks), arriving, policy, seed=3)
    assert np.array_equal(on, again)


@pytest.mark.parametrize("policy", POLICIES)
@settings(max_examples=15, deadline=None)
@given(data=st.data())
def test_zeros_refuse_nothing_that_fits(policy: str, data: st.DataObject) -> None:
    nodes, tasks = data.draw(with_zeros(gpus=(0.0, 1.0, 2.0)))
    on = pl.arrive(pl.make_instance(nodes, tasks), np.arange(len(tasks)), policy)
    left = nodes.to_numpy(dtype=float, copy=True)
    for task, node in zip(tasks[list(nodes)].to_numpy(), on, strict=True):
        room = np.all(task <= left, axis=1)
        assert room[node] if node >= 0 else not room.any()
        if node >= 0:
            left[node] -= task


def test_unknown_policies_items_and_labels_are_refused() -> None:
    instance = pl.make_instance(NODES, _tasks(0))
    with pytest.raises(wl.InputError, match="there is no policy 'best'"):
        pl.arrive(instance, [0], "best")
    with pytest.raises(wl.InputError, match="names an item"):
        pl.arrive(instance, [99])
    apart = pl.make_instance(NODES, _tasks(0).assign(anti_affinity="x"))
    with pytest.raises(wl.InputError, match="together or apart"):
        pl.arrive(apart, [0])
