"""Run studies: ``python -m benchmarks.learning counts linear --seeds 20``; go on with the same."""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import replace
from pathlib import Path

import pandas as pd

from benchmarks.learning.page import write_page
from benchmarks.learning.studies import STUDIES, Study
from benchmarks.tables import Tables
from walras.errors import InputError
from walras.matching import Decay
from walras.predict import recipe

TABLES = Tables("learning")
_AT_ONCE = 5  # seeds
SCRATCH = Path(__file__).parent.parent / ".scratch" / "learning"


def main(arguments: list[str] | None = None, tables: Tables = TABLES) -> int:
    """Run the studies that are named, or all; returns the exit code.

    A few seeds at once over all of the studies: a run stopped at any time is nearly balanced, and
    processes are not started for each seed alone.
    """
    names = [study.name for study in STUDIES]
    parser = argparse.ArgumentParser(prog="python -m benchmarks.learning", description=__doc__)
    parser.add_argument("studies", nargs="*", metavar="STUDY", help=", ".join(names))
    parser.add_argument("--list", action="store_true", help="list the studies and run none")
    parser.add_argument("--seeds", type=int, help="in place of each study's own number")
    parser.add_argument("--workers", type=int, help="processes of one thread")
    parser.add_argument("--scratch", type=Path, default=SCRATCH, help="keeps finished cells")
    parser.add_argument("--methods", help="only these, joined by commas")
    parser.add_argument("--train", help="only these sizes, joined by commas")
    given = parser.parse_args(arguments)
    unknown = sorted(set(given.studies) - set(names))
    if unknown:
        parser.error(f"there is no study {unknown[0]!r}; choose from {', '.join(names)}")
    if given.list:
        for study in STUDIES:
            print(f"{study.name:<18}{study.seeds:>3} seeds  {study.title}")
        return 0
    chosen = [
        narrowed(study, given.methods, given.train)
        for study in STUDIES
        if study.name in (given.studies or names)
    ]
    most = given.seeds or max(study.seeds for study in chosen)
    for first in range(0, most, _AT_ONCE):
        for study in chosen:
            seeds = range(min(first + _AT_ONCE, given.seeds or study.seeds))
            if first < len(seeds):
                measure(study, seeds, given.scratch, tables, given.workers)
    write_page(STUDIES, tables)
    return 0


def narrowed(study: Study, methods: str | None, train: str | None) -> Study:
    """The study with some of its methods and sizes alone."""
    kept, sizes = study.methods, study.train_tasks
    if methods is not None:
        asked = methods.split(",")
        kept = {name: own for name, own in study.methods.items() if name in asked}
    if train is not None:
        sizes = tuple(int(size) for size in train.split(","))
    return replace(study, methods=kept, train_tasks=sizes)


def measure(
    study: Study, seeds: range, scratch: Path, tables: Tables, workers: int | None
) -> pd.DataFrame:
    """Run or go on with a study, and write its table.

    Raises:
        KeyboardInterrupt: The user asked to stop; finished cells are kept.
    """
    began = time.perf_counter()
    options = {**study.options, **({"speedup": pairs_of(study)} if study.pairs else {})}
    parts = []
    for floor in study.floors or (None,):
        own = study.terms if floor is None else {**study.terms, "min_success": floor}
        parts.append(
            study.run(
                study.methods,
                study.settings,
                train_tasks=study.train_tasks,
                tasks_per_round=study.tasks_per_round,
                seeds=list(seeds),
                workers=workers,
                folder=scratch / study.name,
                **options,
                **own,
            )
        )
        if floor is not None:
            parts[-1]["min_success"] = floor
        if not parts[-1].attrs["complete"]:
            raise KeyboardInterrupt
    frame = pd.concat(parts, ignore_index=True)
    tables.write(study.name, frame, digits=6)
    print(
        f"{time.strftime('%H:%M:%S')}  {study.name}: {len(seeds)} seeds, "
        f"{time.perf_counter() - began:.0f} s for the last",
        flush=True,
    )
    return frame


def pairs_of(study: Study) -> Decay:
    """The speed-up of the study's clusters that takes the measured ratios of two tasks.

    Raises:
        InputError: The recipe has no measured pairs.
    """
    clusters = study.settings[0]
    name, size = str(study.terms.get("data", "nb201")), study.train_tasks[0]
    ratios = recipe(name, clusters=clusters, train_tasks=size).speedup
    if ratios is None:
        raise InputError(
            "has no measured pairs",
            where=f"recipe '{name}'",
            allowed="gavel",
            remedy="give the study a speedup among its options",
        )
    return Decay.pinned(ratios)


if __name__ == "__main__":
    sys.exit(main())
