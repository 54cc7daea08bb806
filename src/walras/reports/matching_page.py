"""The HTML page of a plan: which task goes where, why, and how good that is."""

from __future__ import annotations

from walras import plot
from walras.matching import Plan
from walras.reports.matching import clusters, facts_of, legend, shown
from walras.reports.tables import Table, show
from walras.status import Status

_LISTED = 500  # tasks in the table
_REASON = 6  # the column of sentences


def page(plan: Plan) -> plot.Report:
    """The page.

    Args:
        plan: The plan.
    """
    return plot.Report(
        title=f"{plan.round.shape[1]} tasks placed on {plan.round.shape[0]} clusters",
        lead=_lead(plan),
        sections=[_clusters(plan), _tasks(plan)],
        facts=[(name, show(value)) for name, value in facts_of(plan, 0).items()],
    )


def _lead(plan: Plan) -> str:
    proof = (
        "no placement ends sooner"
        if plan.status is Status.OPTIMAL
        else f"no placement ends more than {100 * plan.gap:.2g} % sooner"
    )
    return (
        f"The slowest cluster ends at {plan.makespan:.6g}; {proof}. Mean chance of success "
        f"{plan.mean_success:.3f}, asked {plan.round.min_success:g}."
    )


def _clusters(plan: Plan) -> plot.Section:
    figure = plot.Figure(
        plot.matching(plot.plan_frame(plan), "time, in the unit of the table", plan.bound),
        "Each bar is a task; the fainter, the less likely it succeeds.",
    )
    binding = [f"What binds: {'; '.join(plan.binding)}."] if plan.binding else []
    return plot.Section("Clusters", binding, [_table(clusters(plan), "")], [figure])


def _tasks(plan: Plan) -> plot.Section:
    table = shown(plan, _LISTED)
    reasons = {placement.task: placement.reason for placement in plan.placements()}
    rows = [(*row, reasons[str(row[0])]) for row in table.rows]
    full = Table((*table.columns, "in words"), rows)
    return plot.Section("Tasks", (), [_table(full, f"{table.title}. {legend(plan, _LISTED)}")])


def _table(table: Table, caption: str) -> plot.Table:
    rows = [[show(cell, 4) for cell in row] for row in table.rows]
    words = frozenset(k for k in (_REASON,) if k < len(table.columns))
    return plot.Table(table.columns, rows, caption, words=words)
