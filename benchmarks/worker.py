"""The process that runs one method on one instance: ``python -m benchmarks.worker FOLDER``.

It reads ``request.json`` and ``instance.npz`` in the folder, makes a run for each line on standard
input, and appends one JSON line a run to ``events.jsonl``, so that a process stopped at its limit
leaves what it had finished.
"""

from __future__ import annotations

import json
import sys
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path

import numpy as np

from benchmarks import memory
from benchmarks.flow import read_instance, with_previous
from benchmarks.peers import METHODS
from benchmarks.problem import Budget, Outcome


def main(folder: Path) -> None:
    """Warm the method up on a tiny instance, then run it as often as it is told to."""
    request = json.loads((folder / "request.json").read_text(encoding="utf-8"))
    instance = read_instance(folder / "instance.npz")
    if (folder / "previous.npz").exists():
        instance = with_previous(instance, read_instance(folder / "previous.npz"))
    method = METHODS[request["method"]]
    budget = Budget(**request["budget"])
    if request["warm_up"]:
        method.run(instance.corner(), request["objective"], budget)
    _record(folder, {"event": "ready", "versions": _versions(method.packages)})
    for run, _ in enumerate(sys.stdin):
        date = datetime.now(UTC).isoformat(timespec="seconds")
        before = memory.reset_peak()
        outcome = method.run(instance, request["objective"], budget)
        peak = memory.peak()
        if run == 0 and outcome.x is not None:
            np.save(folder / "x.npy", outcome.x)
            if outcome.prices is not None:
                np.save(folder / "prices.npy", outcome.prices)
        growth = (
            None if peak is None or before is None else (peak - before) / (8 * instance.entries)
        )
        event = {"event": "run", "date": date, "memory_arrays": growth, "peak": peak}
        _record(folder, event | _scalars(outcome))


def _scalars(outcome: Outcome) -> dict[str, object]:
    return {
        "build": outcome.build,
        "solve": outcome.solve,
        "iterations": outcome.iterations,
        "message": outcome.message,
        "numbers": outcome.numbers,
        "trace": list(outcome.trace),
        "has_x": outcome.x is not None,
    }


def _versions(packages: tuple[str, ...]) -> dict[str, str]:
    return {"python": sys.version.split()[0], **{p: metadata.version(p) for p in packages}}


def _record(folder: Path, event: dict[str, object]) -> None:
    with (folder / "events.jsonl").open("a", encoding="utf-8") as file:
        file.write(json.dumps(event) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
