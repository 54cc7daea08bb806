"""The instances: a heterogeneous generator, DeDe-456-like, a real Gavel round, DeDe's toy.

A :class:`Spec` names an instance completely; :func:`build` makes the same arrays of it each time.
Reported seeds are 100 to 104. Parameters may be tuned on seeds 0 to 9 only.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass, replace
from typing import overload

import numpy as np

from benchmarks.assigning import AssignInstance, AssignSpec, build_assign
from benchmarks.balancing import BalanceInstance, BalanceSpec
from benchmarks.balancing_rounds import build_balance
from benchmarks.flow import AnyBuilt, FlowInstance
from benchmarks.flow_instances import FlowSpec, build_flow
from benchmarks.matching import MatchInstance, MatchSpec, build_match
from benchmarks.problem import Instance
from benchmarks.recipes import RecipeInstance, RecipeSpec, build_recipe
from walras.domains.cluster_scheduling import rounds
from walras.domains.cluster_scheduling.normalise import normalise
from walras.types import Bools, Floats

REPORT_SEEDS = (100, 101, 102, 103, 104)
TUNING_SEEDS = tuple(range(10))

_UNITS = np.arange(8.0, 65.0, 8.0)
_SIZES = 2.0 ** np.arange(7)
_SIZE_ODDS = (0.50, 0.15, 0.15, 0.10, 0.05, 0.03, 0.02)
_RESTRICTED = 0.33


@dataclass(frozen=True)
class Spec:
    """Complete name of an instance.

    Attributes:
        kind: ``heterogeneous``, ``dede-456``, ``gavel`` or ``dede-toy``.
        resources: Number of resource types.
        demands: Number of jobs.
        seed: Seed of the generator, or of the draw of the trace.
        capacity: Factor on every capacity (``heterogeneous``).
        load: Units asked for over units there (``dede-456``).
        churn: Fraction of the jobs replaced by new ones.
    """

    kind: str
    resources: int
    demands: int
    seed: int = 100
    capacity: float = 1.0
    load: float = 1.25
    churn: float = 0.0

    @property
    def name(self) -> str:
        """Short name for files and tables."""
        parts = [self.kind, f"{self.resources}x{self.demands}"]
        if self.kind == "heterogeneous":
            parts.append(f"x{self.capacity:g}")
        if self.kind == "dede-456":
            parts.append(f"load{self.load:g}")
        if self.churn:
            parts.append(f"churn{self.churn:g}")
        return "-".join([*parts, f"s{self.seed}"])

    @property
    def previous(self) -> Spec:
        """The round before the jobs were replaced."""
        return replace(self, churn=0.0)


AnySpec = Spec | FlowSpec | MatchSpec | RecipeSpec | AssignSpec | BalanceSpec


@overload
def build(spec: Spec) -> Instance: ...
@overload
def build(spec: FlowSpec) -> FlowInstance: ...
@overload
def build(spec: MatchSpec) -> MatchInstance: ...
@overload
def build(spec: RecipeSpec) -> RecipeInstance: ...
@overload
def build(spec: AssignSpec) -> AssignInstance: ...
@overload
def build(spec: BalanceSpec) -> BalanceInstance: ...
def build(spec: AnySpec) -> AnyBuilt:
    """Make the arrays of an instance; the last two are kept.

    Raises:
        KeyError: If the kind is unknown.
        walras.errors.WalrasError: If a data set cannot be read.
    """
    return _build(spec)


@functools.lru_cache(maxsize=2)
def _build(spec: AnySpec) -> AnyBuilt:
    if isinstance(spec, FlowSpec):
        return build_flow(spec)
    if isinstance(spec, MatchSpec):
        return build_match(spec)
    if isinstance(spec, RecipeSpec):
        return build_recipe(spec)
    if isinstance(spec, AssignSpec):
        return build_assign(spec)
    if isinstance(spec, BalanceSpec):
        return build_balance(spec)
    makers = {
        "heterogeneous": heterogeneous,
        "dede-456": dede_456,
        "gavel": gavel_round,
        "dede-toy": dede_toy,
    }
    return makers[spec.kind](spec)


def heterogeneous(spec: Spec) -> Instance:
    """Types and jobs of very different speeds, a third of the jobs restricted to a few types.

    Type and job speeds are lognormal with sigma 1, their interaction with sigma 0.4; sizes are
    1 to 64; 33 % of the jobs may use at most a tenth of the types; capacities are 8 to 64. A
    job's throughput is relative to its equal share of the unscaled cluster.
    """
    rng = np.random.default_rng(spec.seed)
    m, n = spec.resources, spec.demands
    capacity = rng.choice(_UNITS, m)
    size = rng.choice(_SIZES, n, p=_SIZE_ODDS)
    speed = rng.lognormal(0.0, 1.0, m)
    work = rng.lognormal(0.0, 1.0, n)
    throughput = speed[:, None] * work * rng.lognormal(0.0, 0.4, (m, n))
    allowed = _restrict(rng, m, n)
    if spec.churn:
        _replace_jobs(spec, size, throughput, allowed, speed)
    throughput = _normalised(np.where(allowed, throughput, 0.0), size, capacity)
    return Instance(throughput, size, capacity * spec.capacity, allowed, "generated")


def _restrict(rng: np.random.Generator, m: int, n: int) -> Bools:
    """Let each restricted job use one to a tenth of the types, drawn without replacement."""
    allowed = np.ones((m, n), dtype=bool)
    for j in np.flatnonzero(rng.random(n) < _RESTRICTED):
        allowed[:, j] = False
        allowed[rng.choice(m, rng.integers(1, max(2, m // 10)), replace=False), j] = True
    return allowed


def _replace_jobs(
    spec: Spec, size: Floats, throughput: Floats, allowed: Bools, speed: Floats
) -> None:
    """Overwrite a fraction of the jobs by new ones of the same law, on the same cluster."""
    rng = np.random.default_rng((spec.seed, 1))
    count = max(1, round(spec.churn * spec.demands))
    gone = np.sort(rng.choice(spec.demands, count, replace=False))
    size[gone] = rng.choice(_SIZES, count, p=_SIZE_ODDS)
    interaction = rng.lognormal(0.0, 0.4, (spec.resources, count))
    throughput[:, gone] = speed[:, None] * rng.lognormal(0.0, 1.0, count) * interaction
    allowed[:, gone] = _restrict(rng, spec.resources, count)


def _normalised(throughput: Floats, size: Floats, capacity: Floats) -> Floats:
    """Throughput over what the job would get from an equal share of every type."""
    share = np.minimum(1.0, capacity.sum() / len(size) / size)
    return throughput / (capacity / capacity.sum() @ throughput * share)


def dede_456(spec: Spec) -> Instance:
    """A round with the law of DeDe's released table, at the load asked for.

    Normalised as in their max-min policy: throughput per average GPU over a priority drawn from
    1 to 10 (Xu, Yu and Yan, OSDI 2025, section 7.1.1).
    """
    made = rounds.dede_like(spec.resources, spec.demands, spec.seed, spec.load)
    priority = np.random.default_rng((spec.seed, 2)).uniform(1.0, 10.0, spec.demands)
    return _of_round(made, priority)


def gavel_round(spec: Spec) -> Instance:
    """The jobs active at one moment of a real trace, with throughputs measured on three types."""
    return _of_round(rounds.gavel(spec.demands, spec.seed), np.ones(spec.demands))


def _of_round(made: rounds.Round, priority: Floats) -> Instance:
    throughput = normalise(made.throughput, made.size, made.capacity, per="gpu") / priority
    source = f"{made.title} ({made.source})"
    return Instance(throughput, made.size, made.capacity, throughput > 0, source)


def dede_toy(spec: Spec) -> Instance:
    """README example of the ``dede`` package: row sums >= i, column sums <= j, least total.

    ``capacity`` holds the rows' lower bounds and ``size`` the columns' upper bounds.
    """
    m, n = spec.resources, spec.demands
    bounds = np.arange(float(m)), np.arange(float(n))
    return Instance(np.ones((m, n)), bounds[1], bounds[0], np.ones((m, n), dtype=bool))
