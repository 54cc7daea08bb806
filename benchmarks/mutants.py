"""Mutation tests: change one operator of a room, run the room's own tests, count who notices.

    python -m benchmarks.mutants certificate --sample 100 --seed 0

Mutants are mutmut's: comparisons, signs, arithmetic and logical operators, conditions, ``break``
and ``continue``, numbers and truth values. Words of messages and whole assignments are left alone.
A sample is drawn by the seed; without one, every mutant is run. A mutant that no test kills is
printed; one that computes the same as the original is listed in ``equivalent/ROOM.toml`` with its
reason.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
SCRATCH = Path(__file__).parent / ".scratch" / "mutants"
EQUIVALENT = (Path(__file__).parent / "equivalent").resolve()
WANTED = 0.9  # part of the mutants that are not equivalent
_COPIED = (
    "src",
    "tests",
    "benchmarks",
    "docs",
    "examples",
    "pyproject.toml",
    "README.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
)
_NOT_COPIED = shutil.ignore_patterns(
    ".scratch", "pictures", "results", "__pycache__", "_build", ".env-*"
)
_OPERATORS = (
    "operator_number",
    "operator_name",
    "operator_remove_unary_ops",
    "operator_keywords",
    "operator_swap_op",
    "operator_if_exp",
)


@dataclass(frozen=True)
class Room:
    """What is mutated, and the tests that should notice.

    Attributes:
        source: Files, as patterns.
        tests: Files and folders.
    """

    source: tuple[str, ...]
    tests: tuple[str, ...]


ROOMS = {
    "certificate": Room(("src/walras/certificate/*",), ("tests/certificate",)),
    "separable": Room(("src/walras/separable/*",), ("tests/separable",)),
    "protocol": Room(("src/walras/network/protocol/*",), ("tests/network/protocol",)),
    "quanta": Room(
        ("src/walras/network/problem/quanta.py",), ("tests/network/problem/test_quanta.py",)
    ),
    "matching": Room(("src/walras/matching/*",), ("tests/matching",)),
    "predict": Room(("src/walras/predict/*",), ("tests/predict",)),
    "load_balancing": Room(
        ("src/walras/domains/load_balancing/*",), ("tests/domains/load_balancing",)
    ),
}


def main(arguments: list[str] | None = None) -> int:
    """Run the mutants of a room; 0 if enough are killed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.mutants", description=__doc__)
    parser.add_argument("room", choices=ROOMS)
    parser.add_argument("--sample", type=int, help="mutants drawn; all if left out")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--only", default="", help="only mutants whose name contains this")
    given = parser.parse_args(arguments)
    folder = SCRATCH / given.room
    _copy(folder, ROOMS[given.room])
    os.chdir(folder)
    found = list(_run(given.sample, given.seed, given.workers, given.only))
    return _judge(found, given.room, _equivalent(given.room))


def _equivalent(room: str) -> dict[tuple[str, str], str]:
    """File and changed lines of each mutant that computes the same, with the reason."""
    path = EQUIVALENT / f"{room}.toml"
    listed = tomllib.loads(path.read_text())["mutant"] if path.exists() else []
    return {(f"src/walras/{one['file']}", one["line"]): one["why"] for one in listed}


def _copy(folder: Path, room: Room) -> None:
    """A fresh copy of the checkout, configured for the room."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name in _COPIED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, folder / name, ignore=_NOT_COPIED)
        elif source.exists():
            shutil.copy(source, folder / name)
    with (folder / "pyproject.toml").open("a") as file:
        file.write(
            "\n[tool.mutmut]\n"
            'source_paths = ["src/walras"]\n'
            f"only_mutate = {list(room.source)}\n"
            f"pytest_add_cli_args_test_selection = {list(room.tests)}\n"
            'also_copy = ["tests", "benchmarks", "docs", "examples", "pyproject.toml"]\n'
            "timeout_constant = 10.0\n"
            "timeout_multiplier = 4.0\n"
            "use_git_change_detection = false\n"
            "track_dependencies = false\n"
        )


@dataclass(frozen=True)
class Mutant:
    """What became of one mutant.

    Attributes:
        file: Where it is.
        name: mutmut's name.
        change: Its lines, before and after.
        fate: ``killed``, ``timed out`` (the tests never ended), ``survived`` or ``untested``.
    """

    file: str
    name: str
    change: str
    fate: str

    @property
    def key(self) -> tuple[str, str]:
        """The file and the changed lines, as the list of equivalent mutants has them."""
        added = [line[1:].strip() for line in self.change.splitlines() if line.startswith("+")]
        return self.file, " ".join(added)


def _run(sample: int | None, seed: int, workers: int, only: str) -> Iterator[Mutant]:
    """Let mutmut run the mutants that are drawn."""
    # Imported here: mutmut reads its configuration from the folder it stands in.
    import mutmut.__main__ as mutmut
    from mutmut.mutation import mutators
    from mutmut.mutation.diff_apply import get_diff_for_mutant
    from mutmut.stats import status_by_exit_code

    mutators.mutation_operators[:] = [
        pair for pair in mutators.mutation_operators if pair[1].__name__ in _OPERATORS
    ]
    every = mutmut.collect_source_file_mutation_data
    drawn: list[Any] = []

    def some(**options: Any) -> Any:
        mutants, by_path = every(**options)
        chosen = [one for one in mutants if only in one[1]]
        if sample is not None and sample < len(chosen):
            chosen = random.Random(seed).sample(chosen, sample)
        print(f"{len(chosen)} of {len(mutants)} mutants")
        drawn[:] = chosen
        return chosen, by_path

    mutmut.collect_source_file_mutation_data = some
    mutmut._run((), workers)
    for data, name, _ in drawn:
        code = data.exit_code_by_key[name]
        lines = get_diff_for_mutant(name).splitlines()
        change = [line for line in lines if line[:1] in "+-" and line[:3] not in ("+++", "---")]
        status = status_by_exit_code[code]
        known = {0: "survived", 33: "untested", None: "not run"}
        fate = "timed out" if status == "timeout" else known.get(code, "killed")
        yield Mutant(str(data.path), name, "\n".join(change), fate)


def _judge(found: list[Mutant], room: str, equivalent: dict[tuple[str, str], str]) -> int:
    """Print who survived, and what part was killed."""
    dead = ("killed", "timed out")
    left = [one for one in sorted(found, key=lambda m: m.name) if one.fate not in dead]
    alive = [one for one in left if one.key not in equivalent]
    for one in alive:
        print(f"{one.fate} {one.file} {one.name}\n{one.change}")
    judged = len(found) - len(left) + len(alive)
    killed = judged - len(alive)
    part = killed / judged if judged else 1.0
    print(
        f"{room}: {killed} of {judged} mutants killed ({100 * part:.1f} %), {len(alive)} survived; "
        f"{len(left) - len(alive)} more are equivalent; "
        f"{sum(one.fate == 'timed out' for one in found)} of the killed by time-out"
    )
    return 0 if part >= WANTED else 1


if __name__ == "__main__":
    sys.exit(main())
