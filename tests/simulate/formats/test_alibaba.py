"""Alibaba's GPU cluster of 2020: tables by hand after its README; the real ones have no header."""

from __future__ import annotations

from pathlib import Path

import pytest

from walras import DataError
from walras.simulate import import_trace

TASKS = (
    "j1,tensorflow,1.0,Terminated,1739162.0,1739200.0,600.0,29.296875,50.0,MISC",
    "j2,ps,1.0,Terminated,100.0,200.0,600.0,30,0.0,",
    "j2,worker,2.0,Terminated,110.0,200.0,400.0,30,50.0,T4",
    "j3,worker,4.0,Failed,300.0,,400.0,30,100.0,V100",
    "j4,worker,1.0,Running,300.0,,400.0,30,100.0,V100",
    "j5,worker,1.0,Terminated,310.0,410.0,400.0,30,12.5,",
)
JOBS = ("j1,i1,u,Terminated,1739100.0,1739200.0", "j2,i2,u,Terminated,90.0,200.0")
INSTANCES = (
    "j3,worker,n1,w1,i3,Failed,300.0,350.0,m",
    "j3,worker,n2,w2,i3,Failed,301.0,360.0,m",
    "j2,worker,n3,w3,i2,Terminated,110.0,999.0,m",
)


def _write(folder: Path, **tables: tuple[str, ...]) -> Path:
    for name, rows in tables.items():
        (folder / f"pai_{name}_table.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    return folder


def test_tasks_with_gpus_are_jobs(tmp_path: Path) -> None:
    folder = _write(tmp_path, task=TASKS, job=JOBS, instance=INSTANCES)
    found = import_trace(folder, "alibaba")
    trace = found.trace
    assert trace.name == ("j2/worker", "j3/worker", "j5/worker", "j1/tensorflow")
    assert trace.arrival.tolist() == [90.0, 300.0, 310.0, 1739100.0]
    assert trace.seconds().tolist() == [90.0, 60.0, 100.0, 38.0]
    assert trace.size.tolist() == [1000, 4000, 125, 500]  # thousandths of a GPU
    assert trace.types == ("MISC", "T4", "V100")
    assert trace.speed.tolist() == [[0, 1, 0], [0, 0, 1], [1, 1, 1], [1, 0, 0]]
    assert dict(found.left_out) == {"takes no GPU": 1, "has not ended": 1}


def test_without_the_other_tables_tasks_arrive_when_they_start(tmp_path: Path) -> None:
    header = "job_name,task_name,inst_num,status,start_time,end_time,plan_cpu,plan_mem,plan_gpu,"
    _write(tmp_path, task=(f"{header}gpu_type", *TASKS))
    found = import_trace(tmp_path / "pai_task_table.csv", "alibaba")
    assert found.trace.arrival.tolist() == [110.0, 310.0, 1739162.0]
    assert found.left_out["has no end"] == 1


def test_a_folder_without_tables_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"pai_task_table\.csv: cannot be read: No such file"):
        import_trace(tmp_path, "alibaba")


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ({"task": ("j9,w,1,Terminated,1,2,3,4,50,T4,more", *TASKS)}, "line 1 has 11 cells, not 10"),
        ({"task": (*TASKS, "j9,w,1,Terminated,1,2,3,4,50,T4,more")}, "in line 7, saw 11"),
        ({"task": TASKS, "instance": (*INSTANCES, "a,b,c,d,e,f,g,h,i,j")}, "in line 4, saw 10"),
        ({"task": TASKS, "job": ("x",)}, "line 1 has 1 cells, not 6"),
    ],
)
def test_lines_of_too_many_cells_are_named(
    tmp_path: Path, table: dict[str, tuple[str, ...]], said: str
) -> None:
    with pytest.raises(DataError, match=said):
        import_trace(_write(tmp_path, **table), "alibaba")


def test_tasks_of_no_number_of_instances_are_refused(tmp_path: Path) -> None:
    more = ("k1,w,x,Terminated,1,2,3,4,50,T4", "k2,w,,Terminated,1,2,3,4,50,T4")
    found = import_trace(_write(tmp_path, task=(*TASKS, *more)), "alibaba")
    assert [str(refusal) for refusal in found.refused] == [
        "line 7: size is 'x', not a whole number above 0",
        "line 8: size is 'unknown', not a whole number above 0",
    ]
