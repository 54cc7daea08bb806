"""The report of ``walras demo``: what its page says and shows."""

from __future__ import annotations

from typing import Any

import numpy as np

from walras import plot
from walras.cli import comparison as compared
from walras.cli.comparison import Comparison
from walras.cli.demo_network import Act
from walras.cli.demo_network_report import network_section
from walras.cli.demo_placement import Placing
from walras.cli.demo_placing_report import learning_section, placing_section
from walras.status import Status


def build(
    placed: Placing | None,
    comparisons: list[Comparison],
    act: Act | None,
    record: dict[str, Any],
) -> plot.Report:
    """The report on a placed round, a real one, a large one and a network, as far as it came.

    Args:
        placed: Tasks placed by predictions, or None when left out.
        comparisons: The real round, then the large one.
        act: Data centres without a master, or None when left out.
        record: The run's record.
    """
    sections = [] if placed is None else [placing_section(placed)]
    if placed is not None and placed.taught is not None:
        sections.append(learning_section(placed.taught))
    if not comparisons:
        return plot.Report(
            title="Tasks placed by predictions",
            lead="Interrupted before the scheduling round.",
            sections=sections,
            facts=_facts(record),
        )
    sections += [_results(comparisons[0])]
    if comparisons[0].exact:
        sections += [_who_runs_where(comparisons[0]), _proof(comparisons[0]), _why(comparisons[0])]
    sections += [_large(c) for c in comparisons[1:]]
    sections += [] if act is None else [network_section(act)]
    return plot.Report(
        title="A scheduling round: solved, compared, certified",
        lead=_lead(comparisons[0]),
        sections=sections,
        facts=_facts(record),
    )


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
    return plot.Section("The round", [compared.facts(c)], [_table(c)], figures)


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
        c.round.title,
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
