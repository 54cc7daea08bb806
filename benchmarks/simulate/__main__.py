"""Published figures beside ours: ``python -m benchmarks.simulate gavel --below 2.5``."""

from __future__ import annotations

import argparse
import sys

from benchmarks.simulate import gavel
from benchmarks.tables import Tables

TABLES = Tables("simulate")


def main(arguments: list[str] | None = None, tables: Tables = TABLES) -> int:
    """Run the cells that are asked for; returns the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.simulate",
        description=__doc__,
        epilog=gavel.__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("study", choices=["gavel"])
    published = [name for name in gavel.POLICIES if "released" not in name]
    parser.add_argument("--policies", nargs="+", choices=published, default=published)
    parser.add_argument("--traces", nargs="+", choices=list(gavel.SHAPES), default=["single"])
    parser.add_argument("--rates", nargs="+", type=float, default=[], help="jobs an hour; all")
    parser.add_argument("--below", type=float, default=100.0, help="only smaller rates")
    parser.add_argument("--draws", type=int, default=0, help="of FIFO as released, up to 8")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--keep", action="store_true", help="write the table to results/")
    given = parser.parse_args(arguments)
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
    frame = gavel.ordered(rows)
    print(frame.to_string(index=False, float_format="{:.2f}".format))
    print(gavel.verdict(frame))
    if given.keep:
        tables.write("gavel", frame, digits=4)
    return 0


if __name__ == "__main__":
    sys.exit(main())
