"""Run studies: ``python -m benchmarks.network figure3 baselines``."""

from __future__ import annotations

import argparse
import sys

from benchmarks.network import baselines, convergence, digits, faults, spectra
from benchmarks.network.study import Study, write_page

STUDIES: tuple[Study, ...] = (
    *convergence.STUDIES,
    *spectra.STUDIES,
    *baselines.STUDIES,
    *faults.STUDIES,
    *digits.STUDIES,
)


def main(arguments: list[str] | None = None) -> int:
    """Run the studies that are named, or all; returns the exit code."""
    names = [study.name for study in STUDIES]
    parser = argparse.ArgumentParser(prog="python -m benchmarks.network", description=__doc__)
    parser.add_argument("studies", nargs="*", metavar="STUDY", help=", ".join(names))
    parser.add_argument("--list", action="store_true", help="list the studies and run none")
    parser.add_argument("--seed", type=int, default=0, help="of data, graphs and faults")
    given = parser.parse_args(arguments)
    unknown = sorted(set(given.studies) - set(names))
    if unknown:
        parser.error(f"there is no study {unknown[0]!r}; choose from {', '.join(names)}")
    for study in STUDIES:
        if given.list:
            print(f"{study.name:<14}{study.estimate:>6g} s  {study.title}")
        elif not given.studies or study.name in given.studies:
            print(f"{study.name}, about {study.estimate:g} s", flush=True)
            study.measure(given.seed)
    if not given.list:
        write_page(STUDIES)
    return 0


if __name__ == "__main__":
    sys.exit(main())
