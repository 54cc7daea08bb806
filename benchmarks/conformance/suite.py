"""Copy a package's own tests to a folder, and run them there in a process of their own."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
_RAN = (0, 1, 5)  # pytest's exit codes: all passed, some failed, none selected
_LAST = 20  # lines of its output that are shown where it ended otherwise
WALRAS, RECORD = "CONFORMANCE_WALRAS", "CONFORMANCE_RECORD"  # what the plugin reads


@dataclass(frozen=True)
class Outcome:
    """How a test ended.

    Attributes:
        passed: Whether all of its phases passed.
        skipped: Whether it was not run.
        solves: Problems that Walras solved in it.
        words: The last line of its failure.
    """

    passed: bool
    skipped: bool
    solves: int
    words: str


def copied(package: str, folder: Path, files: Sequence[str] | None = None) -> Path:
    """The package's tests, or some of their files, in a folder that is no package."""
    spec = importlib.util.find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise SystemExit(f"{package} is not installed: install it, then run this again")
    source = Path(spec.submodule_search_locations[0]) / "tests"
    if not source.is_dir():
        raise SystemExit(f"{package} was installed without its tests: install its wheel")
    target = folder / "tests"
    if files:
        target.mkdir()
        for name in files:
            if not (source / name).is_file():
                raise SystemExit(f"{package} has no tests in {name}")
            shutil.copy(source / name, target)
        return target
    shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
    (target / "__init__.py").unlink(missing_ok=True)
    return target


def run(folder: Path, only: str | None, *, through_walras: bool) -> dict[str, Outcome]:
    """Every test's outcome by its name, ``file::class::test``."""
    record = folder.parent / ("walras.jsonl" if through_walras else "baseline.jsonl")
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "-p",
        "benchmarks.conformance.plugin",
        "--rootdir",
        str(folder),
        "-c",
        os.devnull,
        *(["-k", only] if only else []),
    ]
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]),
        RECORD: str(record),
        WALRAS: "1" if through_walras else "",
    }
    print(f"{'with Walras' if through_walras else 'as they are'}: ", end="", flush=True)
    ended = subprocess.run(
        command, cwd=folder, env=environment, check=False, capture_output=True, text=True
    )
    print((ended.stdout.strip().splitlines() or ["pytest said nothing"])[-1])
    if ended.returncode not in _RAN:
        last = "\n".join((ended.stdout + ended.stderr).splitlines()[-_LAST:])
        raise SystemExit(f"pytest ended with {ended.returncode}:\n{last}")
    record.touch()
    return _read(record)


def _read(record: Path) -> dict[str, Outcome]:
    """The phases of each test as one outcome."""
    found: dict[str, Outcome] = {}
    for line in record.read_text(encoding="utf-8").splitlines():
        phase = json.loads(line)
        before = found.get(phase["test"], Outcome(True, False, 0, ""))
        found[phase["test"]] = Outcome(
            before.passed and phase["outcome"] == "passed",
            before.skipped or phase["outcome"] == "skipped",
            before.solves + phase["solves"],
            phase["words"] or before.words,
        )
    return found
