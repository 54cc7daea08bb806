"""Published figures beside ours: ``python -m benchmarks.simulate gavel --below 2.5``.

``gavel`` has mean completion times, ``fairness`` finish-time ratios, ``priorities`` mean completion
times by priority, ``makespan`` makespans, ``speed`` how fast the simulator is,
``dede`` quality against time on DeDe's largest cluster,
``day`` a day of 100,000 jobs on 1,000 types, ``shockwave`` makespans and mean completion
times of Shockwave's baselines.
"""

from __future__ import annotations

import argparse
import sys

import pandas as pd

from benchmarks.simulate import dede, fairness, gavel, makespan, priorities, shockwave, speed
from benchmarks.tables import Tables

TABLES = Tables("simulate")


def main(arguments: list[str] | None = None, tables: Tables = TABLES) -> int:
    """Run what is asked for; returns the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.simulate",
        description=__doc__,
        epilog="\n".join(str(study.__doc__) for study in _STUDIES),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("study", choices=_NAMES)
    published = [name for name in gavel.POLICIES if "released" not in name]
    cells = parser.add_argument_group("gavel, fairness and priorities")
    cells.add_argument("--policies", nargs="+", choices=published, default=published)
    cells.add_argument("--traces", nargs="+", choices=list(gavel.SHAPES), default=["single"])
    cells.add_argument("--rates", nargs="+", type=float, default=[], help="jobs an hour; all")
    cells.add_argument("--below", type=float, default=100.0, help="only smaller rates")
    cells.add_argument("--draws", type=int, default=0, help="of FIFO as released, up to 8")
    cells.add_argument("--processes", type=int, default=1)
    parser.add_argument("--jobs", nargs="+", type=int, default=[100, 200, 300], help="of makespan")
    rounds = parser.add_argument_group("dede and day")
    rounds.add_argument("--objective", choices=list(dede.OBJECTIVES), default="max-min")
    rounds.add_argument("--rounds", type=int, help="200 of dede, a whole day of day")
    rounds.add_argument("--sample", type=int, default=3, help="rounds that the others decide")
    parser.add_argument("--keep", action="store_true", help="write the table to results/")
    given = parser.parse_args(arguments)
    if given.study in ("gavel", "fairness"):
        frame = _cells(given, parser)
    elif given.study == "makespan":
        frame = pd.DataFrame(list(makespan.rows(given.jobs)))
    elif given.study == "priorities":
        frame = pd.DataFrame(list(priorities.rows(given.policies, given.rates, given.below)))
    elif given.study == "dede":
        frame = pd.DataFrame(dede.rows(given.objective, given.rounds or dede.ROUNDS, given.sample))
    elif given.study == "day":
        frame = pd.DataFrame([dede.day(given.rounds or dede.DAY, given.objective)])
    elif given.study == "shockwave":
        frame = shockwave.rows()
    else:
        frame = pd.DataFrame([speed.events(), speed.placed(), speed.overhead()])
    print(
        frame.to_string(
            index=False,
            float_format="{:,.5g}".format if given.study == "dede" else "{:,.2f}".format,
        )
    )
    if given.study in ("gavel", "fairness", "priorities"):
        print(gavel.verdict(frame))
    if given.keep:
        if given.study in _CELLS:
            frame = _with_older(frame, tables.read(given.study), _CELLS[given.study])
        tables.write(given.study, frame, digits=6 if given.study in ("dede", "shockwave") else 4)
    return 0


def _cells(given: argparse.Namespace, parser: argparse.ArgumentParser) -> pd.DataFrame:
    """The cells that are asked for; each is printed when it is done."""
    of_time = given.study == "gavel"
    tables, measure = (
        (gavel.SHAPES, gavel.measure) if of_time else (fairness.SHAPES, fairness.measure)
    )
    chosen = (given.traces, given.policies, given.rates, given.below, given.draws)
    wanted = gavel.cells(*chosen, tables)
    if not wanted:
        parser.error("no published cell is asked for")
    rows = []
    for row in gavel.measured(wanted, given.processes, measure):
        rows.append(row)
        print(
            f"[{len(rows)}/{len(wanted)}] {row['trace']} {row['policy']} {row['rate']:g} jobs/h: "
            f"published {row['published']:.2f}, ours {row['ours']:.2f} {'h' * of_time}, "
            f"{row['deviation %']:+.2f} %, {row['seconds']:.1f} s",
            flush=True,
        )
    return gavel.ordered(rows)


_STUDIES = (gavel, fairness, priorities, makespan, dede, shockwave)
_NAMES = ("gavel", "fairness", "priorities", "makespan", "speed", "dede", "day", "shockwave")
_CELLS = {
    **{study: ["trace", "policy", "rate"] for study in ("gavel", "fairness", "priorities")},
    "makespan": ["jobs", "policy"],
    "dede": ["objective", "method"],
}
"""Study -> what names a row of it."""


def _with_older(frame: pd.DataFrame, older: pd.DataFrame | None, cell: list[str]) -> pd.DataFrame:
    """The cells, and those of earlier runs that were not run now."""
    if older is None:
        return frame
    return pd.concat([frame, older]).drop_duplicates(cell).sort_values(cell, ignore_index=True)


if __name__ == "__main__":
    sys.exit(main())
