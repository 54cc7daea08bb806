"""Comparisons of runs that are there already, and what a run remembers of its trace."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from tests.simulate.small import random_trace

from walras import InputError
from walras.policies import fifo, las, savings_bound
from walras.simulate import NO_POLICY, Cluster, Comparison, run
from walras.simulate.compare.comparison import refused_label
from walras.status import Status

CLUSTER = Cluster({"a": 4, "b": 5, "c": 4})


def test_a_run_gives_its_trace_back() -> None:
    trace = random_trace(1, 12)
    done = run(trace, CLUSTER, fifo())
    again = done.trace()
    assert again.seconds() == pytest.approx(trace.steps / trace.on(CLUSTER).max(axis=1))
    assert done.cluster().counts == CLUSTER.counts
    same = run(again, done.cluster(), fifo(), whole_steps=False)
    assert same.completion.tolist() == pytest.approx(
        run(trace, CLUSTER, fifo(), whole_steps=False).completion.tolist()
    )
    assert done.trace_hash == run(trace, CLUSTER, las()).trace_hash
    assert done.trace_hash != run(random_trace(2, 12), CLUSTER, fifo()).trace_hash
    assert done.trace_hash != run(trace, CLUSTER, fifo(), measured=slice(5)).trace_hash


def test_runs_stand_side_by_side() -> None:
    trace = random_trace(1, 12)
    runs = {"one": run(trace, CLUSTER, fifo()), "two": run(trace, CLUSTER, las())}
    found = Comparison.of_runs(runs, savings_bound(trace, CLUSTER))
    frame = found.frame(["mean completion", "99 % completion"]).droplevel("trace")
    assert frame.index.tolist() == ["one", "two", NO_POLICY]
    hours = runs["one"].completion.mean() / 3600
    assert frame.loc["one", "mean completion"] == pytest.approx(hours)
    assert frame["99 % completion"].isna().tolist() == [False, False, True]


def test_means_by_class_stand_side_by_side() -> None:
    trace = replace(random_trace(1, 12), kind=("x", "y", "y") * 4)
    runs = {name: run(trace, CLUSTER, make()) for name, make in (("one", fifo), ("two", las))}
    found = Comparison.of_runs(runs).by_class()
    assert found.columns.tolist() == ["one", "two"]
    for name, done in runs.items():
        hours = (
            done.completion.groupby(dict(zip(trace.name, trace.kind, strict=True))).mean() / 3600
        )
        assert found[name].droplevel("trace").to_dict() == pytest.approx(hours.to_dict())


@pytest.mark.parametrize("classes", [1, 201])
def test_one_class_or_too_many_have_no_means(classes: int) -> None:
    trace = random_trace(1, 201)
    trace = replace(trace, kind=tuple(f"k{j % classes}" for j in range(201)))
    found = Comparison.of_runs({"one": run(trace, CLUSTER, fifo())})
    assert not any(name.startswith("mean completion of") for name in found.measure)
    with pytest.raises(InputError, match="2 to 200 classes"):
        found.by_class()


def _rows(values: dict[str, list[float]], measure: str = "makespan") -> Comparison:
    """A comparison of a measure by policy, one value a seed."""
    rows = [
        {"trace": "t", "policy": name, "seed": k, "measure": measure, "value": value, "unit": "h"}
        for name, given in values.items()
        for k, value in enumerate(given)
    ]
    return Comparison.of_rows([pd.DataFrame(rows)], Status.FEASIBLE)


def test_means_are_over_the_seeds_that_all_rows_have() -> None:
    """A policy without a value at all leaves the others their seeds."""
    nan = np.nan
    found = _rows({"a": [1.0, nan, 3.0], "b": [2.0, 9.0, 4.0], "c": [nan] * 3})
    assert found.frame(["makespan"])["makespan"].to_list() == pytest.approx(
        [2, 3, nan], nan_ok=True
    )
    assert found.notes(["makespan"]) == {"makespan": "2 of 3 seeds"}
    assert _rows({"a": [1.0, 2.0], "b": [2.0, 9.0]}).notes(["makespan"]) == {}
    apart = _rows({"a": [1.0, nan], "b": [nan, 5.0]})  # of no seed in common: each of its own
    assert apart.frame(["makespan"])["makespan"].to_list() == [1.0, 5.0]
    assert apart.notes(["makespan"]) == {"makespan": "1 of 2 seeds"}
    classes = _rows({"a": [1.0, nan], "b": [2.0, 9.0]}, "mean completion of x").by_class()
    assert classes.to_dict("records") == [{"a": 1.0, "b": 2.0}]


def test_runs_of_several_seeds_have_the_bound_of_each() -> None:
    trace = random_trace(1, 12)
    runs = {name: run(trace, CLUSTER, las(), seed=k) for k, name in enumerate(("one", "two"))}
    frame = Comparison.of_runs(runs, savings_bound(trace, CLUSTER)).frame(["makespan"])
    assert frame["makespan"].notna().all()


def test_refused_decisions_are_counted_by_policy() -> None:
    good, bad, some = (
        [_rows({name: [value]}, measure).table for measure, value in counts.items()]
        for name, counts in {
            "good": {"decisions": 4.0, "refused decisions": 0.0},
            "bad": {"decisions": 4.0, "refused decisions": 4.0},
            "some": {"decisions": 1e6, "refused decisions": 1.0},
        }.items()
    )
    found = Comparison.of_rows([*good, *bad, *some], Status.FEASIBLE)
    assert found.refused().to_dict() == {"bad": 1.0, "some": 1e-6}
    assert found.labels == {"bad": "100 % refused", "some": "0.1 % refused"}
    assert refused_label(1 - 1e-9) == "99.9 % refused"


def test_no_runs_are_an_empty_table() -> None:
    assert len(Comparison.of_runs({}).table) == 0
