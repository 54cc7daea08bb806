"""Water filling between entities: closed forms, leximin, and a direct statement in HiGHS."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.domains.cluster_scheduling.shared_devices import drawn, stated
from tests.domains.cluster_scheduling.small import CAPACITY, SIZE, T
from tests.domains.instances import Data, draw

from walras.domains import cluster_scheduling as cs
from walras.errors import InputError
from walras.solving import solve
from walras.status import Status

NO_PAIRS = cs.Pairs([], [], np.zeros((0, 2, 3)))


ENTITY, WEIGHT = [0, 1, 2, 0, 1, 2, 0, 1], [1.0, 2.0, 0.5]


class _Cluster:
    """A direct statement, compiled once: base, pace and capacities are parameters."""

    def __init__(self, data: Data, pairs: cs.Pairs = NO_PAIRS) -> None:
        y, used, (_, *rules) = stated(data, pairs)
        self.data, n = data, len(data.size)
        self.base, self.pace, self.one = (cp.Parameter(n) for _ in range(3))
        self.gpus, t = cp.Parameter(len(data.capacity), value=data.capacity), cp.Variable()
        rules = [used <= self.gpus, *rules]
        self.rise_problem = cp.Problem(
            cp.Maximize(t), [*rules, y >= self.base + cp.multiply(self.pace, t)]
        )
        self.most_problem = cp.Problem(cp.Maximize(self.one @ y), [*rules, y >= self.base])

    def rise(self, base: np.ndarray, pace: np.ndarray) -> tuple[float, np.ndarray]:
        """How far all rise, -inf where the base is out of reach; prices of the GPUs."""
        self.base.value, self.pace.value = base, pace
        rise = self.rise_problem.solve(cp.HIGHS)
        return float(rise), np.asarray(self.rise_problem.constraints[0].dual_value)

    def most(self, base: np.ndarray, job: int) -> float:
        """The most that a job can have where all have their base."""
        self.base.value, self.one.value = base, np.eye(len(base))[job]
        return float(self.most_problem.solve(cp.HIGHS))

    def levels(
        self, entity: list[int], weight: list[float], fifo: list[bool]
    ) -> Iterator[tuple[np.ndarray, np.ndarray, float]]:
        """Base, pace and rise of each level; who can rise is asked of one problem a job."""
        n = len(entity)
        base, stopped = np.zeros(n), np.zeros(n, dtype=bool)
        while not stopped.all():
            pace = np.zeros(n)
            for e, whole in enumerate(weight):
                mine = [j for j in range(n) if entity[j] == e and not stopped[j]]
                mine = mine[:1] if fifo[e] else mine
                total = sum(self.data.weight[j] for j in mine)
                for j in mine:
                    pace[j] = whole * self.data.weight[j] / total
            rise, _ = self.rise(base, pace)
            yield base, pace, rise
            base = base + rise * pace
            for j in np.flatnonzero(pace).tolist():
                stopped[j] = self.most(base - 1e-7, j) <= base[j] + 1e-4


def _stated(
    data: Data,
    entity: list[int],
    weight: list[float],
    fifo: list[bool],
    pairs: cs.Pairs = NO_PAIRS,
) -> np.ndarray:
    """Throughputs by the definition."""
    *_, (base, pace, rise) = _Cluster(data, pairs).levels(entity, weight, fifo)
    return base + rise * pace


def _filled(data: Data, fifo: list[bool], pairs: cs.Pairs | None, engine: str) -> cs.Hierarchy:
    return cs.hierarchical(
        data.throughput,
        data.size,
        data.capacity,
        ENTITY,
        data.weight,
        entity_weight={str(e): weight for e, weight in enumerate(WEIGHT)},
        inside={str(e): "fifo" if first else "fairness" for e, first in enumerate(fifo)},
        engine=engine,
        pairs=pairs,
    )


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("fifo", [[False, False, False], [True, False, True]])
@pytest.mark.parametrize("engine", ["exact", "interior"])
def test_agrees_with_its_definition(seed: int, fifo: list[bool], engine: str) -> None:
    data = draw(seed, m=3, n=8)
    found = _filled(data, fifo, None, engine)
    wanted = _stated(data, ENTITY, WEIGHT, fifo)
    assert found.throughput == pytest.approx(wanted, rel=1e-4, abs=1e-4)
    assert cs.evaluate(data.throughput, data.size, data.capacity, found.x).violation <= 1e-8
    assert found.entities == ("0", "1", "2")
    sums = [found.throughput[[j for j in range(8) if ENTITY[j] == e]].sum() for e in range(3)]
    assert found.entity == pytest.approx(sums)
    assert all(level.rise <= level.bound for level in found.levels)
    if engine == "exact":  # the interior engine may leave a gap where few allocations are left
        assert found.status == Status.OPTIMAL
        assert all(level.bound <= level.rise + 1e-6 for level in found.levels)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("fifo", [[False, False, False], [True, False, True]])
def test_pairs_share_devices(seed: int, fifo: list[bool]) -> None:
    data, pairs = drawn(seed)
    found = _filled(data, fifo, pairs, "exact")
    wanted = _stated(data, ENTITY, WEIGHT, fifo, pairs)
    assert found.throughput == pytest.approx(wanted, rel=1e-4, abs=1e-4)
    assert found.status == Status.OPTIMAL


@pytest.mark.parametrize("shared", [False, True])
def test_the_prices_of_a_level_are_what_one_more_gpu_brings(shared: bool) -> None:
    """They are cvxpy's, level by level, and between the one-sided differences of the rise.

    What earlier levels gave is out of reach with fewer GPUs, so the last one is beyond price there.
    With a base that is lower by a ten-millionth, the duals are unique.
    """
    data, pairs = drawn(2) if shared else (draw(2, m=3, n=8), NO_PAIRS)
    fifo, step = [True, False, True], 1e-3
    found = _filled(data, fifo, pairs if shared else None, "exact")
    direct = _Cluster(data, pairs)
    levels = list(direct.levels(ENTITY, WEIGHT, fifo))
    for level, (base, pace, rise) in zip(found.levels, levels, strict=True):
        _, duals = direct.rise(base * (1.0 - 1e-7), pace)
        assert level.prices == pytest.approx(duals, rel=1e-3, abs=1e-6)
        for i, price in enumerate(level.prices):
            slopes = []
            for way in (step, -step):
                direct.gpus.value = data.capacity + way * (np.arange(3) == i)
                slopes.append((direct.rise(base, pace)[0] - rise) / way)
            assert slopes[0] - 1e-4 <= price <= slopes[1] + 1e-4
        direct.gpus.value = data.capacity
    assert len(found.levels) > 2
    assert all(level.prices.max() > 0.01 for level in (found.levels[0], found.levels[-1]))


@pytest.mark.parametrize("seed", range(3))
def test_leximin_with_pairs_is_the_same_water(seed: int) -> None:
    data, pairs = drawn(seed)
    levels = cs.leximin(
        data.throughput, data.size, data.capacity, data.weight, levels=8, pairs=pairs
    )
    found = solve(levels)
    reached = -found.problem.rows.matrix @ found.entries
    family = next(each for each in found.problem.rows.families if each.name == "throughput")
    wanted = _stated(data, list(range(8)), data.weight.tolist(), [False] * 8, pairs)
    assert data.weight * reached[family.start : family.stop] == pytest.approx(wanted, rel=1e-4)


@pytest.mark.parametrize("seed", range(3))
def test_entities_of_one_job_each_are_leximin(seed: int) -> None:
    data = draw(seed)
    n = len(data.size)
    names = [f"job-{j}" for j in range(n)]
    weights = dict(zip(names, data.weight, strict=True))
    found = cs.hierarchical(data.throughput, data.size, data.capacity, names, entity_weight=weights)
    levels = cs.leximin(data.throughput, data.size, data.capacity, data.weight, levels=n)
    reached = (data.throughput * solve(levels).x).sum(axis=0)
    assert found.throughput == pytest.approx(reached, rel=1e-5)


def test_who_stops_leaves_its_part_to_its_own_entity() -> None:
    """The second job of two is slow at best; what it cannot use is its entity's other job's."""
    found = cs.hierarchical([[4.0, 4.0, 0.1]], [1, 1, 0.001], [1], ["one", "two", "two"])
    total = 4.0 * (1.0 - 0.001)  # the slow job has all of its time
    assert found.throughput[2] == pytest.approx(0.1, rel=1e-6)
    assert found.throughput[0] == pytest.approx((total + 0.1) / 2.0, rel=1e-6)
    assert found.throughput[1] == pytest.approx((total - 0.1) / 2.0, rel=1e-6)


def test_first_come_first_served_inside() -> None:
    """Two and a half GPUs, an entity of one job, and one of three in their order."""
    found = cs.hierarchical([[1.0] * 4], [1] * 4, [2.5], ["a", "b", "b", "b"], inside="fifo")
    assert found.throughput == pytest.approx([1.0, 1.0, 0.5, 0.0], abs=1e-6)


def test_a_level_that_rises_by_nothing_is_proved_too() -> None:
    speed = [[4.0, 3.0, 2.0, 2.0], [1.0, 1.5, 0.5, 1.0]]
    found = cs.hierarchical(
        speed, [1] * 4, [1, 2], ["a", "b", "b", "b"], entity_weight={"a": 2.0}, inside={"b": "fifo"}
    )
    assert found.levels[-1].rise == pytest.approx(0.0, abs=1e-6)
    assert found.status == Status.OPTIMAL
    assert found.throughput == pytest.approx([3.5, 1.75, 0.5, 0.0], abs=1e-5)


@given(seed=st.integers(0, 10_000))
@settings(max_examples=30, deadline=None)
def test_every_draw_is_proved(seed: int) -> None:
    data, rng = draw(seed, m=3, n=9), np.random.default_rng(seed)
    entity = rng.integers(0, 3, 9).tolist()
    how = str(rng.choice(["fifo", "fairness"]))
    found = cs.hierarchical(
        data.throughput, data.size, data.capacity, entity, data.weight, inside=how
    )
    assert found.status == Status.OPTIMAL
    assert cs.evaluate(data.throughput, data.size, data.capacity, found.x).violation <= 1e-8


@pytest.mark.parametrize(
    ("changed", "where"),
    [
        ({"entity": ["a", "b"]}, "entity"),
        ({"entity_weight": {"c": 1.0}}, "entity"),
        ({"entity_weight": {"a": 0.0}}, "entity_weight['a']"),
        ({"entity_weight": {"a": np.nan}}, "entity_weight['a']"),
        ({"inside": "lifo"}, "inside"),
        ({"inside": {"a": "lifo"}}, "inside"),
        ({"inside": {"c": "fifo"}}, "entity"),
        ({"previous": T}, "previous"),
    ],
)
def test_bad_input_is_named(changed: dict[str, Any], where: str) -> None:
    asked: dict[str, Any] = {"entity": ["a", "b", "a"]} | changed
    with pytest.raises(InputError) as caught:
        cs.hierarchical(T, SIZE, CAPACITY, **asked)
    assert caught.value.where.startswith(where)
