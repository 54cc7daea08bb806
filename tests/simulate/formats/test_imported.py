"""What is said of a trace that was read."""

from __future__ import annotations

from pathlib import Path

import pytest

from walras import DataError, InputError
from walras.simulate import Cluster, Imported, import_trace


def _imported(tmp_path: Path) -> Imported:
    path = tmp_path / "jobs.csv"
    path.write_text(
        "name,arrival,seconds,size,type\na,0,5,1,\nb,1,5,8,v100\nc,2,5,2,k80\nd,x,5,2,k80\n",
        encoding="utf-8",
    )
    return import_trace(path)


def test_jobs_larger_than_their_cluster_are_refused_with_their_line(tmp_path: Path) -> None:
    found = _imported(tmp_path).fitting(Cluster({"k80": 1, "v100": 4}))
    assert (found.trace.name, found.row.tolist()) == (("a",), [2])
    assert [str(bad) for bad in found.refused] == [
        "line 3: size is 8, more than the 4 workers of v100",
        "line 4: size is 2, more than the 1 workers of k80",
        "line 5: arrival is 'x', not a number 0 or more",
    ]
    assert found.frame().to_dict("list")["row"] == [3, 4, 5]


def test_types_that_a_cluster_lacks_are_named(tmp_path: Path) -> None:
    found = _imported(tmp_path).fitting(Cluster({"v100": 9}))
    assert str(found.refused[0]) == "line 4: type of job 'c' has none of v100"


def test_a_cluster_that_fits_all_changes_nothing(tmp_path: Path) -> None:
    found = _imported(tmp_path)
    assert found.fitting(Cluster({"k80": 9, "v100": 9})) is found
    assert repr(found).endswith("rows refused: 1); 1 row refused, 0 left out)")


def test_a_cluster_for_no_job_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "jobs.csv"
    path.write_text("arrival,seconds,size\n0,5,4\n", encoding="utf-8")
    with pytest.raises(DataError, match="no job fits"):
        import_trace(path).fitting(Cluster({"worker": 2}))
    with pytest.raises(InputError, match="'gpu'"):
        import_trace(path).fitting(Cluster({"gpu": 2}))
