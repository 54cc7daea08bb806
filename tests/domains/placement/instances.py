"""Random nodes and tasks, and their best placement by a program of its own."""

from __future__ import annotations

import itertools
from typing import Any

import highspy
import numpy as np
import pandas as pd
from hypothesis import strategies as st


def drawn(
    seed: int, nodes: int = 3, tasks: int = 8, *, labels: bool = True
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Nodes with CPU, memory and GPUs, and tasks that ask for more than there is."""
    rng = np.random.default_rng(seed)
    kinds = rng.integers(0, 2, nodes)
    given = pd.DataFrame(
        {
            "cpu": np.array([8.0, 16.0])[kinds],
            "memory": np.array([64.0, 32.0])[kinds],
            "gpus": np.array([1, 2])[kinds],
            "model": np.array(["T4", "A10"])[kinds],
        },
        index=[f"n{k}" for k in range(nodes)],
    )
    asked = pd.DataFrame(
        {
            "cpu": rng.choice([1.0, 3.0, 5.0], tasks),
            "memory": rng.choice([4.0, 12.0, 20.0], tasks),
            "gpus": rng.choice([0.0, 0.3, 0.4, 0.7, 1.0, 2.0], tasks),
            "model": rng.choice(["", "", "T4", "A10|T4"], tasks),
            "value": rng.integers(1, 6, tasks).astype(float),
        },
        index=[f"t{k}" for k in range(tasks)],
    )
    if labels:
        asked["anti_affinity"] = rng.choice(["", "", "", "x", "y"], tasks)
        asked["affinity"] = rng.choice(["", "", "", "", "p", "q"], tasks)
        both = (asked["affinity"] != "") & (asked["anti_affinity"] != "")
        asked.loc[both, "anti_affinity"] = ""
    return given, asked


@st.composite
def with_zeros(
    draw: st.DrawFn, gpus: tuple[float, ...] = (0.0, 0.5, 1.0, 2.0)
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Few nodes and tasks, with zeros among capacities, requests and values."""

    def table(rows: int, **entries: tuple[float, ...]) -> pd.DataFrame:
        each = {
            name: st.lists(st.sampled_from(among), min_size=rows, max_size=rows)
            for name, among in entries.items()
        }
        return pd.DataFrame(draw(st.fixed_dictionaries(each)))

    some = (0.0, 0.0, 1.0, 2.0)
    nodes = table(draw(st.integers(1, 3)), cpu=some, memory=some, gpus=(0.0, 0.0, 1.0, 2.0))
    tasks = table(draw(st.integers(1, 4)), cpu=some, memory=some, gpus=gpus, value=(0.0, 1.0, 3.0))
    return nodes, tasks


def most_value(nodes: pd.DataFrame, tasks: pd.DataFrame) -> float:
    """The greatest value, by trying each way to place tasks whose shares are halves."""
    capacity, need = nodes.to_numpy(), tasks[list(nodes)].to_numpy()
    whole, half = need[:, -1] >= 1, need[:, -1] == 0.5
    best = 0.0
    for homes in itertools.product(range(-1, len(nodes)), repeat=len(tasks)):
        home = np.array(homes)
        for k, held in enumerate(capacity):
            on = home == k
            gpus = need[on & whole, -1].sum() + np.ceil(half[on].sum() / 2)
            if np.any(need[on, :-1].sum(axis=0) > held[:-1]) or gpus > held[-1]:
                break
        else:
            best = max(best, float(tasks["value"][home >= 0].sum()))
    return best


def best_value(
    nodes: pd.DataFrame,
    tasks: pd.DataFrame,
    was: dict[str, str] | None = None,
    move_price: float = 0.0,
) -> float:
    """The greatest value by an assignment program: tasks to nodes, requests to single GPUs."""
    solver = highspy.Highs()
    solver.silent()
    inf = highspy.kHighsInf
    x: dict[tuple[str, str], Any] = {}
    for t in tasks.index:
        models = [m for m in tasks.loc[t, "model"].split("|") if m]
        for n in nodes.index:
            right = not models or nodes.loc[n, "model"] in models
            moved = was is not None and t in was and was[t] != n
            worth = tasks.loc[t, "value"] - move_price * moved
            x[t, n] = solver.addVariable(0, 1.0 * right, worth, highspy.HighsVarType.kInteger)
        solver.addConstr(sum(x[t, n] for n in nodes.index) <= 1)
    for n in nodes.index:
        for r in ("cpu", "memory"):
            needs = sum(tasks.loc[t, r] * x[t, n] for t in tasks.index)
            solver.addConstr(needs <= nodes.loc[n, r] * (1 + 1e-9))
        load: list[list[Any]] = [[] for _ in range(int(nodes.loc[n, "gpus"]))]
        for t in tasks.index:
            gpus = tasks.loc[t, "gpus"]
            if gpus == 0:
                continue
            on = [solver.addVariable(0, 1, 0, highspy.HighsVarType.kInteger) for _ in load]
            for mine, y in zip(load, on, strict=True):
                mine.append(min(gpus, 1.0) * y)
            solver.addConstr(sum(on) == max(1, round(gpus)) * x[t, n])
        for mine in load:
            if mine:
                solver.addConstr(sum(mine) <= 1 + 1e-9)
    for column, limit in (("anti_affinity", True), ("affinity", False)):
        if column not in tasks:
            continue
        for label in set(tasks[column]) - {""}:
            members = tasks.index[tasks[column] == label]
            for n in nodes.index:
                if limit:
                    solver.addConstr(sum(x[t, n] for t in members) <= 1)
                else:
                    for t in members[1:]:
                        solver.addConstr(x[t, n] == x[members[0], n])
    solver.setOptionValue("mip_rel_gap", 0.0)
    solver.maximize()
    assert solver.getInfo().primal_solution_status == 2 or inf < 0
    return float(solver.getInfo().objective_function_value)
