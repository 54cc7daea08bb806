"""Slips that a caller makes are named with what to do, before anything runs."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import pytest

from walras import policies
from walras.errors import InputError
from walras.simulate import Cluster, Slots, TaskTrace, Trace, check_load, compare, run
from walras.simulate.given import check_compared, check_policy

TRACE = Trace.of(["a", "b"], steps=[10, 10])
ONE = Cluster({"type 0": 1})


@pytest.mark.parametrize("cluster", [{"type 0": 1}, None, 3, Cluster])
def test_what_is_no_cluster_is_refused(cluster: Any) -> None:
    with pytest.raises(InputError, match=r"cluster: is .*; allowed: a Cluster, or Slots"):
        run(TRACE, cluster, policies.fifo())
    with pytest.raises(InputError, match=r"cluster: is .*; allowed: a Cluster, or Slots"):
        compare(TRACE, cluster, {"fifo": policies.fifo}, processes=1)


@pytest.mark.parametrize(
    ("trace", "remedy"),
    [
        ("jobs.csv", r"read the file: wl\.simulate\.load_trace\(path\)"),
        (Path("jobs.csv"), r"read the file: wl\.simulate\.load_trace\(path\)"),
        (None, "give one, such as"),
        (ONE, "give one, such as"),
    ],
)
@pytest.mark.parametrize("cluster", [ONE, Slots({"type 0": 1})])
def test_what_is_no_trace_is_refused(trace: Any, cluster: Any, remedy: str) -> None:
    with pytest.raises(InputError, match=rf"trace: is .*; allowed: a Trace.*{remedy}"):
        run(trace, cluster, policies.fifo())


def test_tasks_are_run_on_slots() -> None:
    tasks: Any = TaskTrace.of(["a"])
    with pytest.raises(InputError, match="run tasks on Slots"):
        run(tasks, ONE, policies.fifo())


@pytest.mark.parametrize("ask", [check_load, policies.savings_bound, Trace.on, Trace.fits])
def test_a_table_is_no_cluster_wherever_one_is_asked_for(ask: Any) -> None:
    with pytest.raises(InputError, match="cluster: is a dict; allowed: an object of Cluster"):
        ask(TRACE, {"type 0": 1})


@pytest.mark.parametrize("name", policies.NAMED)
def test_a_function_that_makes_a_policy_is_no_policy(name: str) -> None:
    make: Any = policies.NAMED[name]
    with pytest.raises(InputError, match="makes a policy, and is none itself") as refused:
        run(TRACE, ONE, make)
    assert f"call it: {make.__name__}()" in str(refused.value)


@pytest.mark.parametrize("name", policies.PLACEMENTS)
def test_neither_is_one_that_makes_a_policy_of_placements(name: str) -> None:
    with pytest.raises(InputError, match=rf"call it: {name}\(\)"):
        check_policy(policies.PLACEMENTS[name], Slots({"gpu": 1}))


def test_a_partial_that_makes_a_policy_is_none() -> None:
    make: Any = partial(policies.las, by_speed=True)
    with pytest.raises(InputError, match="las makes a policy"):
        run(TRACE, ONE, make)


@pytest.mark.parametrize("made", [policies.fifo(), policies.las(by_speed=True), "fifo"])
def test_a_comparison_refuses_what_makes_no_policy(made: Any) -> None:
    with pytest.raises(InputError, match=r"policies\['mine'\]: ") as refused:
        compare(TRACE, ONE, {"mine": made})
    assert "leave out the brackets, as wl.policies." in str(refused.value)
    assert "partial(wl.policies.las, by_speed=True)" in str(refused.value)


def test_a_comparison_takes_what_can_be_called_without_arguments() -> None:
    made = {"a": policies.fifo, "b": partial(policies.las, by_speed=True), "c": policies.fifo}
    check_compared(made, ONE)
    check_compared({"any": lambda *_, **__: policies.fifo()}, ONE)
