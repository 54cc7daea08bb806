"""Run studies: ``python -m benchmarks.experiments failures temporal``."""

from __future__ import annotations

import argparse
import sys

from benchmarks.experiments import crossing, fairness, micro, moves, restarts, robustness
from benchmarks.experiments.page import write_page
from benchmarks.experiments.study import Setting, Study
from benchmarks.tables import Tables

STUDIES: tuple[Study, ...] = (
    *robustness.STUDIES,
    *fairness.STUDIES,
    *micro.STUDIES,
    *restarts.STUDIES,
    *crossing.STUDIES,
    *moves.STUDIES,
)
TABLES = Tables("experiments")


def main(arguments: list[str] | None = None, tables: Tables = TABLES) -> int:
    """Run the studies that are named, or all; returns the exit code."""
    names = [study.name for study in STUDIES]
    parser = argparse.ArgumentParser(prog="python -m benchmarks.experiments", description=__doc__)
    parser.add_argument("studies", nargs="*", metavar="STUDY", help=", ".join(names))
    parser.add_argument("--list", action="store_true", help="list the studies and run none")
    parser.add_argument("--topology", help="another network than each study's own, such as B4")
    parser.add_argument("--limit", type=float, help="seconds a solve, instead of each study's own")
    parser.add_argument("--seed", type=int, default=Setting.seed, help="of traffic and failures")
    given = parser.parse_args(arguments)
    unknown = sorted(set(given.studies) - set(names))
    if unknown:
        parser.error(f"there is no study {unknown[0]!r}; choose from {', '.join(names)}")
    for study in STUDIES:
        if given.list:
            print(f"{study.name:<14}{study.estimate:>6g} s  {study.title}")
        elif not given.studies or study.name in given.studies:
            topology = given.topology or study.topology
            setting = Setting(topology, seed=given.seed, limit=given.limit or study.limit)
            print(f"{study.name} on {topology}, about {study.estimate:g} s", flush=True)
            study.measure(setting, tables)
    if not given.list:
        for page in dict.fromkeys(study.page for study in STUDIES):
            write_page([study for study in STUDIES if study.page == page], tables)
    return 0


if __name__ == "__main__":
    sys.exit(main())
