"""The report's section on data centres without a master."""

from __future__ import annotations

from walras import plot
from walras.cli import demo_network as centres
from walras.cli.common.output import show
from walras.cli.demo_network import Act
from walras.plot import network as drawn


def network_section(act: Act) -> plot.Section:
    """What went wrong, how far from the best it ended, and the audit.

    Args:
        act: The demo's last act.
    """
    table = centres.table(act)
    rows = [[show(cell) for cell in row] for row in table.rows]
    run = act.run
    audit = plot.Figure(
        drawn.budget_audit(run.frame(), run.problem.budget),
        "Left: what the living centres hold; the rest is on its way in messages. Right: all of it "
        "less the budget, in quanta, at every step.",
    )
    gap = plot.Figure(
        drawn.progress_of_methods(run.frame()),
        "Cost over that of the best split among those alive, by an independent solver.",
    )
    return plot.Section(
        "Without a master, while things go wrong",
        centres.facts(act),
        [plot.Table(table.columns, rows)],
        [gap, audit],
    )
