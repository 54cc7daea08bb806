"""Half an hour of the exchange under load and faults: ``python -m benchmarks.exchange_soak``."""

from __future__ import annotations

import argparse
import signal
import sys

import pandas as pd
from tests.exchange.processes.template import Template

from benchmarks.exchange.page import write_page
from benchmarks.exchange.soak import soak
from benchmarks.exchange.stand import folder
from benchmarks.tables import Tables

TABLES = Tables("exchange")


def main(arguments: list[str] | None = None, tables: Tables = TABLES) -> int:
    """Measure and keep the row; 1 where an invariant did not hold."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.exchange_soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=30.0)
    given = parser.parse_args(arguments)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # what was started is ended
    with folder() as place, Template() as template:
        row = soak(place / "rig", template, 60.0 * given.minutes)
    frame = pd.DataFrame([row])
    print(frame.T.to_string(header=False), flush=True)
    if given.minutes >= 10.0:
        tables.write("soak", frame, digits=6)
        write_page(tables)
    return int(bool(row["broken"]))


if __name__ == "__main__":
    sys.exit(main())
