"""The page of public instances, from the kept rows alone: ``python -m benchmarks.public``.

Few types and very many jobs (``benchmarks.few_types``), traffic with known optima
(``benchmarks.traffic_sequence``), and machines with GPUs (``benchmarks.placement``). Each row has
its day and its machine in ``benchmarks/results``, and since 2026-11-29 our version.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import pandas as pd

from benchmarks import few_types, traffic_sequence
from benchmarks.placement import __main__ as placement
from benchmarks.placement import online
from benchmarks.tables import Tables

TABLES = Tables("public")
_PASSES = 3.0  # times of twenty passes over X within which a solve is to end


def table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table in Markdown."""
    lines = [columns, ["---"] * len(columns), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def jobs(frame: pd.DataFrame | None) -> str:
    """Price discovery's instance: value, gap, seconds, and CPU seconds beside those of passes."""
    if frame is None:
        return "Not measured yet.\n"
    rows = []
    for row in _rows(frame):
        value = f"{row['value']:.6f}"
        if (row["objective"], row["types"]) == ("proportional-fairness", 4):
            value += f" (theirs {few_types.PUBLISHED:.6f})"
        read, passed = (row["solve_cpu_s"] / row[f"{of}_cpu_s"] for of in ("reads", "evaluations"))
        rows.append(
            (
                row["objective"],
                f"{row['types']} x {row['jobs']:,}",
                str(row["version"]),
                value,
                f"{row['gap']:.1e}",
                f"{row['solve_cpu_s']:.1f}",
                f"{row['clock_s']:.1f}",
                *(f"{passes:.1f} ({_side(passes)} {_PASSES:g})" for passes in (passed, read)),
                f"{row['memory_arrays']:.1f}",
            )
        )
    columns = (
        *("objective", "types x jobs", "version", "value", "gap", "CPU s", "clock s"),
        *("over 20 passes of the dual", "over 20 sums over X", "arrays beside X"),
    )
    return table(columns, rows)


def _side(passes: float) -> str:
    return "within" if passes <= _PASSES else "over"


def sequences(utilisation: pd.DataFrame | None, total: pd.DataFrame | None) -> str:
    """FIGRET's matrices in order: how far off, violation, CPU time beside HiGHS'."""
    rows = []
    for study, frame in (("least utilisation", utilisation), ("total flow", total)):
        for row in () if frame is None else _rows(frame):
            rows.append(
                (
                    study,
                    str(row["network"]).replace("_", " "),
                    f"{row['method']} ({row['version']})",
                    f"{row['matrices']:,}",
                    f"{row['off']:.0e}",
                    f"{row['violation']:.0e}",
                    f"{row['CPU ms a matrix']:.3g}",
                    f"{row['times HiGHS']:.2g}",
                    f"{row['times run()']:.2g}",
                    f"{row['MiB']:.0f}",
                )
            )
    columns = (
        *("objective", "network", "method", "matrices", "largest error", "violation"),
        *("CPU ms a matrix", "times HiGHS", "times its run()", "MiB"),
    )
    return table(columns, rows)


def shares(frame: pd.DataFrame | None) -> str:
    """Max-min fair shares of FIGRET's matrices."""
    if frame is None:
        return "Not measured yet.\n"
    rows = [
        (
            str(row["network"]).replace("_", " "),
            f"{row['method']} ({row['version']})",
            f"{row['matrices']:,}",
            f"{row['off']:.0e}",
            f"{row['violation']:.0e}",
            f"{row['served']:.2%}",
            f"{row['steps']:.2f}",
            f"{row['CPU ms a matrix']:.3g}",
            f"{row['times HiGHS']:.2g}",
            f"{row['MiB']:.0f}",
        )
        for row in _rows(frame)
    ]
    columns = (
        *("network", "method", "matrices", "error of the least share", "violation", "served"),
        *("levels", "CPU ms a matrix", "times HiGHS", "MiB"),
    )
    return table(columns, rows)


def arrivals(frame: pd.DataFrame | None) -> str:
    """Policies of arrival on openb: means over the workloads, beside the published ones."""
    if frame is None:
        return "Not measured yet.\n"
    rows = []
    for policy, part in frame.groupby("policy", sort=False):
        known = part.dropna(subset="published %")
        both = known["allocated %"], known["published %"]
        theirs = f"{both[1].mean():.2f} against {both[0].mean():.2f} here" if len(known) else ""
        rows.append(
            (
                str(policy),
                str(len(part)),
                f"{part['allocated %'].mean():.2f}",
                theirs,
                f"{part['CPU s a run'].mean():.2f}",
                f"{part['MiB'].max():.0f}",
            )
        )
    head = (
        *("policy", "workloads", "GPUs allocated, mean %", "published mean %, where there is one"),
        *("CPU s a run", "MiB"),
    )
    return table(head, rows) + "\n" + online.verdict(frame).replace("\n", ". ") + ".\n"


def batches(batch: pd.DataFrame | None, scale: pd.DataFrame | None) -> str:
    """All pods known at once, and the scale of a million tasks: allocation, bound, gap."""
    rows = []
    for frame, name in ((batch, "all pods known"), (scale, "drawn from the lists")):
        for row in () if frame is None else _rows(frame):
            what = ", ".join(str(row[key]) for key in ("workload", "pods") if key in row)
            rows.append(
                (
                    f"{name}: {what}" if what else name,
                    f"{int(row['nodes']):,} x {int(row['tasks']):,}",
                    f"{row['allocated']:,.1f}",
                    f"{row['bound']:,.1f}",
                    f"{row['gap %']:.2f}",
                    f"{row['CPU s']:.0f}",
                    f"{row['seconds']:.0f}",
                    f"{row['MiB']:.0f}",
                )
            )
    columns = (
        *("case", "nodes x tasks", "GPUs allocated", "bound", "gap %"),
        *("CPU s", "clock s", "MiB"),
    )
    return table(columns, rows)


def _rows(frame: pd.DataFrame) -> list[dict[str, Any]]:
    return [{str(key): value for key, value in row.items()} for row in frame.to_dict("records")]


def page() -> str:
    """All sections, from what is kept."""
    traffic, machines = traffic_sequence.TABLES, placement.TABLES
    parts = {
        "Few types, very many jobs": jobs(few_types.TABLES.read(few_types.STUDY)),
        "Traffic with known optima": sequences(traffic.read("utilisation"), traffic.read("total")),
        "Max-min fair shares of the same traffic": shares(traffic.read("fair")),
        "Tasks that arrive at machines with GPUs": arrivals(machines.read("online")),
        "All tasks known at once": batches(machines.read("batch"), machines.read("scale")),
    }
    return "\n".join(f"## {title}\n\n{text}" for title, text in parts.items())


if __name__ == "__main__":
    print(TABLES.write_page(page()).name)
