"""The demo in ten lines: what came out of each section, and on whose numbers."""

from __future__ import annotations

import textwrap

import numpy as np

from walras.demo import network, scheduling
from walras.demo.learning import LearningSection
from walras.demo.network import NetworkSection
from walras.demo.placement import AVERAGES, FLOOR, ORACLE, PlacementSection, below_floor
from walras.demo.run import Demo
from walras.demo.scheduling import Comparison
from walras.status import Status

_WIDTH = 80
_NAMES = 10  # columns of the section's name


def summary(demo: Demo) -> list[str]:
    """The lines, each at most 80 characters wide.

    Args:
        demo: What the demo found; sections that were left out have no line.
    """
    entries = [("Data", headline(demo))]
    if demo.placement is not None:
        entries.append(("Placing", _placement(demo.placement)))
        if demo.placement.trained is not None:
            entries.append(("Learning", _learning(demo.placement.trained)))
    lines_of = (("Round", _round), ("Large", _large))
    entries += [(name, line(c)) for (name, line), c in zip(lines_of, demo.rounds, strict=False)]
    if demo.network is not None:
        entries.append(("Network", _network(demo.network)))
    entries.append(("Time", f"{demo.seconds:.1f} s"))
    lines = []
    for name, text in entries:
        first, rest = name.ljust(_NAMES), " " * _NAMES
        lines += textwrap.wrap(text, _WIDTH, initial_indent=first, subsequent_indent=rest)
    return lines


def headline(demo: Demo) -> str:
    """Whose numbers the run is on: measured, or synthetic, and what to do about that."""
    drawn = ["synthetic" in source for source in demo.sources]
    if not any(drawn):
        return "measured by others; the large round and the network are synthetic"
    if not all(drawn):
        return "SYNTHETIC in part, see headings; walras data fetch gets the real sets"
    return "SYNTHETIC, nothing was measured; walras data fetch gets the real sets"


def _placement(section: PlacementSection) -> str:
    best = section.best.judged
    averages, oracle = (float(section.of(name).judged.makespan) for name in (AVERAGES, ORACLE))
    saved, most = (100 * (1 - value / averages) for value in (float(best.makespan), oracle))
    return (
        f"{len(section.round)} tasks on {len(section.round.clusters)} clusters by "
        f"{section.best.name}: {float(best.makespan):.1f} s, {saved:.0f} % less than by averages "
        f"(the oracle: {most:.0f} % less); success {below_floor(float(best.mean_success))}, "
        f"asked {FLOOR:g}"
    )


def _learning(section: LearningSection) -> str:
    gain, error = section.gain
    before, after = (100 * float(p.elastic.mean()) for p in (section.before, section.after))
    surely = "" if abs(gain) > error else ", not significant"
    return (
        f"by decisions: regret {before:.1f} % -> {after:.1f} % on "
        f"{len(section.after.elastic):,} rounds{surely}"
    )


def _round(comparison: Comparison) -> str:
    best, greedy = comparison.of(scheduling.MAX_MIN), comparison.of(scheduling.GREEDY)
    if best is None or best.solution is None:
        return f"{_size(comparison)}: stopped before the first policy"
    than = "" if greedy is None else f" (greedy: {greedy.judged.least:.2f})"
    return (
        f"{_size(comparison)}: the worst-off job gets {best.judged.least:.2f} of an equal "
        f"share{than}; {_proof(best)}"
    )


def _large(comparison: Comparison) -> str:
    """As the round above it, in one line."""
    best, size = comparison.of(scheduling.MAX_MIN), comparison.round.throughput.shape
    if best is None or best.solution is None:
        return f"{_size(comparison)}: stopped before the first policy"
    proof = _proof(best).removeprefix("proved ")
    return f"{size[1]:,} jobs, {size[0]} types: worst-off {best.judged.least:.2f}; {proof}"


def _size(comparison: Comparison) -> str:
    return f"{len(comparison.round.size):,} jobs on {len(comparison.round.capacity)} GPU types"


def _proof(best: scheduling.Outcome) -> str:
    proof, solution = "not proved optimal", best.solution
    if solution is not None and solution.status is Status.OPTIMAL:
        proof = f"proved optimal to {solution.gap:.0e}"
    return f"{proof} in {scheduling.duration(best.seconds)}"


def _network(section: NetworkSection) -> str:
    run = section.run
    worst = int(np.abs(run.audit).max())
    return (
        f"{network.CENTRES} data centres, 10 % of messages lost, one crash: {worst} quanta over "
        f"the budget in {run.steps:,} steps; cost {100 * float(run.cost_gap[-1]):.2g} % over the "
        "optimum"
    )
