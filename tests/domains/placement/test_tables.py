"""Nodes and tasks from CSV files."""

from __future__ import annotations

from pathlib import Path

import pytest

import walras as wl
from walras.domains import placement as pl


def _written(tmp_path: Path, nodes: str, tasks: str) -> tuple[Path, Path]:
    for name, text in (("n", nodes), ("t", tasks)):
        (tmp_path / f"{name}.csv").write_text(text, encoding="utf-8")
    return tmp_path / "n.csv", tmp_path / "t.csv"


def test_tables_with_all_columns(tmp_path: Path) -> None:
    files = _written(
        tmp_path,
        "node,cpu,gpus,model\na,8,2,T4\nb,8,,\n",
        "task,cpu,gpus,model,affinity,anti_affinity,value,node\n"
        "x,2,1,T4,p,,3,a\ny,2,0.5,,p,,2,a\nz,4,,,,q,1,\n",
    )
    instance = pl.read_instance(*files, 0.5)
    assert (instance.gpus.tolist(), instance.models, instance.move_price) == (
        [2, 0],
        ("", "T4"),
        0.5,
    )
    assert instance.was.tolist() == [0, -1]
    assert pl.solve_instance(instance).value == pytest.approx(6.0)


def test_a_missing_resource_and_a_bad_cell_are_named(tmp_path: Path) -> None:
    files = _written(tmp_path, "node,cpu,disk\na,8,1\n", "task,cpu\nx,1\n")
    with pytest.raises(wl.InputError, match="disk"):
        pl.read_instance(*files)
    files = _written(tmp_path, "node,cpu\na,8\n", "task,cpu\nx,many\n")
    with pytest.raises(wl.InputError, match="'many' is not a number"):
        pl.read_instance(*files)
