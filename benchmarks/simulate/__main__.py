"""Published figures beside ours: ``python -m benchmarks.simulate gavel --below 2.5``.

``gavel`` has mean completion times, ``fairness`` finish-time ratios, ``priorities`` mean completion
times by priority, ``makespan`` makespans, ``waiting`` who waits at high loads. ``records`` runs
nothing and prints what the kept cells of ``gavel`` and ``fairness`` say: low loads, the order of
policies at high ones, and what the table costs. ``speed`` is how fast the simulator is, ``dede``
quality against time on DeDe's largest cluster, ``day`` a day of 100,000 jobs on 1,000 types,
``shockwave`` makespans and mean completion times of Shockwave's baselines.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import partial

import pandas as pd

from benchmarks.simulate import (
    cost,
    dede,
    dede_page,
    fairness,
    gavel,
    makespan,
    order,
    priorities,
    shockwave,
    speed,
    waiting,
)
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
    published = [name for name in gavel.POLICIES if name[-1].isalpha()]  # no draws
    cells = parser.add_argument_group("gavel, fairness and priorities")
    filled = [name for name in priorities.POLICIES if name not in published]
    cells.add_argument(
        "--policies",
        nargs="+",
        choices=published + filled,
        default=[name for name in published + filled if name not in gavel.BESIDE],
    )
    cells.add_argument("--traces", nargs="+", choices=list(gavel.SHAPES), default=["single"])
    cells.add_argument("--rates", nargs="+", type=float, default=[], help="jobs an hour; all")
    cells.add_argument("--below", type=float, default=100.0, help="only smaller rates")
    cells.add_argument(
        "--draws", type=int, default=0, help="of FIFO as released and of ties of AlloX, up to 8"
    )
    cells.add_argument("--seeds", type=int, default=3, help="of priorities")
    cells.add_argument(
        "--ratios", action="store_true", help="of gavel: finish-time ratios of the same runs, too"
    )
    cells.add_argument("--processes", type=int, default=1)
    parser.add_argument("--jobs", nargs="+", type=int, default=[100, 200, 300], help="of makespan")
    parser.add_argument(
        "--by",
        nargs="+",
        choices=list(makespan.POLICIES),
        default=list(makespan.POLICIES),
        help="policies of makespan",
    )
    rounds = parser.add_argument_group("dede and day")
    rounds.add_argument("--objective", choices=list(dede.OBJECTIVES), default="max-min")
    rounds.add_argument("--rounds", type=int, help="200 of dede, a whole day of day")
    rounds.add_argument("--methods", nargs="+", choices=dede.METHODS, default=dede.METHODS)
    rounds.add_argument("--some", type=int, default=dede.SOME, help="rounds that engines decide")
    rounds.add_argument("--few", type=int, default=dede.FEW, help="rounds that slow ones decide")
    parser.add_argument("--keep", action="store_true", help="write the table to results/")
    given = parser.parse_args(arguments)
    if given.study == "records":
        for study in _SHOWN:
            print(_kept(study, tables))
        return 0
    cells_asked = given.study in _SHOWN
    frames = _cells(given, parser) if cells_asked else {given.study: _table(given)}
    for study, frame in frames.items():
        shown = "{:,.5g}" if study == "dede" else "{:,.2f}"
        print(frame.to_string(index=False, float_format=shown.format))
        if study in (*_SHOWN, "priorities"):
            print(gavel.verdict(frame))
        if study == "shockwave":
            print(shockwave.verdict(frame))
        if given.keep:
            digits = 6 if study in ("dede", "shockwave") else 4
            tables.write(study, frame, digits, _CELLS.get(study, ()))
            if study == "dede" and (kept := tables.read(study)) is not None:
                tables.write_page(dede_page.page(kept), study)
    return 0


def _table(given: argparse.Namespace) -> pd.DataFrame:
    """The table of a study that has no published cells of its own to choose."""
    if given.study == "makespan":
        return pd.DataFrame(list(makespan.rows(given.jobs, given.by)))
    if given.study == "priorities":
        return pd.DataFrame(list(_by_priority(given)))
    if given.study == "dede":
        dede.warm_up(given.objective, given.methods)
        asked = (given.methods, given.rounds or dede.ROUNDS, given.some, given.few)
        return pd.DataFrame(dede.rows(given.objective, *asked))
    if given.study == "day":
        return pd.DataFrame([dede.day(given.rounds or dede.DAY, given.objective)])
    if given.study == "shockwave":
        return shockwave.rows()
    if given.study == "waiting":
        return pd.DataFrame(list(waiting.rows()))
    return pd.DataFrame([speed.events(), speed.placed(), *map(speed.overhead, speed.DECIDES)])


def _by_priority(given: argparse.Namespace) -> Iterator[dict[str, object]]:
    return priorities.rows(given.policies, given.rates, given.below, range(given.seeds))


def _kept(study: str, tables: Tables) -> str:
    """What the kept cells of a study say: low loads, the order at high ones, what they cost."""
    kept = tables.read(study)
    if kept is None:
        return f"{study}: nothing is kept; run it with --keep"
    shapes = _SHOWN[study][0]
    theirs = [name for name in gavel.POLICIES if name not in gavel.BESIDE]
    wanted = gavel.cells(list(shapes), theirs, [], float("inf"), tables=shapes)
    said = (
        gavel.verdict(kept),
        order.verdict(kept[kept["policy"].isin(theirs)], gavel.LOW),
        cost.verdict(kept, pd.DataFrame(wanted).rename(columns={"shape": "trace"})),
    )
    return "\n\n".join((f"=== {study}", *said))


def _cells(given: argparse.Namespace, parser: argparse.ArgumentParser) -> dict[str, pd.DataFrame]:
    """The cells that are asked for, by study; each is printed when it is done."""
    studies = list(_SHOWN) if given.ratios else [given.study]
    chosen = (given.traces, given.policies, given.rates, given.below, given.draws)
    groups: dict[tuple[str, str, float], dict[str, gavel.Row]] = {}
    for study in studies:
        shapes, measure = _SHOWN[study]
        for cell in gavel.cells(*chosen, shapes):
            of_a_run = groups.setdefault((cell.shape, cell.policy, cell.rate), {})
            of_a_run[study] = partial(gavel.of_study, study, measure, cell)
    if not groups:
        parser.error("no published cell is asked for")
    found: dict[str, list[gavel.Found]] = {study: [] for study in studies}
    asked = [list(group.values()) for group in groups.values()]
    for count, rows in enumerate(gavel.measured(asked, given.processes), 1):
        for row in rows:
            found[str(row.pop("study"))].append(row)
            print(
                f"[{count}/{len(asked)}] {row['trace']} {row['policy']} {row['rate']:g} jobs/h: "
                f"published {row['published']:.2f}, ours {row['ours']:.2f}, "
                f"{row['deviation %']:+.2f} %, {row['cpu s']:.1f} s of a core",
                flush=True,
            )
    return {study: gavel.ordered(rows) for study, rows in found.items() if rows}


_SHOWN: Mapping[str, tuple[Mapping[str, str], Callable[[gavel.Cell], gavel.Found]]] = {
    "gavel": (gavel.SHAPES, gavel.measure),
    "fairness": (fairness.SHAPES, fairness.measure),
}
"""Study of published cells -> the names of its tables, and what measures a cell."""

_STUDIES = (gavel, fairness, priorities, makespan, dede, shockwave, waiting)
_NAMES = (
    "gavel",
    "fairness",
    "priorities",
    "makespan",
    "speed",
    "dede",
    "day",
    "shockwave",
    "waiting",
    "records",
)
_CELLS = {
    **{study: ["trace", "policy", "rate"] for study in ("gavel", "fairness")},
    "priorities": ["trace", "policy", "rate", "seeds"],
    "waiting": ["trace", "rate", "jobs come"],
    "makespan": ["jobs", "policy"],
    "dede": ["objective", "method"],
}
"""Study -> what names a row of it."""


if __name__ == "__main__":
    sys.exit(main())
