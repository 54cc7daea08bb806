"""Check the papers' items: ``python -m benchmarks.papers mfcp --item "table 1"``."""

from __future__ import annotations

import argparse
import difflib
import json
import os
import sys
import time
from collections.abc import Mapping, Sequence

import pandas as pd

from benchmarks.papers import coopt, dede, mfcp
from benchmarks.papers.item import Item, Outcome
from benchmarks.papers.page import write_page
from benchmarks.tables import Tables

PAPERS: Mapping[str, Sequence[Item]] = {
    "mfcp": mfcp.ITEMS,
    "dede": dede.ITEMS,
    "coopt": coopt.ITEMS,
}
TABLES = Tables("papers")


def main(arguments: list[str] | None = None, tables: Tables = TABLES) -> int:
    """Check the items that are named, or all of a paper; returns the exit code.

    An item that is refuted is a finding, not a failure.
    """
    parser = argparse.ArgumentParser(prog="python -m benchmarks.papers", description=__doc__)
    parser.add_argument("paper", choices=PAPERS)
    parser.add_argument(
        "--item",
        action="append",
        default=[],
        help="as 'table 1', with all its parts; all by default",
    )
    parser.add_argument("--list", action="store_true", help="list the items and check none")
    parser.add_argument("--quick", action="store_true", help="smaller sizes, fewer seeds")
    parser.add_argument("--keep", action="store_true", help="write records and the page's table")
    given = parser.parse_args(arguments)
    chosen = _chosen(parser, PAPERS[given.paper], given.item)
    if given.list:
        width = max(len(item.name) for item in chosen) + 2
        for item in chosen:
            print(f"{item.name:<{width}}{item.claim}")
        return 0
    for item in chosen:
        row = _checked(item, quick=given.quick)
        if given.keep:
            tables.write(given.paper, pd.DataFrame([row]), digits=6, cell=("item",))
    if given.keep:
        write_page(given.paper, PAPERS[given.paper], tables)
    return 0


def _chosen(
    parser: argparse.ArgumentParser, items: Sequence[Item], asked: Sequence[str]
) -> list[Item]:
    """The items that are named; "table 1" names all its parts, such as "table 1, regret", too."""
    chosen = []
    for name in asked:
        own = [item for item in items if name.lower() in (item.name, item.name.split(", ")[0])]
        if not own:
            near = difflib.get_close_matches(name.lower(), [item.name for item in items], 1)
            more = f"; did you mean {near[0]!r}?" if near else ""
            parser.error(f"there is no item {name!r}{more}; --list lists them")
        chosen += own
    return chosen or list(items)


def _checked(item: Item, *, quick: bool) -> dict[str, object]:
    """Check an item, print what was found, and return its record."""
    began, used = time.perf_counter(), sum(os.times()[:4])
    found = item.check(quick)
    seconds, cpu = time.perf_counter() - began, sum(os.times()[:4]) - used
    _print(item, found, seconds, cpu)
    return {
        "item": item.name,
        "ours": found.ours,
        "verdict": found.verdict,
        "why": found.why,
        "table": None if found.table is None else json.loads(found.table.to_json(orient="records")),
        "quick": quick,
        "seconds": seconds,
        "cpu s": cpu,
    }


def _print(item: Item, found: Outcome, seconds: float, cpu: float) -> None:
    print(f"{item.name}: {item.claim}")
    if item.published:
        print(f"  published  {item.published}")
    print(f"  ours       {found.ours}")
    print(f"  verdict    {found.verdict}{': ' if found.why else ''}{found.why}")
    print(f"  shown by   {item.show}   ({seconds:.1f} s, {cpu:.1f} s of a core)", flush=True)
    if found.table is not None:
        print(found.table.to_string(index=False), flush=True)


if __name__ == "__main__":
    sys.exit(main())
