"""Comparisons of runs that are there already, and what a run remembers of its trace."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.simulate.small import random_trace

from walras import InputError
from walras.policies import fifo, las, savings_bound
from walras.simulate import NO_POLICY, Cluster, Comparison, run

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


def test_no_runs_are_an_empty_table() -> None:
    assert len(Comparison.of_runs({}).table) == 0
