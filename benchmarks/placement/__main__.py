"""Placement on Alibaba's nodes and pods: ``python -m benchmarks.placement online``."""

from __future__ import annotations

import argparse
import sys

import pandas as pd

from benchmarks.placement import batch, online, openb
from benchmarks.tables import Tables
from walras.domains.placement.online import POLICIES

TABLES = Tables("placement")
_CELL = {  # columns that name a row
    "online": ("workload", "policy"),
    "batch": ("workload", "pods"),
    "scale": ("nodes", "tasks"),
}


def main(arguments: list[str] | None = None, tables: Tables = TABLES) -> int:
    """Run what is asked for; returns the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.placement",
        description=__doc__,
        epilog=f"{online.__doc__}\n{batch.__doc__}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("study", choices=("online", "batch", "scale"))
    known = (*openb.GIVEN, *openb.DRAWN)
    parser.add_argument(
        "--workloads", nargs="+", choices=known, help="all 17 online, the given ones in a batch"
    )
    parser.add_argument("--policies", nargs="+", choices=list(POLICIES), default=[*POLICIES])
    parser.add_argument("--seeds", nargs="+", type=int, default=[*online.SEEDS])
    parser.add_argument("--machines", type=int, default=100_000)
    parser.add_argument("--tasks", type=int, default=1_000_000)
    parser.add_argument("--keep", action="store_true", help="write the table to results/")
    given = parser.parse_args(arguments)
    if given.study == "online":
        found = online.rows(given.workloads or known, given.policies, given.seeds)
    elif given.study == "batch":
        found = batch.rows(given.workloads or openb.GIVEN)
    else:
        found = iter([batch.scale(given.machines, given.tasks)])
    frame = pd.DataFrame(list(found))
    print(frame.to_string(index=False, float_format="{:,.4g}".format))
    if given.study == "online":
        print(online.verdict(frame))
    if given.keep:
        tables.write(given.study, frame, digits=6, cell=_CELL[given.study])
    return 0


if __name__ == "__main__":
    sys.exit(main())
