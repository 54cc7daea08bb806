"""Clusters from lists of machines."""

from __future__ import annotations

from pathlib import Path

import pytest

from walras import DataError, InputError, data
from walras.simulate import load_cluster


def _write(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "nodes.csv"
    path.write_text(text, encoding="utf-8")
    return path


def test_gpus_count_in_thousandths_where_they_are_shared(tmp_path: Path) -> None:
    openb = "sn,cpu_milli,memory_mib,gpu,model\na,1,1,2,P100\nb,1,1,0,\nc,1,1,8,T4\nd,1,1,1,P100\n"
    assert dict(load_cluster(_write(tmp_path, openb), "openb").counts) == {"P100": 3000, "T4": 8000}
    pai = "m1,T4,96,512,2\nm2,CPU,64,512,0\nm3,V100,96,512,8\n"
    assert dict(load_cluster(_write(tmp_path, pai), "alibaba").counts) == {"T4": 2000, "V100": 8000}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("type,workers\na,1\nb,x\n", "line 3: workers is 'x'"),
        ("type,workers\na,1.5\n", "line 2: workers is '1.5'"),
        ("type,workers\na,0\n", "no machine with workers"),
        ("type,count\na,0\n", "no column 'workers'"),
        ("type,workers\na,1,2\n", "line 2: does not have the 2 cells"),
    ],
)
def test_lists_that_cannot_be_used(text: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=said):
        load_cluster(_write(tmp_path, text))


def test_an_unknown_format_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="format of machines"):
        load_cluster(_write(tmp_path, ""), "swf")


@pytest.mark.real_data("openb")
def test_the_published_list_has_6212_gpus() -> None:
    folder = next(folder for folder in data.search_path() if (folder / "openb").is_dir())
    cluster = load_cluster(folder / "openb" / "openb_node_list_gpu_node.csv.gz", "openb")
    assert cluster.workers.sum() == 6_212_000
