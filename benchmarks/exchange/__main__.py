"""Figures of the exchange: ``python -m benchmarks.exchange rounds --quick``."""

from __future__ import annotations

import argparse
import signal
import sys
import time

import pandas as pd

from benchmarks.exchange.page import write_page
from benchmarks.exchange.studies import FULL, QUICK, STUDIES
from benchmarks.tables import Tables

TABLES = Tables("exchange")
_ALONE = ("simulation", "demo")  # no database of a kind


def main(arguments: list[str] | None = None, tables: Tables = TABLES) -> int:
    """Measure the studies that are named, or all; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.exchange", description=__doc__)
    parser.add_argument("studies", nargs="*", metavar="STUDY", help=", ".join(STUDIES))
    parser.add_argument("--database", choices=("sqlite", "postgresql", "both"), default="both")
    parser.add_argument("--quick", action="store_true", help="small, and nothing is kept")
    parser.add_argument("--list", action="store_true", help="list the studies and run none")
    given = parser.parse_args(arguments)
    unknown = sorted(set(given.studies) - STUDIES.keys())
    if unknown:
        parser.error(f"there is no study {unknown[0]!r}; choose from {', '.join(STUDIES)}")
    if given.list:
        for name, study in STUDIES.items():
            print(f"{name:<14}{(study.__doc__ or '').splitlines()[0]}")
        return 0
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # what was started is ended
    kinds = ["sqlite", "postgresql"] if given.database == "both" else [given.database]
    for name in given.studies or STUDIES:
        rows = []
        for kind in kinds[:1] if name in _ALONE else kinds:
            began = time.monotonic()
            rows += STUDIES[name](kind, QUICK if given.quick else FULL)
            print(f"{name} on {kind}: {time.monotonic() - began:.0f} s", flush=True)
        frame = pd.DataFrame(rows)
        print(frame.to_string(index=False), flush=True)
        if not given.quick:
            tables.write(name, frame, digits=6)
    if not given.quick:
        write_page(tables)
    return 0


if __name__ == "__main__":
    sys.exit(main())
