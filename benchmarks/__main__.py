"""Measure Walras and its peers: ``python -m benchmarks --cells quick``."""

from __future__ import annotations

import argparse
import os
import sys

from benchmarks.commands import Options, run


def parse(arguments: list[str] | None = None) -> Options:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--only", metavar="PATTERN", help="cells whose name contains the pattern")
    parser.add_argument(
        "--cells",
        choices=("quick", "full"),
        default="full",
        help="quick ends in about five minutes",
    )
    again = parser.add_mutually_exclusive_group()
    again.add_argument("--resume", action="store_true", help="skip finished cells (the default)")
    again.add_argument("--fresh", action="store_true", help="measure finished cells again")
    parser.add_argument("--list", action="store_true", help="list the cells and measure nothing")
    given = parser.parse_args(arguments)
    return Options(given.only, given.cells == "quick", given.fresh, given.list)


if __name__ == "__main__":
    try:
        sys.exit(run(parse()))
    except BrokenPipeError:  # who reads the output, such as head, has enough of it
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
