"""The tables of a small cluster, and ``walras solve cluster`` on them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
from typer.testing import CliRunner, Result

from walras.cli.main import app

THROUGHPUT = "job,v100,k80\na,4,1\nb,2,\nc,3,2\nd,1,1\n"
JOBS = "job,size,weight,steps,group\na,1,1,100,ann\nb,2,1,200,ann\nc,1,2,300,bob\nd,1,1,50,\n"
RESOURCES = "resource,capacity\nv100,1\nk80,1\n"
T = np.array([[4.0, 2, 3, 1], [1, 0, 2, 1]])
SIZE, WEIGHT, CAPACITY = np.array([1.0, 2, 1, 1]), np.array([1.0, 1, 2, 1]), np.ones(2)
STEPS = np.array([100.0, 200, 300, 50])

Run = Callable[..., Result]


def words(folder: Path, *options: str, **tables: str) -> list[str]:
    """The words of ``walras solve cluster`` on the tables, with some of them replaced."""
    found = ["solve", "cluster", "--no-progress", *options]
    given = {"throughput": THROUGHPUT, "jobs": JOBS, "resources": RESOURCES} | tables
    for name, text in given.items():
        (folder / f"{name}.csv").write_text(text, encoding="utf-8")
        found += [f"--{name}", str(folder / f"{name}.csv")]
    return found


def runner(folder: Path) -> Run:
    """Runs the command with tables of a folder."""

    def run(*options: str, **tables: str) -> Result:
        return CliRunner().invoke(app, words(folder, *options, **tables))

    return run
