"""Explains in the user's names why a problem is infeasible or unbounded."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from walras.certificate import Certificate
from walras.certificate.feasibility import FEASIBLE
from walras.diagnosis.elastic_bounds import bounds_as_rows
from walras.diagnosis.iis import find_iis
from walras.diagnosis.relaxation import Relaxation, improving_ray, least_relaxation
from walras.errors import InfeasibleError, UnboundedError
from walras.separable import Separable
from walras.separable.rows import bound_sizes
from walras.settings import Settings
from walras.types import Floats

_MUCH = 0.75  # share of a relaxation's cost at which another one is the one to name
_NAMED = 3  # entries that an error names
# least seconds for the proof that even the continuous relaxation is infeasible
_LEAST_SECONDS = 0.5
_STILL = 1e-9  # a ray, of largest component 1, does not move what it moves less


def raise_if_impossible(problem: Separable, proof: Certificate, settings: Settings) -> None:
    """Raise an error that names the conflicting rows, or the entries of an unbounded direction.

    Args:
        problem: The problem.
        proof: Certificate of the allocation that an engine returned.
        settings: Limits of the programs that are solved here.

    Raises:
        InfeasibleError: No allocation meets the constraints.
        UnboundedError: The objective improves without end.
    """
    limits = replace(settings, start=None, on_progress=None, verbose=False)
    if not _can_hold(problem, proof):
        relaxation = least_relaxation(problem, limits)
        if relaxation.is_needed:
            way = _way_out(problem, relaxation, limits)
            raise InfeasibleError(
                "no allocation meets all constraints",
                where=str(find_iis(problem, relaxation, limits)),
                allowed="bounds that some allocation meets",
                remedy=f"the least relaxation that would do: {way}",
            )
        _raise_if_relaxed_impossible(problem, limits)
    ray = improving_ray(problem, limits)
    if ray is not None:
        raise UnboundedError(
            "the objective improves without end",
            where=_along(problem, ray.x, ray.t),
            allowed="a finite optimum",
            remedy="bound these entries or add a constraint",
        )


def _raise_if_relaxed_impossible(problem: Separable, limits: Settings) -> None:
    """Raise if a linear program proves what time was too short to prove with whole entries.

    Raises:
        InfeasibleError: No allocation meets the constraints, whole or not.
    """
    if limits.time_limit is None or problem.integer is None or not np.any(problem.integer):
        return
    limits = replace(limits, time_limit=max(limits.time_limit, _LEAST_SECONDS))
    relaxed = replace(problem, integer=None)
    relaxation = least_relaxation(relaxed, limits)
    if relaxation.is_needed:
        raise InfeasibleError(
            "no allocation meets all constraints",
            where=str(find_iis(relaxed, relaxation, limits)),
            allowed="bounds that some allocation meets",
            remedy="the least relaxation that would do without whole entries, which may take more: "
            f"{relaxation.text()}",
        )


def _way_out(problem: Separable, relaxation: Relaxation, limits: Settings) -> str:
    """The relaxation in words, or a much cheaper one that also moves bounds of single entries."""
    wider = bounds_as_rows(problem)
    if wider is not None and not np.any(relaxation.positive):
        other = least_relaxation(wider, limits)
        if other.is_needed and other.cost <= _MUCH * relaxation.cost:
            return other.text()
    return relaxation.text()


def _can_hold(problem: Separable, proof: Certificate) -> bool:
    """Whether the allocation itself is feasible: in all domains, and within every row's bounds.

    Large terms that cancel hide a violation that is relative to them.
    """
    rows = problem.rows
    y = rows.matrix @ proof.x + rows.scalar_matrix @ proof.t
    over = np.maximum(y - rows.upper, rows.lower - y)
    size = bound_sizes(rows.lower, rows.upper)
    met = np.all((over <= FEASIBLE * size) | (size == 0.0))
    return bool(proof.feasible and np.isfinite(proof.value) and met)


def _along(problem: Separable, x: Floats, t: Floats) -> str:
    """The entries that a ray moves most, and the scalars that it moves, by name."""
    most = np.argsort(-np.abs(x), kind="stable")[:_NAMED]
    names = [problem.entry_name(int(q)) for q in most if abs(x[q]) > _STILL]
    scalars = problem.scalar_names or [f"scalar {k}" for k in range(len(t))]
    names += [str(scalars[int(k)]) for k in np.flatnonzero(np.abs(t) > _STILL)]
    return ", ".join(names)
