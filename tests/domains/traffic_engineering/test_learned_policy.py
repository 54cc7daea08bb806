"""A learned policy: it beats an equal split on matrices it has not seen, and starts a solve."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from walras.domains import traffic_engineering as te
from walras.errors import InputError
from walras.solving import solve
from walras.types import Floats

pytest.importorskip("torch")


@pytest.fixture(scope="module")
def drawn() -> tuple[te.Network, te.Paths, Floats]:
    """A ring with chords, and traffic that changes from matrix to matrix."""
    rng, n = np.random.default_rng(0), 8
    ends = [(v, (v + k) % n) for v in range(n) for k in (1, 3)]
    ends += [(t, s) for s, t in ends]
    source, target = np.array(ends, np.int32).T
    net = te.Network(tuple("abcdefgh"), source, target, rng.uniform(5.0, 20.0, len(ends)))
    paths = te.candidate_paths(net, k=3, cache=False)
    base = rng.lognormal(0.0, 1.0, (n, n)) * (1.0 - np.eye(n))
    return net, paths, base * rng.lognormal(0.0, 0.3, (40, n, n))


def _utilisation(net: te.Network, paths: te.Paths, flow: Floats) -> float:
    return float(np.max(paths.loads(flow) / net.capacity))


def test_it_carries_all_traffic_near_the_least_utilisation(
    drawn: tuple[te.Network, te.Paths, Floats],
) -> None:
    net, paths, matrices = drawn
    policy = te.learned_policy(paths, matrices[:30], steps=200, layers=3, width=12, rate=0.01)
    ratio, equal = [], []
    for demand in matrices[30:]:
        flow = policy.flow(demand)
        served = np.add.reduceat(flow, paths.first[:-1])
        assert served == pytest.approx(paths.demands(demand), rel=1e-9)
        least = solve(te.min_max_utilisation(net, demand, paths)).value
        ratio.append(_utilisation(net, paths, flow) / least)
        each = (paths.demands(demand) / np.diff(paths.first))[paths.pair]
        equal.append(_utilisation(net, paths, each) / least)
    assert min(ratio) >= 1.0 - 1e-6
    assert np.mean(ratio) < 1.25
    assert np.mean(ratio) < 0.75 * np.mean(equal)


def test_its_flow_fits_and_starts_a_solve(drawn: tuple[te.Network, te.Paths, Floats]) -> None:
    net, paths, matrices = drawn
    matrices = 4.0 * matrices
    policy = te.learned_policy(
        paths, matrices[:30], objective="flow", steps=200, layers=3, width=12, rate=0.01
    )
    for demand in matrices[30:33]:
        flow = policy.flow(demand)
        assert te.evaluate(demand, paths, flow).violation <= 1e-9
        problem = te.max_total_flow(net, demand, paths)
        best = solve(problem)
        assert 0.85 * best.value <= flow.sum() <= best.value * (1.0 + 1e-6)
        assert solve(problem, start=flow).value == pytest.approx(best.value, rel=1e-5)


def test_the_same_seed_gives_the_same_policy(drawn: tuple[te.Network, te.Paths, Floats]) -> None:
    _, paths, matrices = drawn
    once, again = (te.learned_policy(paths, matrices[:4], steps=4, seed=3) for _ in range(2))
    assert once.losses.tolist() == again.losses.tolist()
    assert once.flow(matrices[5]).tolist() == again.flow(matrices[5]).tolist()


def test_the_hook_counts_and_stops(drawn: tuple[te.Network, te.Paths, Floats]) -> None:
    _, paths, matrices = drawn
    seen: list[float] = []

    def hook(step: Any) -> bool:
        seen.append(step.iteration)
        return len(seen) == 3

    policy = te.learned_policy(paths, matrices[:4], steps=9, on_progress=hook)
    assert len(policy.losses) == 3
    assert len(seen) == 3


@pytest.mark.parametrize(
    ("changed", "where"),
    [
        ({"objective": "speed"}, "objective"),
        ({"matrices": []}, "matrices"),
        ({"matrices": [np.ones((2, 2))]}, "demand"),
        ({"steps": 0}, "steps"),
        ({"rate": 0.0}, "rate"),
        ({"seed": -1}, "seed"),
    ],
)
def test_bad_input_is_named(
    drawn: tuple[te.Network, te.Paths, Floats], changed: dict[str, Any], where: str
) -> None:
    _, paths, matrices = drawn
    given: dict[str, Any] = {"matrices": matrices[:2], "steps": 1} | changed
    with pytest.raises(InputError) as caught:
        te.learned_policy(paths, **given)
    assert caught.value.where == where
