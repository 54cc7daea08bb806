"""Helios: the three jobs that the authors' README shows, and one without GPU."""

from __future__ import annotations

from pathlib import Path

import pytest

from walras import DataError
from walras.simulate import import_trace

HEADER = (
    "job_id,user,vc,gpu_num,cpu_num,node_num,state,submit_time,start_time,end_time,duration,queue"
)
ROWS = (
    "1425511,uXBbc,vcJkd,1,1,1,COMPLETED,2020-06-09 18:41:01,2020-06-09 18:41:01,"
    "2020-06-10 04:55:09,36848,0",
    "1425512,uVMrF,vchbv,4,16,1,FAILED,2020-06-09 18:41:27,2020-06-09 18:41:27,"
    "2020-06-09 18:45:36,249,0",
    "1425513,uzqls,vcpDC,1,1,1,CANCELLED,2020-06-09 18:41:28,2020-06-09 18:41:28,"
    "2020-06-17 14:15:21,675233,0",
    "1425514,uzqls,vcpDC,0,1,1,COMPLETED,2020-06-09 18:41:29,2020-06-09 18:41:29,"
    "2020-06-09 18:41:39,10,0",
)


def test_the_jobs_of_the_readme(tmp_path: Path) -> None:
    path = tmp_path / "cluster_log.csv"
    path.write_text("\n".join((HEADER, *ROWS)), encoding="utf-8")
    found = import_trace(path, "helios")
    trace = found.trace
    assert (trace.name, trace.kind) == (
        ("1425511", "1425512", "1425513"),
        ("vcJkd", "vchbv", "vcpDC"),
    )
    assert (trace.size.tolist(), trace.types) == ([1, 4, 1], ("gpu",))
    assert trace.arrival.tolist() == [0.0, 26.0, 27.0]
    assert trace.seconds().tolist() == [36848.0, 249.0, 675233.0]
    assert dict(found.left_out) == {"takes no GPU": 1}


def test_another_table_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "cluster_log.csv"
    path.write_text("a,b\n1,2\n", encoding="utf-8")
    with pytest.raises(DataError, match="it has no column 'job_id'"):
        import_trace(path, "helios")
