"""Traces: defaults, speeds on a cluster, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.simulate.small import on_one

from walras import InputError
from walras.simulate import Cluster, Trace, check_load


def test_seconds_are_of_the_fastest_type_or_of_one_named() -> None:
    trace = Trace.of(["a", "b"], steps=[100, 50], types=("x", "y"), speed=[[1, 2], [5, 0]])
    assert trace.seconds().tolist() == [50.0, 10.0]
    assert trace.seconds("y").tolist() == [50.0, np.inf]
    with pytest.raises(InputError, match="no type 'z'"):
        trace.seconds("z")


def test_the_frame_has_a_row_a_job() -> None:
    frame = on_one([60, 120]).frame()
    assert frame.index.tolist() == ["j0", "j1"]
    assert frame["speed gpu"].tolist() == [1.0, 1.0]


def test_the_span_is_from_the_first_arrival_to_the_last_wherever_it_is_said() -> None:
    trace = Trace.of(["a", "b"], steps=[10, 10], arrival=[36000, 36360])
    assert trace.span == 360.0
    assert repr(trace) == "Trace(2 jobs over 6 min, given)"
    load = check_load(trace, Cluster({"type 0": 1}))
    assert (load.span, str(load)) == (trace.span, "offered load 5.556 % over 6 min")
    assert repr(Trace.of(["a"], arrival=[7200])) == "Trace(1 job over 0 s, given)"


def test_deadlines_stay_with_their_jobs() -> None:
    assert "deadline" not in on_one([60, 120]).frame()
    trace = Trace.of(["a", "b"], deadline=[np.inf, 90.0])
    assert trace.frame()["deadline"].tolist()[1:] == [90.0]
    assert trace.only(np.array([1])).deadline.tolist() == [90.0]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"arrival": [5.0, 1.0]}, r"arrival\[1\]: is 1 after 5"),
        ({"arrival": [-1.0, 1.0]}, r"arrival\[0\]: is -1"),
        ({"arrival": [1.0, 1e13]}, r"arrival\[1\]: is 10000000000000"),
        ({"arrival": [np.nan, 1.0]}, r"arrival\[0\]: is nan"),
        ({"steps": [0, 1]}, r"steps\[0\]: is 0"),
        ({"size": [1, 0]}, r"size\[1\]: is 0"),
        ({"speed": [1.0, 1.0]}, "1 dimensions"),
        ({"speed": [[1.0], [-1.0]]}, r"speed\[1\]: is -1"),
        ({"deadline": [-1, 1]}, r"deadline\[0\]: is -1"),
        ({"weights": [1, 1]}, "no field 'weights'"),
        ({"group": [0, 0]}, r"group\[0\]: is 0"),
        ({"group": [0, 0], "paired": [[[1.0, 2.0]]]}, "paired: has shape"),
    ],
)
def test_bad_numbers_are_named(given: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        Trace.of(["a", "b"], **given)


def test_names_are_distinct() -> None:
    with pytest.raises(InputError, match="names one twice"):
        Trace.of(["a", "a"])


def test_speeds_follow_the_types_of_the_cluster() -> None:
    trace = Trace.of(["a", "b"], size=[1, 2], types=("x", "y"), speed=[[1, 2], [3, 4]])
    assert trace.on(Cluster({"y": 2, "x": 1})).tolist() == [[2.0, 1.0], [4.0, 0.0]]


def test_a_job_larger_than_its_cluster_is_named() -> None:
    trace = Trace.of(["a", "b", "c"], size=[1, 2, 4], types=("x",), speed=np.ones((3, 1)))
    with pytest.raises(InputError, match="job 'b' of 2 workers and 1 more jobs can run on no type"):
        trace.on(Cluster({"x": 1}))


def test_a_type_without_speeds_is_named() -> None:
    with pytest.raises(InputError, match="type 'z', on which the trace knows no speeds"):
        on_one([1.0]).on(Cluster({"z": 1}))
