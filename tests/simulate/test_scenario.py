"""Runs as TOML files."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

from walras import DataError, InputError
from walras.simulate import Cluster, Failures
from walras.simulate.scenario import EXAMPLE, Scenario, read_scenario, scenario


def test_the_example_is_a_scenario() -> None:
    made = scenario(tomllib.loads(EXAMPLE))
    assert made.settings["measured"] == slice(4000, 5000)
    cluster = made.make_cluster()
    assert isinstance(cluster, Cluster)
    assert cluster.types == ("v100", "p100", "k80")
    assert made.trace["rate"] == 2.0


def test_several_policies_belong_to_a_comparison() -> None:
    with pytest.raises(InputError, match="use walras simulate compare for several policies"):
        scenario({"policy": [{"name": "fifo"}, {"name": "las"}]})
    with pytest.raises(InputError, match=r"write a table \[cluster\]"):
        scenario({"cluster": 3})


def test_a_file_of_jobs_is_found_beside_the_scenario(tmp_path: Path) -> None:
    path = tmp_path / "run.toml"
    path.write_text('[trace]\nfile = "jobs.trace"\n', encoding="utf-8")
    assert read_scenario(path).trace == {"file": str(tmp_path / "jobs.trace")}


def test_entries_are_replaced() -> None:
    made = scenario(tomllib.loads(EXAMPLE))
    drawn = made.with_given(trace={"jobs": 10}, run={"seed": 3}, cluster={"k80": 2})
    assert drawn.trace == {"rate": 2.0, "jobs": 10, "seed": 0, "multiple": False}
    assert drawn.settings["seed"] == 3
    assert drawn.cluster == {"k80": 2}
    assert made.with_given(trace={"file": "x"}).trace == {"file": "x"}
    assert made.with_given(policy={"name": "fifo"}).policy == {"name": "fifo"}
    assert made.with_given(policy={"by_speed": False}).policy == {"name": "las", "by_speed": False}
    assert made.with_given() == made


def test_a_drawn_trace_is_drawn() -> None:
    made = Scenario(trace={"jobs": 5, "synthetic": True})
    assert len(made.load_trace()) == 5


@pytest.mark.parametrize(
    ("tables", "said"),
    [
        ({"traces": {}}, "unknown key 'traces'"),
        ({"trace": {"rates": 2}}, "unknown key 'rates'"),
        ({"trace": {"file": "x", "rate": 2}}, "unknown key 'rate'"),
        ({"run": {"round": 2}}, "unknown key 'round'"),
        ({"run": {"measured": [1]}}, "measured"),
        ({"run": {"measured": [1, "x"]}}, "measured"),
        ({"policy": "las"}, "a table of values"),
    ],
)
def test_what_nobody_reads_is_refused(tables: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        scenario(tables)


def test_bad_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="cannot be read"):
        read_scenario(tmp_path / "missing.toml")
    path = tmp_path / "bad.toml"
    path.write_text("[trace", encoding="utf-8")
    with pytest.raises(DataError, match="cannot be read"):
        read_scenario(path)


def test_a_trace_of_any_format_and_a_list_of_machines_are_found_beside_the_file(
    tmp_path: Path,
) -> None:
    (tmp_path / "jobs.dat").write_text("when;arrival;seconds\nx;3;60\ny;0;90\n", encoding="utf-8")
    (tmp_path / "nodes.csv").write_text("type,workers\ngpu,8\n", encoding="utf-8")
    path = tmp_path / "run.toml"
    path.write_text(
        '[trace]\nfile = "jobs.dat"\nformat = "table"\ncolumns = {when = "kind"}\n'
        '[cluster]\nfile = "nodes.csv"\n',
        encoding="utf-8",
    )
    (tmp_path / "jobs.dat").write_text("when,arrival,seconds\nx,3,60\ny,0,90\n", encoding="utf-8")
    made = read_scenario(path)
    assert dict(made.make_cluster().counts) == {"gpu": 8}
    trace = made.load_trace()
    assert (trace.kind, trace.types) == (("y", "x"), ("gpu",))
    drawn = made.with_given(trace={"jobs": 3, "synthetic": True})
    assert "file" not in drawn.trace


def test_other_formats_need_a_cluster() -> None:
    with pytest.raises(InputError, match="cluster: is not given"):
        scenario({"trace": {"file": "x.swf"}}).make_cluster()
    assert scenario({"trace": {"file": "x.trace"}}).make_cluster().types == ("v100", "p100", "k80")
    with pytest.raises(InputError, match=r"scenario\.cluster"):
        scenario({"cluster": {"file": "x", "kind": "openb"}})


@pytest.mark.parametrize(
    "bad",
    [
        {"trace": {"file": 5}},
        {"trace": {"file": ["a"]}},
        {"trace": {"file": "a.csv", "format": []}},
        {"trace": {"file": "a.csv", "speeds": 3}},
        {"cluster": {"file": 4}},
    ],
)
def test_a_name_of_a_file_is_text(bad: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="allowed: text"):
        scenario(bad)


def test_failures_are_a_table_of_the_run() -> None:
    table = {"between": {"v100": 36_000}, "checkpoint": 1800}
    made = scenario({"run": {"failures": table}})
    assert made.settings["failures"] == Failures({"v100": 36_000}, checkpoint=1800)
    for bad, said in (({"betwen": 1}, "did you mean 'between'"), (5, "a table")):
        with pytest.raises(InputError, match=said):
            scenario({"run": {"failures": bad}})
