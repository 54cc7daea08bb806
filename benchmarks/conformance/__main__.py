"""Run another project's tests with Walras: ``python -m benchmarks.conformance cvxpy``.

The tests come out of the installed package and go to a scratch folder; none is kept here. They run
twice, as they are and with Walras; a test that passes the first time and solves something through
Walras is applicable, unless ``not_applicable.py`` lists it with its reason. Exit code 1 where an
applicable test fails.

``python -m benchmarks.conformance mps`` solves the public programs of ``mps`` under ``WALRAS_DATA``
and compares with HiGHS; exit code 1 where an answer differs.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from benchmarks.conformance import mps
from benchmarks.conformance.compare import Verdict, compare
from benchmarks.conformance.not_applicable import CVXPY
from benchmarks.conformance.suite import copied, run
from benchmarks.store import RESULTS


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.conformance", description=__doc__)
    parser.add_argument("project", choices=("cvxpy", "mps"), help="whose tests")
    parser.add_argument("-k", dest="only", metavar="EXPRESSION", help="as for pytest")
    parser.add_argument(
        "--files", nargs="+", metavar="FILE", help="these of the tests' files alone"
    )
    parser.add_argument(
        "--time-limit", type=float, default=60.0, help="seconds a solve, of mps alone"
    )
    parser.add_argument("--record", type=Path, help="where the JSON record goes")
    return parser.parse_args(arguments)


def main(arguments: list[str] | None = None) -> int:
    """Run, print, record; 1 where an applicable test fails, 2 where none ran."""
    given = parse(arguments)
    if given.project == "mps":
        return 0 if mps.check(mps.folder(), given.time_limit) else 1
    with tempfile.TemporaryDirectory(prefix="conformance-") as scratch:
        folder = copied(given.project, Path(scratch), given.files)
        baseline = run(folder, given.only, through_walras=False)
        ours = run(folder, given.only, through_walras=True)
    is_partial = bool(given.only or given.files)
    verdict: Verdict = compare(baseline, ours, CVXPY, partial=is_partial)
    print(verdict)
    record = given.record or (None if is_partial else RESULTS / f"conformance_{given.project}.json")
    if record is not None:
        record.write_text(verdict.as_json(given.project), encoding="utf-8")
        print(f"record: {record}")
    if not verdict.applicable:
        print("no test ran through Walras", file=sys.stderr)
        return 2
    return 1 if verdict.failed else 0


if __name__ == "__main__":
    sys.exit(main())
