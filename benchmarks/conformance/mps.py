"""Every file of a folder of MPS and LP programs by two engines, beside HiGHS' own answer."""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Iterator
from pathlib import Path

import walras as wl
from walras.quiet_highs import new_highs
from walras.separable.mps import read_mps

ENGINES = ("auto", "exact")
_CLOSE = 1e-6  # of an optimum, by which answers and gaps may be off


def folder() -> Path:
    """Where the files lie: ``mps`` under ``WALRAS_DATA``."""
    return Path(os.environ.get("WALRAS_DATA", "data")) / "mps"


def check(place: Path, seconds: float) -> bool:
    """Solve all files, print a line for each, and say whether all are as HiGHS says.

    Args:
        place: Folder of the files.
        seconds: Time limit of each solve.
    """
    names = [name for end in ("mps", "lp") for name in place.glob(f"*.{end}*")]
    wrong = [line for path in sorted(names) for line in _wrong(path, seconds)]
    print(f"{len(names)} files in {place}, {len(ENGINES)} engines: {len(wrong)} wrong")
    return bool(names) and not wrong


def _wrong(path: Path, seconds: float) -> Iterator[str]:
    status, value = _by_highs(path, seconds)
    for engine in ENGINES:
        began = time.perf_counter()
        ended, found, gap = _by_walras(path, engine, seconds)
        is_right = ended == status
        if status == "optimal":
            is_right &= abs(found - value) <= _CLOSE * max(abs(value), 1.0) and gap <= _CLOSE
        ours, theirs = f"{ended} {found:.9g}, gap {gap:.1e}", f"{status} {value:.9g}"
        words = f"{path.name} {engine}: {ours}; HiGHS {theirs}"
        print(f"{'' if is_right else 'WRONG '}{words} ({time.perf_counter() - began:.1f} s)")
        if not is_right:
            yield words


def _by_highs(path: Path, seconds: float) -> tuple[str, float]:
    solver = new_highs()
    solver.readModel(str(path))
    for option, number in (("time_limit", seconds), ("mip_rel_gap", _CLOSE / 10)):
        solver.setOptionValue(option, number)
    solver.run()
    status = solver.modelStatusToString(solver.getModelStatus()).lower()
    return status, float(solver.getInfo().objective_function_value)


def _by_walras(path: Path, engine: str, seconds: float) -> tuple[str, float, float]:
    nan = float("nan")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of what HiGHS passes over, too
        try:
            found = wl.solve(read_mps(path), engine=engine, time_limit=seconds)
        except wl.InfeasibleError:
            return "infeasible", nan, nan
        except wl.UnboundedError:
            return "unbounded", nan, nan
    return str(found.status), found.value, found.gap
