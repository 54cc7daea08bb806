"""Generalised assignment on the literature's files: ours, HiGHS and CP-SAT beside the best known.

    python -m benchmarks.gap --seconds 10 d801600 e801600
    python -m benchmarks.gap --seconds 1 10 60 --methods walras highs cp-sat --threads 2 --keep
    python -m benchmarks.gap --page

Files: types C, D and E of Chu and Beasley (1997) and of Yagiura, Ibaraki and Glover (2004), in the
folder ``gap`` of ``$WALRAS_DATA``, with ``best_known.csv``. Without names all files run. A row has
the cost, recomputed from the assignment, its distance from the best known cost in percent, the
method's bound, CPU seconds of all threads, seconds of the clock from the arrays to the answer, and
the most memory that the process held in between.
CP-SAT needs ``ortools``.
``--keep`` keeps each row as soon as it is there, in place of an older one, and writes the page that
the documentation includes; ``--page`` writes it again from the kept rows. The search was tuned on
files of the same recipes that ``benchmarks.assigning`` draws.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import importlib.metadata
import json
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import walras as wl
from benchmarks import memory
from benchmarks.assigning import OBJECTIVE, AssignInstance, judge_assign
from benchmarks.peers import assigning, cp_sat
from benchmarks.problem import Budget, Outcome
from benchmarks.tables import Tables

TABLES = Tables("gap")
_STUDY, _CELL = "files", ("limit", "method", "file")
_WARM_UP = ("c05100", 1.0)  # file and seconds with which the kernels are compiled


def folder() -> Path:
    """The folder of the files."""
    return Path(os.environ.get("WALRAS_DATA", ".")) / "gap"


def read(name: str) -> AssignInstance:
    """Read one of the literature's files: agents, tasks, costs, weights, capacities."""
    values = np.array(gzip.decompress((folder() / f"{name}.gz").read_bytes()).split(), dtype=float)
    m, n = int(values[0]), int(values[1])
    parts = np.split(values[2:], [m * n, 2 * m * n])
    if len(parts[2]) != m:
        message = f"{name}.gz: {m} agents and {n} tasks need {2 * m * n + m} values after the sizes"
        raise wl.DataError(message)
    return AssignInstance(parts[0].reshape(m, n), parts[1].reshape(m, n), parts[2], name)


def best_known() -> dict[str, float]:
    """The least known cost of each file."""
    with (folder() / "best_known.csv").open(encoding="utf-8") as rows:
        return {
            Path(row["Path"]).name: float(row["Best known solution value"])
            for row in csv.DictReader(rows)
        }


METHODS: dict[str, Callable[..., Outcome]] = {
    "walras": assigning.walras,
    "highs": assigning.highs,
    "cp-sat": cp_sat.cp_sat,
}


def version(method: str) -> str:
    """The version of a method's package."""
    package = {"walras": "walras", "highs": "highspy", "cp-sat": "ortools"}[method]
    return importlib.metadata.version(package)


def measured(name: str, method: str, seconds: float, threads: int) -> dict[str, Any]:
    """Run one method on one file."""
    instance, known = read(name), best_known()[name]
    memory.reset_peak()
    cpu = time.process_time()
    found = METHODS[method](instance, OBJECTIVE, Budget(threads), seconds=seconds)
    cpu = time.process_time() - cpu
    value = float("inf")
    if found.x is not None:
        value = judge_assign(instance, found.x).value
    bound = found.numbers.get("bound", float("-inf"))
    return {
        "file": name,
        "method": method,
        "version": version(method),
        "limit": seconds,
        "threads": threads,
        "best_known": known,
        "cost": value if np.isfinite(value) else None,
        "percent_above": round(100.0 * (value / known - 1.0), 4) if np.isfinite(value) else None,
        "bound": bound if np.isfinite(bound) else None,
        "cpu_seconds": round(found.numbers.get("cpu_seconds", cpu), 2),
        "seconds": round(found.build + found.solve, 2),
        "peak_mebibytes": found.numbers.get("peak_mebibytes", memory.peak_mebibytes()),
    }


def means(rows: pd.DataFrame) -> pd.DataFrame:
    """Mean distances from the best known costs, one row a type and limit, one column a method.

    A method without an assignment on one of the files has no mean.
    """
    table = rows.assign(type=rows["file"].str[0].str.upper())
    table["above"] = table["percent_above"].astype(float).fillna(np.inf)
    ours = table[table["method"] == "walras"]
    below = 100.0 * (1.0 - ours["bound"].astype(float) / ours["best_known"])
    by = ["type", "limit"]
    out = table.pivot_table("above", by, "method", "mean").replace(np.inf, np.nan)
    out = out[[name for name in METHODS if name in out]]
    out["our bound"] = -below.groupby([ours[name] for name in by]).mean()
    return out.reset_index()


def costs(rows: pd.DataFrame, limit: float) -> pd.DataFrame:
    """Best known costs, bounds of ours and costs of all methods at a limit, one row a file."""
    table = rows[rows["limit"] == limit]
    out = table.pivot_table("cost", "file", "method", "min", dropna=False)
    ours = table[table["method"] == "walras"].set_index("file")
    out.insert(0, "best known", table.groupby("file")["best_known"].min())
    out.insert(1, "our bound", ours["bound"].reindex(out.index))
    columns = ["best known", "our bound", *(name for name in METHODS if name in out)]
    return out[columns].reset_index()


def page(rows: pd.DataFrame | None) -> str:
    """The kept rows as the documentation shows them."""
    if rows is None:
        return "Not measured yet.\n"
    versions = rows.groupby("method")["version"].max()
    made = ", ".join(f"{name} {versions[name]}" for name in METHODS if name in versions)
    parts = [
        f"{made}; {rows['threads'].max()} threads. `limit` is in seconds. Means over files of a",
        "type, in percent above the best known cost; a bound below it is negative. A dash says",
        "that a method found no assignment on one of the files, or did not run with that limit.\n",
        _markdown(means(rows), "{:.4f}"),
    ]
    for limit in sorted(rows["limit"].unique()):
        parts += [f"\nCosts after {limit:g} s:\n", _markdown(costs(rows, limit), "{:.0f}")]
    return "\n".join([*parts, "", memory_of(rows)]) + "\n"


def memory_of(rows: pd.DataFrame) -> str:
    """The most memory that a process of each method held, in words."""
    if "peak_mebibytes" not in rows:
        return "Memory was not measured."
    most = rows.groupby("method")["peak_mebibytes"].max().dropna()
    found = ", ".join(f"{name} {most[name]:.0f} MiB" for name in METHODS if name in most)
    return f"The most memory that a process held, interpreter and libraries included: {found}."


def _markdown(frame: pd.DataFrame, digits: str) -> str:
    def shown(name: object, value: Any) -> str:
        if isinstance(value, str):
            return value
        if name == "limit":
            return f"{value:g}"
        return digits.format(value) if np.isfinite(value) else "-"

    lines = [list(frame.columns), ["---"] * len(frame.columns)]
    lines += [[shown(*cell) for cell in row.items()] for row in frame.to_dict("records")]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _measure(
    files: Sequence[str], limits: Sequence[float], methods: Sequence[str], threads: int
) -> Iterator[dict[str, Any]]:
    if "walras" in methods:
        name, seconds = _WARM_UP
        METHODS["walras"](read(name), OBJECTIVE, Budget(1), seconds=seconds)
    for seconds in limits:
        for name in files:
            for method in methods:
                row = measured(name, method, seconds, threads)
                print(json.dumps(row), flush=True)
                yield row


def main(arguments: Sequence[str] | None = None, tables: Tables = TABLES) -> int:
    """Run the methods on the files and print a row each, then the means."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.gap", description=__doc__.splitlines()[0]
    )
    parser.add_argument("files", nargs="*", help="names such as d801600; all without one")
    parser.add_argument("--seconds", type=float, nargs="+", default=[10.0])
    parser.add_argument("--methods", nargs="+", choices=list(METHODS), default=["walras"])
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--keep", action="store_true", help="keep the rows and write the page")
    parser.add_argument("--page", action="store_true", help="only write the page")
    given = parser.parse_args(arguments)
    if not given.page:
        stored = sorted(path.name.removesuffix(".gz") for path in folder().glob("*.gz"))
        if (unknown := sorted(set(given.files) - set(stored))) or not stored:
            parser.error(f"{folder()} has no {', '.join(unknown) or 'files'}; set WALRAS_DATA")
        found = _measure(given.files or stored, given.seconds, given.methods, given.threads)
        rows = []
        for row in found:
            rows.append(row)
            if given.keep:
                tables.write(_STUDY, pd.DataFrame([row]), cell=_CELL)
        print(means(pd.DataFrame(rows)).to_string(index=False), file=sys.stderr)
    if given.keep or given.page:
        print(tables.write_page(page(tables.read(_STUDY))), file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
