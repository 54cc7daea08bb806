"""The HTML page of a cluster's allocation: who got what, how good it is, and why."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from walras import plot
from walras.reports.cluster import ClusterResult, worth_table
from walras.reports.tables import Table
from walras.reports.tables import show as shown
from walras.solution import Solution
from walras.status import Status

_LISTED = 200  # jobs in the table
_DRAWN = 20_000  # pairs of a resource and a job up to which the map can be read


def page(
    result: ClusterResult, explained: Sequence[str] = (), before: Solution | None = None
) -> plot.Report:
    """The page.

    Args:
        result: The allocation and the tables it is for.
        explained: Jobs to explain; the worst-off one where none is named.
        before: An earlier solution, to say what changed.
    """
    solution = result.solution
    worst = str(result.jobs(1).rows[0][0])
    reasons = [
        plot.Section(f"Why job {job} got what it got", str(solution.explain(job)).splitlines())
        for job in explained or (worst,)
    ]
    changed = (
        []
        if before is None
        else [plot.Section("What changed", str(solution.diff(before)).splitlines())]
    )
    return plot.Report(
        title=f"A cluster shared: {solution.problem.objective}",
        lead=_lead(result),
        sections=[_worth(result), *reasons, *changed, _who(result)],
        facts=[(name, shown(value)) for name, value in result.facts().items()],
        notice=_left_out(result),
    )


def _lead(result: ClusterResult) -> str:
    judged, solution = result.judged, result.solution
    proof = (
        "No allocation can do better"
        if solution.status is Status.OPTIMAL
        else "How much better one can be is bounded"
    )
    return (
        f"{len(judged.throughput):,} jobs share {judged.capacity.sum():,.6g} GPUs of "
        f"{len(judged.capacity)} types, {100 * judged.utilisation:.1f} % in use. {proof}: gap "
        f"{solution.gap:.1e} ({solution.gap_unit})."
    )


def _left_out(result: ClusterResult) -> str:
    given = result.given
    parts = [f"Drained: {', '.join(given.drained)}."] if given.drained else []
    if given.left_out:
        parts.append(f"Rows left out: {'; '.join(given.left_out.values())}.")
    return " ".join(parts)


def _who(result: ClusterResult) -> plot.Section:
    given = result.given
    resources, jobs = list(given.throughput.index), list(given.throughput.columns)
    frame = plot.throughput_frame({"this allocation": result.judged.throughput})
    figures = [
        plot.Figure(
            plot.throughput_distribution(frame),
            "Share of jobs with at most a given throughput, in the units of the table.",
        )
    ]
    if result.x.size <= _DRAWN:
        drawn = plot.allocation_frame(result.x, resources, jobs)
        figures.append(
            plot.Figure(plot.allocation_map(drawn), "Shares of the round's time on each resource.")
        )
    table = result.jobs(_LISTED)
    return plot.Section("Who runs where", (), [_table(table, f"{table.title}.")], figures)


def _worth(result: ClusterResult) -> plot.Section:
    prices = np.abs(result.solution.prices.resources)
    tables = [_table(result.resources(), "Prices in units of the objective.")]
    quotas = result.quotas()
    if quotas is not None:
        tables.append(_table(quotas, "Groups, and what one more GPU of their quota would add."))
    tables.append(_table(worth_table(result.solution), "How far each price holds."))
    figures = []
    if prices.max(initial=0.0) > 0:
        frame = plot.price_frame({"price": prices}, list(result.given.throughput.index))
        figures.append(
            plot.Figure(
                plot.prices(frame, "price of one more"),
                "What one more of each resource would add to the objective.",
            )
        )
    return plot.Section("What a GPU is worth", (), tables, figures)


def _table(table: Table, caption: str) -> plot.Table:
    rows = [[shown(cell, 4) for cell in row] for row in table.rows]
    return plot.Table(table.columns, rows, caption)
