"""What was found in a user's problem, in words."""

from __future__ import annotations

from dataclasses import dataclass

from walras.separable import Separable
from walras.separable.grouping import Split

_NAMED = 4  # constraints that a line names


@dataclass(frozen=True)
class Report:
    """How a problem was understood and what will be done with it.

    Attributes:
        sense: ``minimize`` or ``maximize``.
        objective: The kind of objective.
        resources: Number of resource groups.
        demands: Number of demand groups.
        entries: Number of entries of the allocation.
        scalars: Names of the shared scalars.
        coupled: Name of each constraint that couples groups, how many rows, how many groups.
        merged: Name of each constraint that merged groups, and how many rows.
        tied: Names of constraints whose rows overlap into one group, its side, how many groups.
        engine: The engine that will run.
        reason: Why.
        outside: What keeps the problem out of the separable form, or an empty string.
        reuses: Whether a change of parameters spares the canonicalisation.
        parameters: Number of parameters.
    """

    sense: str
    objective: str
    resources: int
    demands: int
    entries: int
    scalars: tuple[str, ...]
    coupled: tuple[tuple[str, int, int], ...]
    merged: tuple[tuple[str, int], ...]
    engine: str
    reason: str
    outside: str = ""
    reuses: bool = True
    parameters: int = 0
    tied: tuple[tuple[tuple[str, ...], str, int], ...] = ()

    def __str__(self) -> str:
        lines = [f"{self.sense} {self.objective}"]
        if self.outside:
            lines.append(f"outside the separable form: {self.outside}")
        else:
            lines.append(
                f"{_count(self.resources, 'resource group')}, "
                f"{_count(self.demands, 'demand group')}, {_count(self.entries, 'entry')}"
                + (f", shared: {', '.join(self.scalars)}" if self.scalars else "")
            )
        for name, rows, groups in self.coupled:
            lines.append(
                f"{name}: {_count(rows, 'row')} couples {_count(groups, 'group')} -> coupled"
            )
        for name, rows in self.merged:
            lines.append(f"{name}: {_count(rows, 'row')} spanned groups -> merged")
        for names, side, groups in self.tied:
            into = f"one {side} group" if groups == 1 else f"{groups:,} {side} groups"
            lines.append(
                f"{_list(names)}: merged into {into} because rows share entries and none holds "
                "all of its group"
            )
        if self.parameters:
            lines.append(f"{_count(self.parameters, 'parameter')}: solving again {self._again()}")
        lines.append(f"engine {self.engine}: {self.reason}")
        return "\n".join(lines)

    def _again(self) -> str:
        if self.outside:
            return "repeats cvxpy's chain, as always outside the separable form"
        return f"{'reuses' if self.reuses else 'repeats (not DPP)'} the canonical form"


def report_inside(
    problem: Separable, split: Split, engine: str, reason: str, *, reuses: bool, parameters: int
) -> Report:
    """The report on a problem in the separable form."""
    return Report(
        sense="maximize" if problem.maximize else "minimize",
        objective=problem.objective,
        resources=split.resources,
        demands=split.demands,
        entries=problem.entries,
        scalars=tuple(problem.scalar_names),
        coupled=split.coupled,
        merged=split.merged,
        tied=tuple((names, side.name.lower(), groups) for names, side, groups in split.tied),
        engine=engine,
        reason=reason,
        reuses=reuses,
        parameters=parameters,
    )


def report_outside(sense: str, why: str, entries: int, parameters: int, *, linear: bool) -> Report:
    """The report on a problem that only a general solver takes."""
    curved = "a general concave" if sense == "maximize" else "a general convex"
    return Report(
        sense=sense,
        objective=f"{'a linear' if linear else curved} objective",
        resources=0,
        demands=0,
        entries=entries,
        scalars=(),
        coupled=(),
        merged=(),
        engine="exact",
        reason="cvxpy's own chain to Clarabel, or to HiGHS with integers; the bound is "
        "recomputed from their prices where these prove enough",
        outside=why,
        reuses=False,
        parameters=parameters,
    )


def _count(number: int, word: str) -> str:
    plural = word[:-1] + "ies" if word.endswith("y") else word + "s"
    return f"{number:,} {word if number == 1 else plural}"


def _list(names: tuple[str, ...]) -> str:
    """The first names, and how many more there are."""
    text = ", ".join(names[:_NAMED])
    return text if len(names) <= _NAMED else f"{text} and {len(names) - _NAMED:,} more"
