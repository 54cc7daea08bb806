"""Published figures beside ours: ``python -m benchmarks.simulate gavel --below 2.5``.

``gavel`` has mean completion times, ``makespan`` makespans, ``speed`` how fast the simulator is.
"""

from __future__ import annotations

import argparse
import sys

import pandas as pd

from benchmarks.simulate import gavel, makespan, speed
from benchmarks.tables import Tables

TABLES = Tables("simulate")


def main(arguments: list[str] | None = None, tables: Tables = TABLES) -> int:
    """Run what is asked for; returns the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.simulate",
        description=__doc__,
        epilog=f"{gavel.__doc__}\n{makespan.__doc__}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("study", choices=["gavel", "makespan", "speed"])
    published = [name for name in gavel.POLICIES if "released" not in name]
    cells = parser.add_argument_group("gavel")
    cells.add_argument("--policies", nargs="+", choices=published, default=published)
    cells.add_argument("--traces", nargs="+", choices=list(gavel.SHAPES), default=["single"])
    cells.add_argument("--rates", nargs="+", type=float, default=[], help="jobs an hour; all")
    cells.add_argument("--below", type=float, default=100.0, help="only smaller rates")
    cells.add_argument("--draws", type=int, default=0, help="of FIFO as released, up to 8")
    cells.add_argument("--processes", type=int, default=1)
    parser.add_argument("--jobs", nargs="+", type=int, default=[100, 200, 300], help="of makespan")
    parser.add_argument("--keep", action="store_true", help="write the table to results/")
    given = parser.parse_args(arguments)
    if given.study == "gavel":
        frame = _cells(given, parser)
    elif given.study == "makespan":
        frame = pd.DataFrame(list(makespan.rows(given.jobs)))
    else:
        frame = pd.DataFrame([speed.events(), speed.overhead()])
    print(frame.to_string(index=False, float_format="{:,.2f}".format))
    if given.study == "gavel":
        print(gavel.verdict(frame))
    if given.keep:
        frame = _with_older(frame, tables.read("gavel")) if given.study == "gavel" else frame
        tables.write(given.study, frame, digits=4)
    return 0


def _cells(given: argparse.Namespace, parser: argparse.ArgumentParser) -> pd.DataFrame:
    """The cells that are asked for; each is printed when it is done."""
    wanted = gavel.cells(given.traces, given.policies, given.rates, given.below, given.draws)
    if not wanted:
        parser.error("no published cell is asked for")
    rows = []
    for row in gavel.measured(wanted, given.processes):
        rows.append(row)
        print(
            f"[{len(rows)}/{len(wanted)}] {row['trace']} {row['policy']} {row['rate']:g} jobs/h: "
            f"published {row['published']:.2f}, ours {row['ours']:.2f} h, "
            f"{row['deviation %']:+.2f} %, {row['seconds']:.1f} s",
            flush=True,
        )
    return gavel.ordered(rows)


def _with_older(frame: pd.DataFrame, older: pd.DataFrame | None) -> pd.DataFrame:
    """The cells, and those of earlier runs that were not run now."""
    cell = ["trace", "policy", "rate"]
    if older is None:
        return frame
    return pd.concat([frame, older]).drop_duplicates(cell).sort_values(cell, ignore_index=True)


if __name__ == "__main__":
    sys.exit(main())
