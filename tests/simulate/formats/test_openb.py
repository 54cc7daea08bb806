"""Alibaba's GPU cluster of 2023: rows by hand as in its README, and the published lists."""

from __future__ import annotations

from pathlib import Path

import pytest

from walras import DataError, data
from walras.simulate import import_trace

HEADER = (
    "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,"
    "deletion_time,scheduled_time"
)


def test_shares_count_in_thousandths_and_models_bind(tmp_path: Path) -> None:
    path = tmp_path / "pods.csv"
    rows = (
        "a,6000,12288,1,460,,LS,Running,100,400,150",
        "b,6000,12288,2,1000,V100M16|V100M32,BE,Succeeded,50,80,50",
        "c,6000,12288,0,0,,BE,Running,60,90,70",
        "d,6000,12288,1,1000,,LS,Pending,60,90,",
    )
    path.write_text("\n".join((HEADER, *rows)), encoding="utf-8")
    found = import_trace(path, "openb", types=["T4", "V100M16", "V100M32"])
    trace = found.trace
    assert (trace.name, trace.kind, trace.size.tolist()) == (("b", "a"), ("BE", "LS"), [2000, 460])
    assert (trace.arrival.tolist(), trace.seconds().tolist()) == ([50.0, 100.0], [30.0, 250.0])
    assert trace.speed.tolist() == [[0.0, 1.0, 1.0], [1.0, 1.0, 1.0]]
    assert dict(found.left_out) == {"takes no GPU": 1, "never scheduled": 1}


def test_a_list_without_times_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "pods.csv"
    path.write_text("name,num_gpu,gpu_milli\na,1,1000\n", encoding="utf-8")
    with pytest.raises(DataError, match="no column 'gpu_spec'"):
        import_trace(path, "openb")


@pytest.mark.real_data("openb")
def test_the_published_list() -> None:
    """8,152 pods, of which 7,064 take GPUs; counted in the file by another program."""
    folder = next(folder for folder in data.search_path() if (folder / "openb").is_dir())
    found = import_trace(folder / "openb" / "openb_pod_list_default.csv.gz", "openb")
    assert len(found.trace) + sum(found.left_out.values()) + len(found.refused) == 8152
    assert found.left_out["takes no GPU"] == 8152 - 7064
    assert (found.trace.size.max(), len(found.refused)) == (8000, 0)
