"""The HTML page of a comparison in shadow mode."""

from __future__ import annotations

from walras import plot
from walras.reports.shadow import clusters, facts_of, measures
from walras.reports.tables import Table, show
from walras.shadow import Shadow
from walras.shadow.wording import MEANING, sentences


def page(found: Shadow) -> plot.Report:
    """The page.

    Args:
        found: The comparison.
    """
    return plot.Report(
        title="What the exchange would have done",
        lead=f"{int(found.jobs.sum()):,} jobs of {len(found.jobs)} days, replayed against what "
        "the log did.",
        sections=[_measures(found), _days(found), _clusters(found), _limits(found)],
        facts=[(name, show(value)) for name, value in facts_of(found).items()],
        notice="" if str(found.status) == "feasible" else "Stopped: it covers the days so far.",
    )


def _measures(found: Shadow) -> plot.Section:
    words = "; ".join(f"{name}: {text}" for name, text in MEANING.items())
    caption = (
        f"Changes are the policy's less the log's, with {found.level:.0%} intervals for days "
        f"like these. The bound is what no policy can go below, with all times known. {words}."
    )
    table = _table(measures(found), caption)
    return plot.Section("The log against the policy", sentences(found), [table])


def _days(found: Shadow) -> plot.Section:
    figure = plot.Figure(
        plot.days_compared(found.by_day()), "Mean of the jobs that were submitted on each day."
    )
    return plot.Section("Day by day", (), (), [figure])


def _clusters(found: Shadow) -> plot.Section:
    return plot.Section("Clusters", (), [_table(clusters(found), "Shares of the jobs.")])


def _limits(found: Shadow) -> plot.Section:
    return plot.Section(
        "What this rests on",
        [
            "A job that the policy leaves where it ran takes the time that it took. Elsewhere its "
            "time comes from a model of the replayed days: the mean of its kind on that cluster, "
            "and the job's own deviation from it.",
            "The log shows no holds, quotas and dependencies: what waited for these counts as "
            "waiting. Failed jobs are not run again.",
            f"Rounds are {found.round_seconds:g} s apart, and a job waits for the next one.",
        ],
    )


def _table(table: Table, caption: str) -> plot.Table:
    rows = [[show(cell, table.digits) for cell in row] for row in table.rows]
    return plot.Table(table.columns, rows, caption)
