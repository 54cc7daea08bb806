"""Measure a cell: a process with a wall limit, then the independent judgement, then a record."""

from __future__ import annotations

import math
import re
import shutil
import statistics
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import gradients
from benchmarks.assigning import AssignInstance, judge_assign
from benchmarks.balancing import BalanceInstance
from benchmarks.balancing_rounds import judge_balance
from benchmarks.cell import Cell
from benchmarks.environments import interpreter, prepare
from benchmarks.flow import AnyBuilt, FlowInstance
from benchmarks.flow_judge import judge_flow
from benchmarks.instances import build
from benchmarks.judge import Verdict, judge
from benchmarks.machine import machine
from benchmarks.matching import MatchInstance, judge_match
from benchmarks.peers import METHODS
from benchmarks.problem import Instance
from benchmarks.recipes import RecipeInstance
from benchmarks.turns import Worker
from walras.errors import EngineError
from walras.kernels.devices import CPU, check_device

HERE = Path(__file__).parent

# An absolute path: no word before its first slash, or a drive; its last part is kept.
_PATH = re.compile(r"(?<![\w.:/\\])(?:[A-Za-z]:)?(?:[/\\][^/\\:'\"\s]+)*[/\\]([^/\\:'\"\s]+)")

Record = dict[str, Any]


def measure(cell: Cell) -> Record:
    """Run a cell in a process of its own and judge what it returns."""
    return measure_in_turns([cell])[0]


def measure_in_turns(cells: Sequence[Cell]) -> list[Record]:
    """Measure cells beside each other: one run of each, then the next run of each, and so on.

    What else the computer does then slows all of them alike. A method whose first run takes over
    :data:`SLOW` has that run alone.
    """
    with ExitStack() as stack:
        workers = [_prepared(cell, stack) for cell in cells]
        running = [worker for worker in workers if isinstance(worker, Worker)]
        for turn in range(max(cell.runs for cell in cells)):
            for worker in running:
                if turn < worker.cell.runs and worker.is_willing:
                    worker.run()
        for worker in running:
            worker.close()
        names = [worker.cell.name for worker in running]
        return [_record(found, names) if isinstance(found, Worker) else found for found in workers]


def _base(cell: Cell) -> Record:
    return {
        "cell": _described(cell),
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
        "machine": described_machine(METHODS[cell.method].device),
        "threads": cell.threads,
    }


def _prepared(cell: Cell, stack: ExitStack) -> Worker | Record:
    """A worker that is ready to run, or the record that says why there is none."""
    base, method = _base(cell), METHODS[cell.method]
    missing = _missing(method.device)
    if missing:
        return base | {"status": "not run", "message": missing}
    problem = prepare(method.environment)
    python = interpreter(method.environment)
    if python is None:
        return base | {"status": "no environment", "message": problem}
    instance = build(cell.spec)
    base["cell"] |= {"resources": instance.shape[0], "demands": instance.shape[1]}
    folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
    instance.save(folder / "instance.npz")
    if cell.spec.churn:
        build(cell.spec.previous).save(folder / "previous.npz")
    worker = Worker(cell, instance, folder, python, base)
    stack.callback(worker.close)
    worker.start()
    return worker


def _record(worker: Worker, names: Sequence[str]) -> Record:
    """The record of a worker that has ended."""
    cell, instance, folder = worker.cell, worker.instance, worker.folder
    record = worker.base | _summary(cell, worker.events, worker.is_stopped, folder)
    record["in_turns"] = sorted(set(names) - {cell.name})
    record["source"] = instance.source
    record["load"] = instance.load
    record["entries"] = instance.paths if isinstance(instance, FlowInstance) else None
    if (folder / "x.npy").exists():
        verdict = _verdict(instance, cell.objective, folder)
        record |= _judged(verdict)
        if verdict.bound is not None and math.isfinite(verdict.bound):
            record["numbers"] = record.get("numbers", {}) | {"bound": verdict.bound}
    record["elapsed"] = worker.seconds
    return record


def _missing(device: str) -> str:
    """Why a device cannot be used here; nothing if it can."""
    if device == CPU:
        return ""
    try:
        check_device(device)
    except EngineError as error:
        return error.what
    return ""


def _verdict(instance: AnyBuilt, objective: str, folder: Path) -> Verdict:
    """The independent judgement of what the worker has left."""
    x = np.load(folder / "x.npy")
    if isinstance(instance, Instance):
        return judge(instance, objective, x)
    if isinstance(instance, MatchInstance) and objective == gradients.OBJECTIVE:
        return gradients.judge_gradient(instance, x)
    if isinstance(instance, MatchInstance):
        return judge_match(instance, objective, x)
    if isinstance(instance, AssignInstance):
        return judge_assign(instance, x)
    if isinstance(instance, BalanceInstance):
        return judge_balance(instance, x)
    if isinstance(instance, RecipeInstance):
        raise TypeError("a recipe has no allocation to judge")
    found = folder / "prices.npy"
    return judge_flow(instance, objective, x, np.load(found) if found.exists() else None)


def _judged(verdict: Verdict) -> Record:
    if not math.isfinite(verdict.violation):
        return {"status": "failed", "message": "the allocation returned is not finite"}
    # A job left with nothing makes some objectives infinite, which JSON cannot say.
    value = verdict.value if math.isfinite(verdict.value) else None
    return {"value": value, "violation": verdict.violation, "lowest": verdict.utilities}


def _summary(cell: Cell, events: list[Record], stopped: bool, folder: Path) -> Record:
    """Medians and spread over the runs, or how it failed."""
    ready = next((e for e in events if e["event"] == "ready"), None)
    runs = [e for e in events if e["event"] == "run"]
    versions: Mapping[str, str] = ready["versions"] if ready else {}
    if not runs:
        log = (folder / "log.txt").read_text(encoding="utf-8", errors="replace").strip()
        status = "stopped" if stopped else "failed"
        # The error alone: the lines before it tell where files lie.
        message = "" if stopped else without_paths(log.rpartition("\n")[2])
        return {"status": status, "versions": versions, "message": message}
    totals = [run["build"] + run["solve"] for run in runs]
    overran = cell.objective != "dede-toy" and totals[0] >= 0.99 * cell.limit
    memory = [run["memory_arrays"] for run in runs if run["memory_arrays"] is not None]
    peaks = [run["peak"] for run in runs if run["peak"] is not None]
    return {
        "status": "stopped" if stopped or overran else "ran",
        "versions": versions,
        "runs": len(runs),
        "dates": [run["date"] for run in runs],
        "build": statistics.median(run["build"] for run in runs),
        "solve": statistics.median(run["solve"] for run in runs),
        "total": statistics.median(totals),
        "spread": [min(totals), max(totals)],
        "memory_arrays": statistics.median(memory) if memory else None,
        "peak_bytes": max(peaks) if peaks else None,
        "iterations": runs[0]["iterations"],
        "message": runs[0]["message"],
        "numbers": runs[0]["numbers"] | _timed(runs),
        "trace": runs[0]["trace"],
    }


def _timed(runs: list[Record]) -> dict[str, float]:
    """Medians of the numbers that are times or ratios of times, which differ between runs."""
    names = [name for name in runs[0]["numbers"] if name.endswith(("_seconds", "_ratio"))]
    return {name: statistics.median(run["numbers"][name] for run in runs) for name in names}


def without_paths(message: str) -> str:
    """A message with the name of a file in the place of its whole path: it says no more to others.

    >>> without_paths("ImportError: /opt/env/lib/libsolver.so.9: undefined symbol: _Z3run")
    'ImportError: libsolver.so.9: undefined symbol: _Z3run'
    """
    return _PATH.sub(r"\1", message)


def _described(cell: Cell) -> Record:
    return {
        "name": cell.name,
        "benchmark": cell.benchmark,
        "instance": cell.spec.name,
        "seed": cell.spec.seed,
        "objective": cell.objective,
        "method": cell.method,
        "limit": cell.limit,
    }


def described_machine(device: str = "cpu") -> Record:
    """The facts of this machine that belong to its measurements; a GPU where they ran on one."""
    gpu = {} if device == "cpu" or _missing(device) else {"gpu": _gpu(device)}
    return {**machine(), **gpu}


def _gpu(device: str) -> str:
    import torch

    query = "nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"
    drivers = "" if shutil.which(query[0]) is None else subprocess.check_output(query, text=True)
    driver = "".join(f" (driver {version})" for version in drivers.splitlines()[:1])
    return f"{torch.cuda.get_device_name(device)}{driver} with torch {torch.__version__}"
