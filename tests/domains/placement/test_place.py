"""Placements against an assignment program, and what every placement keeps."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.domains.placement.instances import best_value, drawn, most_value, with_zeros

import walras as wl
from walras import Status
from walras.domains import placement as pl
from walras.progress import Progress


@pytest.mark.parametrize("seed", range(12))
def test_value_is_the_optimum_of_an_assignment_program(seed: int) -> None:
    nodes, tasks = drawn(seed)
    p = pl.place(nodes, tasks, tolerance=0.0)
    best = best_value(nodes, tasks)
    assert p.value == pytest.approx(best, abs=1e-9)
    assert p.bound >= best - 1e-9
    if p.status is Status.OPTIMAL:
        assert p.bound == pytest.approx(best, abs=1e-6)


def test_a_node_without_a_resource_holds_tasks_that_need_none() -> None:
    nodes = pd.DataFrame({"cpu": [8, 8], "fpga": [0, 2]}, index=["a", "b"])
    tasks = pd.DataFrame({"cpu": [4, 4, 4, 4], "fpga": [0, 0, 1, 1]}, index=list("wxyz"))
    p = pl.place(nodes, tasks)
    assert p.node.to_dict() == {"w": "a", "x": "a", "y": "b", "z": "b"}
    assert p.status is Status.OPTIMAL


@settings(max_examples=50, deadline=None)
@given(with_zeros())
def test_zeros_among_capacities_requests_and_values(
    tables: tuple[pd.DataFrame, pd.DataFrame],
) -> None:
    nodes, tasks = tables
    p, best = pl.place(nodes, tasks, tolerance=0.0), most_value(nodes, tasks)
    assert p.value == best <= p.bound + 1e-9
    assert best > 0 or (p.bound, p.gap, p.status) == (0.0, 0.0, Status.OPTIMAL)
    assert p.violation == 0.0
    assert p.fragmentation == pytest.approx(_fragmentation(p, nodes, tasks))
    for task in p.node.index[p.node == ""]:
        assert p.explain(task).fits_now == 0


def _fragmentation(p: pl.Placed, nodes: pd.DataFrame, tasks: pd.DataFrame) -> float:
    """The definition: idle GPUs that a task cannot use, in the mean over tasks."""
    total = 0.0
    for node, there in nodes.iterrows():
        on = tasks[(p.node == str(node)).to_numpy()]
        left = there[["cpu", "memory"]] - on[["cpu", "memory"]].sum()
        gpu = np.ones(int(there["gpus"]))
        for k, asked in on["gpus"].items():
            gpu[list(p.gpus[str(k)])] -= min(asked, 1.0)
        for _, task in tasks.iterrows():
            amount = min(task["gpus"], 1.0)
            usable = amount > 0 and bool((task[["cpu", "memory"]] <= left).all())
            usable = usable and bool((gpu >= amount).sum() >= task["gpus"])
            total += float(gpu[gpu < amount].sum() if usable else gpu.sum())
    return total / len(tasks)


@pytest.mark.parametrize("asked", [{"cpu": 9.0}, {"gpus": 2.0}, {"model": "unknown"}])
def test_where_nothing_fits_nothing_is_optimal(asked: dict[str, float | str]) -> None:
    nodes = pd.DataFrame({"cpu": [8.0], "gpus": [1], "model": ["T4"]})
    tasks = pd.DataFrame({"cpu": [1.0, 1.0], "gpus": [1, 1], "model": ["", ""]}).assign(**asked)
    p = pl.place(nodes, tasks)
    assert (p.value, p.bound, p.gap, p.status) == (0.0, 0.0, 0.0, Status.OPTIMAL)


def test_tasks_that_have_ended_may_be_in_previous() -> None:
    nodes = pd.DataFrame({"cpu": [4.0]}, index=["a"])
    tasks = pd.DataFrame({"cpu": [3.0]}, index=["x"])
    assert pl.place(nodes, tasks, previous={"ended": "a", "x": "a"}).node["x"] == "a"


def _check_kept(p: pl.Placed, nodes: pd.DataFrame, tasks: pd.DataFrame) -> None:
    """Resources, GPUs, models and labels, from the names in the result alone."""
    on = p.node[p.node != ""]
    for r in ("cpu", "memory"):
        used = tasks.loc[on.index, r].groupby(on).sum()
        assert (used <= nodes.loc[used.index, r] + 1e-6).all()
    load: dict[tuple[str, int], float] = {}
    for task, node, gpus, asked in zip(
        on.index,
        on,
        tasks.loc[on.index, "gpus"].astype(float),
        tasks.loc[on.index, "model"],
        strict=True,
    ):
        assert len(p.gpus[task]) == len(set(p.gpus[task])) == int(np.ceil(gpus))
        for gpu in p.gpus[task]:
            assert 0 <= gpu < nodes["gpus"][node]
            load[node, gpu] = load.get((node, gpu), 0.0) + min(gpus, 1.0)
        assert not asked or nodes["model"][node] in str(asked).split("|")
    assert all(total <= 1.0 + 1e-9 for total in load.values())
    apart = tasks.loc[on.index, "anti_affinity"]
    assert not pd.DataFrame({"n": on, "a": apart})[apart != ""].duplicated().any()
    for label in set(tasks["affinity"]) - {""}:
        assert p.node[tasks["affinity"] == label].nunique() == 1
    assert p.value <= p.bound + 1e-9
    assert p.violation == 0.0


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 6), st.integers(1, 25))
def test_every_placement_keeps_its_limits(seed: int, count: int, asked: int) -> None:
    nodes, tasks = drawn(seed, count, asked)
    p = pl.place(nodes, tasks, attempts=1)
    _check_kept(p, nodes, tasks)
    placed = p.node != ""
    assert p.value == pytest.approx(tasks.loc[placed, "value"].sum())
    for task in p.node.index[~placed]:
        assert p.explain(task).fits_now == 0  # nothing that fits is left out


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from([0.0, 0.5, 10.0]))
def test_moves_cost_their_price(seed: int, price: float) -> None:
    nodes, tasks = drawn(seed, 4, 12, labels=False)
    tasks["anti_affinity"] = tasks["affinity"] = ""
    before = pl.place(nodes, tasks.iloc[:7], attempts=0)
    p = pl.place(nodes, tasks, previous=before.node, move_price=price, tolerance=0.0)
    _check_kept(p, nodes, tasks)
    placed, was = p.node != "", before.node[before.node != ""]
    moved = int(((p.node[was.index] != was) & placed[was.index]).sum())
    assert p.moves == moved
    assert p.value == pytest.approx(tasks.loc[placed, "value"].sum() - price * moved)
    best = best_value(nodes, tasks, {str(t): n for t, n in was.items()}, price)
    assert p.value <= best + 1e-9 <= p.bound + 1e-6 + 1e-9
    assert p.value >= best - max(2.0, 0.1 * best)


def test_running_tasks_stay_without_a_price() -> None:
    nodes, tasks = drawn(3, 4, 20, labels=False)
    before = pl.place(nodes, tasks.iloc[:10])
    p = pl.place(nodes, tasks, previous=before.node)
    stay = before.node[before.node != ""]
    assert (p.node[stay.index] == stay).all()
    assert p.moves == 0
    assert p.bound >= p.value >= before.value


def test_running_tasks_that_do_not_fit_are_refused_or_moved() -> None:
    nodes = pd.DataFrame({"cpu": [4.0, 8.0]}, index=["a", "b"])
    tasks = pd.DataFrame({"cpu": [3.0, 3.0]}, index=["x", "y"])
    both = {"x": "a", "y": "a"}
    with pytest.raises(wl.InputError, match="task 'y' does not fit node 'a'"):
        pl.place(nodes, tasks, previous=both)
    p = pl.place(nodes, tasks, previous=both, move_price=0.25)
    assert p.moves == 1
    assert p.value == pytest.approx(1.75)


def test_the_hook_stops_and_options_are_checked() -> None:
    nodes, tasks = drawn(8, 4, 30)
    seen: list[Progress] = []

    def stop(step: Progress) -> bool:
        seen.append(step)
        return True

    p = pl.place(nodes, tasks, tolerance=0.0, on_progress=stop)
    assert len(seen) == 1
    assert p.status in (Status.INTERRUPTED, Status.OPTIMAL)
    with pytest.raises(wl.InputError, match="setting tolerance"):
        pl.Options(tolerance=2.0)
    assert pl.place(nodes, tasks, tolerance=0.0, time_limit=0.0).value > 0
