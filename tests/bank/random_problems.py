"""Random feasible and bounded problems of every kind, for Hypothesis."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st
from tests.bank.statement import Entry, Row, Scalar, state

from walras.separable import Separable, Side, Utility
from walras.types import Floats

KINDS = (
    "linear",
    "max-min",
    Utility.LOG,
    Utility.POWER,
    Utility.QUADRATIC,
    Utility.CONVEX_POWER,
    Utility.ENTROPY,
    "quadratic",
)


@st.composite
def problems(draw: st.DrawFn, kinds: tuple[object, ...] = KINDS) -> Separable:
    """A problem of 1 to 4 resources and 1 to 6 demands, with extra rows at random."""
    kind = draw(st.sampled_from(kinds))
    seed = draw(st.integers(0, 10_000))
    m, n = draw(st.integers(1, 4)), draw(st.integers(1, 6))
    return build(kind, seed, m, n)


def build(kind: object, seed: int, m: int, n: int) -> Separable:
    """The problem of a kind and seed."""
    rng = np.random.default_rng([seed, m, n])
    pairs = [(i, j) for j in range(n) for i in range(m) if rng.random() < 0.8 or i == j % m]
    gain = rng.lognormal(0.0, 0.8, len(pairs))
    inside = rng.uniform(0.05, 0.4, len(pairs))  # a point that every row admits
    entries = [
        Entry(
            i,
            j,
            cost=_cost(kind, rng, gain[q]),
            upper=_upper(rng, inside[q]),
            quadratic=float(rng.uniform(0.5, 3.0)) if kind == "quadratic" else 0.0,
        )
        for q, (i, j) in enumerate(pairs)
    ]
    of_demand = [[q for q, pair in enumerate(pairs) if pair[1] == j] for j in range(n)]
    of_resource = [[q for q, pair in enumerate(pairs) if pair[0] == i] for i in range(m)]
    size = rng.choice([0.5, 1.0, 2.0], n)
    rows = [
        Row(
            f"capacity[r{i}]",
            _terms(of_resource[i], size[[pairs[q][1] for q in of_resource[i]]]),
            upper=float(
                rng.uniform(1.0, 1.8) * sum(inside[q] * size[pairs[q][1]] for q in of_resource[i])
            ),
            side=Side.RESOURCE,
        )
        for i in range(m)
        if of_resource[i]
    ]
    rows += [
        Row(
            f"time[d{j}]",
            _terms(held),
            upper=float(sum(inside[held]) + rng.uniform(0.0, 0.6)),
            side=Side.DEMAND,
        )
        for j, held in enumerate(of_demand)
    ]
    # Convex costs alone would do best by doing nothing.
    rows += _extra(rng, of_demand, inside, kind == Utility.CONVEX_POWER)
    scalars = [Scalar(-1.0, 0.0, 50.0)] if kind == "max-min" else []
    rows += _level_rows(kind, rng, of_demand, gain)
    return state(entries, rows, scalars, maximize=kind in ("max-min", Utility.LOG), shape=(m, n))


def _cost(kind: object, rng: np.random.Generator, gain: float) -> float:
    if kind in ("linear", "quadratic"):
        return -gain
    return float(rng.uniform(-0.5, 0.5)) if rng.random() < 0.3 else 0.0


def _upper(rng: np.random.Generator, inside: float) -> float:
    return float(inside * rng.uniform(1.0, 3.0)) if rng.random() < 0.2 else np.inf


def _terms(held: list[int], coefficient: Floats | None = None) -> dict[int, float]:
    values = np.ones(len(held)) if coefficient is None else coefficient
    return {q: float(a) for q, a in zip(held, values, strict=True)}


def _extra(
    rng: np.random.Generator, of_demand: list[list[int]], inside: Floats, must_serve: bool
) -> list[Row]:
    """At random: a minimum of a demand, an equality, and a coupled budget."""
    rows = []
    first, last = of_demand[0], of_demand[-1]
    if must_serve or rng.random() < 0.3:
        rows.append(Row("least[d0]", _terms(first), lower=0.5 * float(sum(inside[first]))))
    if rng.random() < 0.2 and len(of_demand) > 1:
        total = float(sum(inside[last]))
        rows.append(Row("exactly[last]", _terms(last), total, total))
    if rng.random() < 0.3:
        everything = list(range(len(inside)))
        rows.append(
            Row(
                "budget[all]",
                _terms(everything),
                upper=1.1 * float(inside.sum()),
                side=Side.COUPLED,
            )
        )
    return rows


def _level_rows(
    kind: object, rng: np.random.Generator, of_demand: list[list[int]], gain: Floats
) -> list[Row]:
    if kind == "max-min":
        return [
            Row(
                f"level[d{j}]",
                _terms(held, -gain[held]),
                upper=0.0,
                scalars={0: 1.0},
                side=Side.DEMAND,
            )
            for j, held in enumerate(of_demand)
        ]
    if not isinstance(kind, Utility):
        return []
    parameters = {
        Utility.POWER: [0.5, 2.0, 3.0],
        Utility.QUADRATIC: [0.3, 1.0],
        Utility.CONVEX_POWER: [1.5, 2.0, 4.0],
    }.get(kind, [0.0])
    return [
        Row(
            f"speed[d{j}]",
            _terms(held, gain[held]),
            utility=kind,
            side=Side.DEMAND,
            weight=float(rng.uniform(0.5, 3.0)),
            parameter=float(rng.choice(parameters)),
        )
        for j, held in enumerate(of_demand)
    ]
