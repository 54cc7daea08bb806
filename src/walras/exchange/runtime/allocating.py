"""An allocation for the service: a round of a cluster is stated, solved, raced and explained."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd

from walras import checks
from walras.domains import cluster_scheduling as cs
from walras.domains.cluster_scheduling.rounds import dede_like
from walras.domains.cluster_scheduling.tables import ClusterTables, read_tables
from walras.errors import DataError, WalrasError
from walras.exchange.runtime.racing import Point, run_highs
from walras.exchange.runtime.working import Answer, Document, OnShare
from walras.progress import Progress
from walras.separable import Separable
from walras.solution import Solution
from walras.solving import solve
from walras.types import Floats

JOBS, RESOURCES = 20_000, 500
"""Jobs and types that a round may have here; ``walras solve cluster`` has no such limit."""

ENTRIES = 2_000_000
"""Pairs of a job and a type that a round may have here."""

NAME = 200
"""Characters that the name of a job or type may have here."""

_LARGEST = 1e30  # a number of a table; sums and products of larger ones leave double precision
_HIGHS: Document = dict.fromkeys(("status", "seconds", "value"))
_OURS: Document = _HIGHS | dict.fromkeys(("engine", "bound", "gap"))
_TABLES = ("throughput", "jobs", "resources")
_POINTS = 400  # of a trajectory that are sent
_NEGLIGIBLE = 1e-9  # shares of time below this are rounding
_SMALL = 1e-6  # shares of time below this are not shown

STATEMENTS: Mapping[str, Callable[..., Separable]] = {
    "max-min": cs.max_min,
    "throughput": cs.total_throughput,
    "proportional": cs.proportional_fairness,
}
"""Objectives by name."""


def allocation(facts: Document, data: bytes, on_share: OnShare) -> tuple[Document, Answer]:
    """Solve a round, let HiGHS solve it too, and stay ready to explain a job.

    Args:
        facts: ``objective``, ``normalise``, ``tolerance``, ``limit``, ``highs``, and of a sample
            ``jobs``, ``resources`` and ``seed``.
        data: JSON with the texts of the tables; empty for a sample.
        on_share: Called with how far it is, with value and bound so far.

    Returns:
        The result, and the answers to questions: a page of jobs, or why one got what it got.

    Raises:
        DataError: A table cannot be read, or is too large.
        InputError: The round cannot be stated.
    """
    on_share(0.0, "kernels")
    _warm(facts)
    on_share(0.0, "states")
    given, title, source = _sample(facts) if not data else _uploaded(json.loads(data))
    given = _normalised(given, facts["normalise"])
    problem = STATEMENTS[facts["objective"]](
        given.throughput, given.size, given.capacity, weight=given.weight
    )
    found: Document = {
        "title": title,
        "source": source,
        "jobs": len(given.size),
        "resources": len(given.capacity),
        "ours": _OURS | {"points": []},
        "highs": None,
        "highs_note": _without(facts),
        "violation": None,
        "least": None,
        "mean": None,
        "prices": [],
    }
    on_share(0.0, "solves", dict(found))
    solution = _solved(problem, facts, lambda points: on_share(0.25, "solves", found | points))
    x = np.where(solution.x > _NEGLIGIBLE, solution.x, 0.0)
    judged = cs.evaluate(given.throughput, given.size, given.capacity, x, given.weight)
    found |= {"ours": _ours(solution)} | _outcome(given, solution, judged)
    if not found["highs_note"]:
        on_share(0.5, "highs", dict(found))

        def so_far(points: list[Point]) -> bool:
            on_share(0.6, "highs", found | {"highs": _HIGHS | {"points": thinned(points)}})
            return False

        race = run_highs(problem, facts["limit"], so_far)
        if race is not None:
            found["highs"] = {
                "status": race.status,
                "seconds": race.seconds,
                "value": race.value,
                "points": thinned(race.points),
            }
    return found, _answers(given, solution, x, judged)


def _without(facts: Document) -> str:
    """Why HiGHS is not run; empty where it is."""
    if not facts["highs"]:
        return "HiGHS was not asked for"
    if facts["objective"] == "proportional":
        return "HiGHS solves linear and quadratic programs; this objective is a sum of logarithms"
    return ""


def _warm(facts: Document) -> None:
    """Compile what the solve needs, once on a machine: its seconds are not the solve's."""
    small = dede_like(16, 400)
    problem = STATEMENTS[facts["objective"]](small.throughput, small.size, small.capacity)
    solve(problem, engine="interior", tolerance=1e-3)


def _sample(facts: Document) -> tuple[ClusterTables, str, str]:
    _check(facts["jobs"], facts["resources"])
    drawn = dede_like(facts["resources"], facts["jobs"], facts["seed"])
    runs = (drawn.throughput > 0).any(axis=0).to_numpy()  # of few types, some jobs fit none
    speeds = drawn.throughput.loc[:, runs]
    labels = list(speeds.columns)
    tables = ClusterTables(
        throughput=speeds,
        size=pd.Series(drawn.size[runs], labels),
        capacity=pd.Series(drawn.capacity, list(speeds.index)),
        weight=pd.Series(np.ones(len(labels)), labels),
        steps=None,
        quota=None,
        previous=None,
    )
    title = f"DeDe-{facts['resources']}-like round of {len(labels):,} jobs"
    return tables, title, drawn.source


def _uploaded(texts: Mapping[str, str]) -> tuple[ClusterTables, str, str]:
    for name in _TABLES:
        _check_text(name, texts[name])
    with tempfile.TemporaryDirectory() as folder:
        paths = {name: Path(folder) / f"{name}.csv" for name in _TABLES}
        for name, path in paths.items():
            path.write_text(texts[name], encoding="utf-8")
        try:
            tables = read_tables(paths["throughput"], paths["jobs"], paths["resources"])
        except WalrasError as error:
            for part in ("what", "where", "allowed", "remedy"):
                for name, path in paths.items():
                    setattr(error, part, getattr(error, part).replace(str(path), name))
            raise
    _check(len(tables.size), len(tables.capacity))
    _check_names(tables)
    _check_numbers(tables)
    return tables, f"{len(tables.size):,} jobs of uploaded tables", "uploaded"


def _check_names(tables: ClusterTables) -> None:
    """Refuse names that no link could ask about."""
    for where, names in (("jobs", tables.size.index), ("resources", tables.capacity.index)):
        name = max(map(str, names), key=len)
        if len(name) > NAME:
            raise DataError(
                f"has a name of {len(name):,} characters, {name[:20]}…",
                where=where,
                allowed=f"at most {NAME} characters here",
                remedy="shorten it, or solve it on your own machine: walras solve cluster",
            )


def _check_numbers(tables: ClusterTables) -> None:
    """Refuse numbers whose sums no computer holds."""
    parts = {
        "throughput": tables.throughput.to_numpy(),
        "jobs": np.concatenate([tables.size.to_numpy(), tables.weight.to_numpy()]),
        "resources": tables.capacity.to_numpy(),
    }
    for where, numbers in parts.items():
        largest = float(np.max(numbers))
        if largest > _LARGEST:
            raise DataError(
                f"has the number {largest:g}",
                where=where,
                allowed=f"at most {_LARGEST:g}",
                remedy="state it in a larger unit",
            )


def _check_text(name: str, text: str) -> None:
    """Refuse what would take much memory to read: many cells, or columns with endless names."""
    head = text.partition("\n")[0].split(",")
    cells = text.count(",") + text.count("\n")
    most = 2 * ENTRIES if name == "throughput" else 10 * JOBS
    for what, count, limit in (
        ("cells", cells, most),
        ("columns", len(head), RESOURCES + 20),
        ("characters in the name of a column", max(map(len, head)), 200),
    ):
        if count > limit:
            raise DataError(
                f"has {count:,} {what}",
                where=name,
                allowed=f"at most {limit:,} here",
                remedy="solve it on your own machine: walras solve cluster",
            )


def _check(jobs: int, resources: int) -> None:
    most = min(JOBS, ENTRIES // max(resources, 1))
    for what, count, limit in (("types", resources, RESOURCES), ("jobs", jobs, most)):
        if count > limit:
            raise DataError(
                f"has {count:,} {what}",
                where="the round",
                allowed=f"at most {limit:,} here, with {resources:,} types",
                remedy="solve it on your own machine: walras solve cluster",
            )


def _normalised(given: ClusterTables, unit: str) -> ClusterTables:
    if unit == "none":
        return given
    per: Literal["gpu", "share"] = "gpu" if unit == "gpu" else "share"
    scaled = cs.normalise(given.throughput, given.size, given.capacity, per=per)
    frame = pd.DataFrame(scaled, given.throughput.index, given.throughput.columns)
    return replace(given, throughput=frame)


def _solved(problem: Separable, facts: Document, on_points: Callable[[Document], None]) -> Solution:
    points: list[Point] = []

    def on_progress(at: Progress) -> bool:
        points.append((at.elapsed, _finite(at.value), _finite(at.bound)))
        on_points({"ours": _OURS | {"points": thinned(points)}})
        return False

    return solve(
        problem,
        tolerance=facts["tolerance"],
        time_limit=facts["limit"],
        threads=1,
        on_progress=on_progress,
    )


def _ours(solution: Solution) -> Document:
    steps = [(at.elapsed, _finite(at.value), _finite(at.bound)) for at in solution.history]
    seconds = solution.timings.total
    last = (seconds, _finite(solution.value), _finite(solution.bound))
    return {
        "status": str(solution.status),
        "engine": solution.engine,
        "seconds": seconds,
        "value": last[1],
        "bound": last[2],
        "gap": _finite(solution.gap),
        "points": thinned([*steps, last]),
    }


def _outcome(given: ClusterTables, solution: Solution, judged: cs.Evaluation) -> Document:
    """Prices of the types, and what an evaluation without any solver says of the allocation."""
    names = ("resource", "capacity", "used", "price")
    prices = np.abs(solution.prices.resources).tolist()
    types = list(given.throughput.index)
    columns = (types, judged.capacity.tolist(), judged.used.tolist(), prices)
    return {
        "violation": float(judged.violation),
        "least": float(np.min(judged.throughput / judged.weight)),
        "mean": float(np.mean(judged.throughput)),
        "prices": [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)],
    }


def thinned(points: Sequence[Point]) -> list[Point]:
    """At most 400 points, the first and the last among them.

    Example:
        >>> len(thinned([(float(k), 0.0, 1.0) for k in range(1000)]))
        400
    """
    if len(points) <= _POINTS:
        return list(points)
    kept = np.unique(np.linspace(0, len(points) - 1, _POINTS).round().astype(int))
    return [points[k] for k in kept.tolist()]


def _answers(given: ClusterTables, solution: Solution, x: Floats, judged: cs.Evaluation) -> Answer:
    names, types = list(given.throughput.columns), list(given.throughput.index)
    place = {job: k for k, job in enumerate(names)}
    order = np.argsort(judged.throughput / judged.weight, kind="stable")
    size = np.asarray(given.size, dtype=np.float64)

    def row(k: int) -> Document:
        return {
            "job": names[k],
            "size": float(size[k]),
            "weight": float(judged.weight[k]),
            "throughput": float(judged.throughput[k]),
            "shares": {types[i]: float(x[i, k]) for i in np.flatnonzero(x[:, k] > _SMALL).tolist()},
        }

    def answer(question: Document) -> Document:
        job = question.get("job")
        if job is not None:
            checks.one_of(job, "job", names, "job")
            return row(place[job]) | _explained(solution, job)
        like, first, most = question["like"], question["first"], question["most"]
        matching = [k for k in order.tolist() if like in names[k]]
        page = matching[first : first + most]
        return {"items": [row(k) for k in page], "total": len(matching)}

    return answer


def _explained(solution: Solution, job: str) -> Document:
    why = solution.explain(job)
    names = ("resource", "amount", "benefit", "cost", "misses_by", "used")
    choices = [
        {name: _plain(value) for name, value in zip(names, row, strict=True)}
        for row in why.choices[list(names)].itertuples(index=False)
    ]
    return {"words": str(why), "price": _finite(why.price), "choices": choices}


def _plain(value: Any) -> Any:
    value = value.item() if isinstance(value, np.generic) else value
    return _finite(value) if isinstance(value, float) else value


def _finite(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
