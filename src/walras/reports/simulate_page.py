"""The HTML page of a comparison of policies."""

from __future__ import annotations

from collections.abc import Sequence

from walras import plot
from walras.reports.simulate import REFUSED, by_class, compared
from walras.reports.tables import Table, show
from walras.simulate import NO_POLICY, Comparison
from walras.simulate.compare.comparison import refused_label
from walras.simulate.metrics import BY_CLASS
from walras.version import __version__

_TIMES = ("ended", "mean completion", "median completion", "99 % completion", "makespan")
_FAIRNESS = ("worst finish-time ratio", "treated unfairly", "mean slowdown", "fairness of rounds")
_FAILURES = (
    *("ended", "expired", "failed for good", "outages"),
    *("stopped by workers", "failed by themselves", "lost to failures"),
)
_DECIDING = ("moves a job", "decisions", "refused decisions", "largest gap", "policy")


def page(
    found: Comparison, conditions: Sequence[tuple[str, str]] = (), notice: str = ""
) -> plot.Report:
    """The page.

    Args:
        found: The comparison.
        conditions: Names and values of what it was made from: cluster, traces, settings.
        notice: What must be known of them before the rest is read.
    """
    names = [name for name in dict.fromkeys(found.policy) if name != NO_POLICY]
    used = [name for name in dict.fromkeys(found.measure) if name.startswith("use of")]
    return plot.Report(
        title="Policies compared",
        lead=_lead(found),
        sections=[
            plot.Section(
                "Completion times and makespan",
                [
                    "A policy decides from what has arrived; the bound knows all arrivals. No "
                    "policy ends sooner; it is not said that one can come so near."
                ]
                if NO_POLICY in found.policy
                else [],
                [_table(found, _TIMES)],
                [plot.Figure(found.plot(), _MARKS if len(found.seeds) > 1 else "One seed.")],
            ),
            plot.Section("Fairness", (), [_table(found, _FAIRNESS, _RATIOS)]),
            *_failures(found),
            plot.Section(
                "What deciding took, and how the cluster was used",
                (),
                [
                    _table(found, _DECIDING, "Policy: its seconds in all decisions."),
                    _table(found, used, "Share of the worker-seconds of each type."),
                ],
            ),
            *_classes(found),
            plot.Section(
                "What the words mean",
                [
                    "A finish-time ratio is a job's completion time by its time alone on an equal "
                    "part of the cluster; a job above 1.05 counts as treated unfairly.",
                    "Fairness of rounds is Jain's index of what jobs received between decisions: 1 "
                    "where all had the same share of their full speed, by weight.",
                    "The gap of a decision is how far its value may be from the best one, by the "
                    "policy's own bound.",
                ],
            ),
        ],
        facts=[
            ("policies", show(len(names))),
            ("seeds", ", ".join(map(str, found.seeds))),
            ("runs", f"{found.runs} of {found.runs + len(found.missing)}"),
            ("status", str(found.status)),
            *conditions,
            ("Walras", __version__),
        ],
        notice=" ".join(filter(None, [_stopped(found), _refusals(found), notice])),
    )


_MARKS = "Means over seeds; marks are standard deviations."


def _stopped(found: Comparison) -> str:
    """How many runs it covers where some are missing."""
    if found.complete:
        return ""
    return f"Stopped: it covers {found.runs} of {found.runs + len(found.missing)} runs."


def _refusals(found: Comparison) -> str:
    """Whose decisions were refused."""
    if not found.labels:
        return ""
    said = "; ".join(f"{name}: {label}" for name, label in found.labels.items())
    return f"Decisions that break a rule: {said}. {_sentence(REFUSED)}"


def _classes(found: Comparison) -> list[plot.Section]:
    """Mean completion by class; nothing where the jobs are of one class."""
    if not any(name.startswith(BY_CLASS) for name in found.measure):
        return []
    table = by_class(found)
    caption = f"{_sentence(table.title)} The class of the longest jobs is the first."
    return [plot.Section("By class of jobs", (), [_shown(table, caption)])]


_RATIOS = "Slowdown is completion time by the time alone on the fastest type."


def _failures(found: Comparison) -> list[plot.Section]:
    """What failures did; nothing where nothing failed."""
    harm = found.table[found.table["measure"].isin(_FAILURES[1:])]
    if not harm["value"].any():
        return []
    words = [_ALL_JOBS] if NO_POLICY in found.policy else []
    return [plot.Section("Failures", words, [_table(found, _FAILURES, _COUNTS)])]


_COUNTS = "Measured jobs; lost to failures in hours of running."
_ALL_JOBS = (
    "What no policy is below counts every job. Where some have no end, times are of the others."
)


def _lead(found: Comparison) -> str:
    """The least mean completion on each trace, and the bound there. A policy all of whose decisions
    were refused has no times of its own.
    """
    frame, refused = found.frame(["mean completion"]), found.refused("trace", "policy")
    said = []
    for trace, means in frame.groupby(level="trace", sort=False):
        mean = means["mean completion"].droplevel("trace").dropna()
        idle = [name for name in mean.index if refused.get((trace, name), 0.0) == 1.0]
        own = mean.drop([NO_POLICY, *idle], errors="ignore")
        if not len(own):
            continue
        best = str(own.idxmin())
        share = refused.get((trace, best))
        label = "" if share is None else f" ({refused_label(share)})"
        words = f"{best}{label}, {own.min():.4g} h" + (
            f" at {trace}" if len(found.traces) > 1 else ""
        )
        if NO_POLICY in mean.index:
            words += f" (no policy is below {mean[NO_POLICY]:.4g} h)"
        said.append(words)
    return f"Least mean completion: {'; '.join(said)}." if said else "No run has ended."


def _table(found: Comparison, measures: Sequence[str], caption: str = "") -> plot.Table:
    """The table of some measures; below it, over what its means are."""
    table = compared(found, measures)
    return _shown(table, f"{_sentence(table.title)} {caption}".strip())


def _sentence(words: str) -> str:
    return f"{words[0].upper()}{words[1:]}."


def _shown(table: Table, caption: str) -> plot.Table:
    rows = [[show(cell) for cell in row] for row in table.rows]
    heads = [name.replace(", ", ",\u00a0") for name in table.columns]  # units stay beside names
    return plot.Table(heads, rows, caption)
