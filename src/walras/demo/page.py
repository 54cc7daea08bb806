"""The demo's HTML page: what it says and shows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from walras import plot, predict
from walras.demo import learning, placement
from walras.demo import network as centres
from walras.demo import scheduling as compared
from walras.demo.learning import LearningSection
from walras.demo.network import NetworkSection
from walras.demo.placement import PlacementSection
from walras.demo.run import Demo
from walras.demo.scheduling import Comparison
from walras.demo.summary import headline
from walras.plot import network as drawn
from walras.reports.tables import Table, show
from walras.status import Status

_TITLE = "A scheduling round: solved, compared, certified"
_REASON = 6  # the column of sentences among the placements
_JUDGED = (
    "Judged by the true times: makespan, excess over the oracle, mean chance of success, share "
    "of the clusters' time in use; certified gap of the matching, seconds of training."
)


def build(demo: Demo) -> plot.Report:
    """The page on tasks placed, rounds compared and a network, as far as the demo came.

    Args:
        demo: What it found.
    """
    placed, comparisons = demo.placement, demo.rounds
    sections = [] if placed is None else [placing_section(placed)]
    if placed is not None and placed.trained is not None:
        sections.append(learning_section(placed.trained))
    if comparisons:
        sections.append(_results(comparisons[0]))
        if comparisons[0].exact:
            made = (_who_runs_where, _proof, _why)
            sections += [make(comparisons[0]) for make in made]
    sections += [_large(c) for c in comparisons[1:]]
    sections += [] if demo.network is None else [network_section(demo.network)]
    return plot.Report(
        title=_TITLE if comparisons else "Tasks placed by predictions",
        lead=_lead(comparisons[0]) if comparisons else "Interrupted before the scheduling round.",
        sections=sections,
        facts=_facts(demo.record()),
        notice=f"Data: {headline(demo)}.",
    )


def write_page(demo: Demo, path: Path) -> None:
    """Write the demo's HTML page.

    Raises:
        DataError: The file cannot be written.
    """
    plot.write(build(demo), path)


def _titled(title: str, source: str) -> str:
    """A heading that says when the numbers below it are synthetic."""
    return title if source == "measured" else f"{title} (synthetic data)"


def _lead(c: Comparison) -> str:
    best, greedy = c.of(compared.MAX_MIN), c.of(compared.GREEDY)
    if best is None or best.solution is None or greedy is None:
        return f"{c.round.title}: interrupted before all policies were compared."
    proved = best.solution.status is Status.OPTIMAL
    claim = "no allocation can do better" if proved else "the gap below is what may be missing"
    return (
        f"On {c.round.title}, the worst-off job runs {best.judged.least:.2f} times as fast as with "
        f"an equal share of the cluster, and {claim}. A greedy placement leaves it at "
        f"{greedy.judged.least:.2f}."
    )


def _results(c: Comparison) -> plot.Section:
    figures = []
    if c.outcomes:
        frame = plot.throughput_frame({o.policy: o.judged.throughput for o in c.outcomes})
        figures.append(
            plot.Figure(
                plot.throughput_distribution(frame),
                "Share of jobs with at most a given throughput. Max-min lifts the left end as far "
                "as it goes; proportional fairness gives up a little there for more elsewhere.",
            )
        )
    return plot.Section(
        _titled("The round", c.round.source), [compared.facts(c)], [_table(c)], figures
    )


def _table(c: Comparison) -> plot.Table:
    exact = {compared.MAX_MIN, compared.FAIR}
    rows = [
        (
            o.policy,
            f"{o.judged.least:.4f}",
            f"{o.judged.median:.4f}",
            f"{o.judged.mean:.4f}",
            f"{round(o.judged.log_fairness, 5) + 0.0:.5f}",
            f"{100 * o.judged.utilisation:.1f} %",
            _power(o.judged.violation),
            _power(o.solution.gap) if o.solution else "–",
            f"{o.seconds:.3f} s",
        )
        for o in c.outcomes
    ]
    return plot.Table(
        ("policy", "min", "median", "mean", "log-fairness", "in use", "violation", "gap", "time"),
        rows,
        "Throughput relative to an equal share; log-fairness is the mean log of it (nat a job); "
        "the gap is certified, to the optimum of the policy's own objective; time includes "
        f"stating the problem.{_ideal(c)}",
        frozenset(k for k, o in enumerate(c.outcomes) if o.policy in exact),
    )


def _power(value: float) -> str:
    return f"{value:.1e}" if value else "0"


def _ideal(c: Comparison) -> str:
    pop = c.of(compared.POP_MAX_MIN)
    if pop is None or pop.solution is None or not np.isfinite(pop.solution.timings.ideal):
        return ""
    return (
        f" With a machine for each of its parts, as its authors count, POP-4 would take "
        f"{pop.solution.timings.ideal:.3f} s for max-min."
    )


def _who_runs_where(c: Comparison) -> plot.Section:
    names, jobs = list(c.round.throughput.index), list(c.round.throughput.columns)
    figures = [
        plot.Figure(
            plot.allocation_map(plot.allocation_frame(o.x, names, jobs)),
            f"{o.policy}: shares of the round's time on each GPU type.",
        )
        for policy in (compared.MAX_MIN, compared.FAIR, compared.GREEDY)
        if (o := c.of(policy)) is not None
    ]
    return plot.Section("Who runs where", (), (), figures)


def _proof(c: Comparison) -> plot.Section:
    return plot.Section(
        "How good it is, and what a GPU is worth",
        [*compared.certificates(c), compared.PROOF],
        (),
        [*_convergence(c), *_prices(c)],
    )


def _why(c: Comparison) -> plot.Section:
    """The job that is worst off under the last exact policy, explained by prices."""
    outcome, solution = c.exact[-1]
    job = int(np.argmin(outcome.judged.throughput))
    name = str(c.round.throughput.columns[job])
    kind, gpus = str(c.round.jobs["job_type"].iloc[job]), float(c.round.size[job])
    opening = (
        f"Under policy {outcome.policy}, {name} is worst off: {kind}, {gpus:g} "
        f"GPU{'' if gpus == 1 else 's'} at a time, at {outcome.judged.throughput[job]:.4f} of an "
        "equal share."
    )
    words = str(solution.explain(name)).splitlines()
    return plot.Section(f"Why job {name} got what it got", [opening, *words])


def _convergence(c: Comparison) -> list[plot.Figure]:
    histories = {o.policy: s.history for o, s in c.exact if len(s.history) > 1}
    if not histories:
        return []
    return [
        plot.Figure(
            plot.convergence(plot.history_frame(histories)),
            "The engine's own gap at each step; the certificate is computed afterwards.",
        )
    ]


def _prices(c: Comparison) -> list[plot.Figure]:
    """Prices relative to their mean, as the two objectives have different units."""
    relative = {}
    for o, solution in c.exact:
        price = np.abs(solution.prices.resources)
        mean = float(np.average(price, weights=c.round.capacity))
        if mean > 0:
            relative[o.policy] = price / mean
    if not relative:
        return []
    frame = plot.price_frame(relative, list(c.round.throughput.index))
    return [
        plot.Figure(
            plot.prices(frame, "price of a GPU (mean 1)"),
            "What one more GPU of each type would add to the objective, relative to the mean.",
        )
    ]


def _large(c: Comparison) -> plot.Section:
    return plot.Section(
        _titled(c.round.title, c.round.source),
        [compared.facts(c), *compared.certificates(c)],
        [_table(c)],
        [*_convergence(c), *_prices(c)],
    )


def _facts(record: dict[str, Any]) -> list[tuple[str, str]]:
    facts = [("seed", str(record["seed"])), ("total time", f"{record['seconds']:.1f} s")]
    facts += [("machine", record["machine"])]
    facts += [(f"version of {name}", number) for name, number in record["versions"].items()]
    for r in record["rounds"]:
        facts.append((f"data of {r['title']}", f"{r['source']}; {r['origin']}"))
        facts.append(("its SHA-256", r["sha256"]))
    return facts


def placing_section(placed: PlacementSection) -> plot.Section:
    """What was placed where, how good that is, and whether the predictions hold.

    Args:
        placed: The section.
    """
    tables = [
        _drawn(placement.shown(placement.compared(placed)), _JUDGED, strong=0),
        _drawn(placement.placements(placed), placement.LEGEND, frozenset({_REASON})),
    ]
    return plot.Section(
        _titled("Placed before they ever ran", placed.recipe.source),
        placement.facts(placed),
        tables,
        _figures(placed),
    )


def learning_section(trained: LearningSection) -> plot.Section:
    """What training through the matching bought on rounds of other tasks.

    Args:
        trained: The section.
    """
    history = pd.DataFrame(trained.after.learned.history, columns=["step", "regret"])
    return plot.Section(
        _titled("Trained through the matching", trained.source),
        learning.facts(trained),
        [
            _drawn(
                learning.shown(learning.compared(trained)),
                learning.LEGEND,
                strong=len(trained.models) - 1,
            )
        ],
        [
            plot.Figure(
                plot.training(history),
                "Elastic regret of rounds of validation tasks while training; the weights that "
                "decode best are kept, so that on these rounds the end is never worse than the "
                "start. The tasks above were not looked at.",
            )
        ],
    )


def _drawn(
    table: Table, caption: str, words: frozenset[int] = frozenset(), strong: int | None = None
) -> plot.Table:
    rows = [[show(cell) for cell in row] for row in table.rows]
    strongest = frozenset() if strong is None else frozenset({strong})
    return plot.Table(table.columns, rows, caption, strongest, words)


def _figures(placed: PlacementSection) -> list[plot.Figure]:
    best = placed.best
    if best.prediction is None or best.held is None:
        return []
    frame = best.prediction.frame().rename(columns={"times": "predicted"})
    frame["measured"] = placed.round.times.T.ravel()
    return [
        plot.Figure(
            plot.predicted_against_measured(frame),
            f"The {len(placed.round)} tasks on every cluster: predicted times with their "
            f"{100 * best.held.level:.0f} % intervals against the measured ones.",
        ),
        plot.Figure(
            plot.reliability_diagram(_reliability(placed)),
            "Outcomes drawn from the composed chances of the tasks kept for judging, by tenths of "
            "the predicted chance; bars are two standard errors.",
        ),
    ]


def _reliability(placed: PlacementSection) -> pd.DataFrame:
    test = placed.recipe.test
    drawn = np.random.default_rng((placed.seed, 5)).random(test.success.shape) < test.success
    return pd.concat(
        [
            predict.reliability_table(way.held.success, drawn.astype(float)).assign(name=way.name)
            for way in placed.ways
            if way.held is not None
        ],
        ignore_index=True,
    )


def network_section(section: NetworkSection) -> plot.Section:
    """What went wrong, how far from the best it ended, and the audit.

    Args:
        section: What the simulation came to.
    """
    table = centres.table(section)
    rows = [[show(cell) for cell in row] for row in table.rows]
    run = section.run
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
        "Without a master, while things go wrong (synthetic data)",
        centres.facts(section),
        [plot.Table(table.columns, rows)],
        [gap, audit],
    )
