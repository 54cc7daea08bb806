"""The first-order engine's kernels, compiled and in torch: the same answers, and their KKT."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.domains.instances import draw

import walras as wl
from walras.engines.admm import ADMM
from walras.engines.admm.device import OnDevice
from walras.engines.admm.proofs.incumbent import Incumbent
from walras.engines.admm.worker_pool import Executor, Threads
from walras.kernels import consensus_copies
from walras.kernels.block_prox import newton
from walras.kernels.block_prox.rows import LOG, NONE, POWER, wanted
from walras.kernels.gpu import block_prox as gpu_groups
from walras.kernels.gpu.consensus_copies import Copies
from walras.kernels.gpu.segments import Segments, floats
from walras.settings import Settings

cs = wl.domains.cluster_scheduling
SEEDS = st.integers(0, 100_000)
TOLERANCE = 1e-11
DEVICES = ["cpu", pytest.param("cuda", marks=pytest.mark.gpu)]
every_device = pytest.mark.parametrize("device", DEVICES)


@dataclass(frozen=True, eq=False)
class Case:
    """Random groups with a feasible point each."""

    ptr: np.ndarray
    local: np.ndarray
    v: np.ndarray
    s: np.ndarray
    x_lower: np.ndarray
    x_upper: np.ndarray
    kind: np.ndarray
    weight: np.ndarray
    parameter: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    shift: np.ndarray
    price: np.ndarray


def random_case(seed: int, groups: int | None = None) -> Case:
    rng = np.random.default_rng(seed)
    count, rows = int(rng.integers(1, 9)), int(rng.integers(1, 4))
    count = count if groups is None else groups
    width = rng.integers(2 * rows, 2 * rows + 8, count)
    ptr = np.append(0, np.cumsum(width)).astype(np.int64)
    n = int(ptr[-1])
    local = rng.uniform(0.2, 2.0, (rows, n)) * (rng.random((rows, n)) < 0.9)
    point = rng.uniform(0.1, 1.0, n)
    activity = np.add.reduceat(local * point, ptr[:-1], axis=1).T
    kind = np.full((count, rows), NONE, dtype=np.int8)
    kind[:, 0] = rng.integers(0, 6, count)
    kind[activity <= 0] = NONE
    parameter = rng.uniform(1.5, 3.0, (count, rows))
    upper = activity * rng.uniform(1.0, 1.5, (count, rows))
    lower = np.where(rng.random((count, rows)) < 0.5, activity * 0.7, -np.inf)
    equal = (rng.random((count, rows)) < 0.1) & (rows == 1)
    return Case(
        ptr=ptr,
        local=local,
        v=rng.normal(1.0, 2.0, n),
        s=rng.lognormal(0, 1, n),
        x_lower=np.zeros(n),
        x_upper=np.where(rng.random(n) < 0.3, 1.5, np.inf),
        kind=kind,
        weight=rng.uniform(0.5, 2.0, (count, rows)),
        parameter=parameter,
        lower=np.where(equal, activity, lower),
        upper=np.where(equal, activity, upper),
        shift=rng.random((count, rows)) * (kind == NONE),
        price=np.where((kind == LOG) | (kind == POWER), -1.0, 0.0),
    )


def compiled(c: Case, softness: float) -> tuple[np.ndarray, np.ndarray, float, float]:
    price, x = c.price.copy(), np.zeros(len(c.v))
    value, slope = newton.solve_groups(
        c.ptr,
        c.local,
        c.v,
        c.s,
        c.x_lower,
        c.x_upper,
        c.kind,
        c.weight,
        c.parameter,
        c.lower,
        c.upper,
        softness,
        TOLERANCE,
        c.shift,
        price,
        x,
    )
    return price, x, value, slope


def in_torch(c: Case, softness: float, device: str) -> tuple[np.ndarray, np.ndarray, float, float]:
    place = torch.device(device)
    local, v, s, low, high = (
        floats(values, place) for values in (c.local, c.v, c.s, c.x_lower, c.x_upper)
    )
    weight, parameter, lower, upper = (
        floats(values, place) for values in (c.weight, c.parameter, c.lower, c.upper)
    )
    made = gpu_groups.Groups(
        Segments.of(c.ptr, place),
        local,
        v,
        s,
        low,
        high,
        torch.as_tensor(c.kind, device=place),
        weight,
        parameter,
        lower,
        upper,
        softness,
    )
    price, x, value, slope = gpu_groups.solve_groups(
        made, floats(c.shift, place), floats(c.price, place), TOLERANCE
    )
    return price.cpu().numpy(), x.cpu().numpy(), value, slope


def kkt_error(c: Case, price: np.ndarray, x: np.ndarray, softness: float) -> float:
    """Largest violation of x = clip(v - A'p s) and of what the rows ask for at their prices."""
    group = np.repeat(np.arange(len(c.ptr) - 1), np.diff(c.ptr))
    pulled = np.sum(c.local * price.T[:, group], axis=0)
    worst = float(np.max(np.abs(x - np.clip(c.v - pulled * c.s, c.x_lower, c.x_upper))))
    used = np.add.reduceat(c.local * x, c.ptr[:-1], axis=1).T
    for j, k in np.ndindex(price.shape):
        p, soft = price[j, k], softness * price[j, k]
        if c.kind[j, k] != NONE:
            missing = used[j, k] - wanted(c.kind[j, k], c.weight[j, k], c.parameter[j, k], p)[0]
        elif p > 0:
            missing = used[j, k] - c.upper[j, k] - soft
        elif p < 0:
            missing = used[j, k] - c.lower[j, k] - soft
        else:
            missing = max(used[j, k] - c.upper[j, k], c.lower[j, k] - used[j, k], 0.0)
        worst = max(worst, abs(missing) / max(1.0, abs(used[j, k])))
    return worst


@pytest.mark.parametrize("softness", [0.0, 0.3])
@settings(max_examples=300, deadline=None)
@example(seed=5097)  # Newton's method cycles
@given(seed=SEEDS)
def test_compiled_kernels_solve_every_group(softness: float, seed: int) -> None:
    c = random_case(seed)
    price, x, _, _ = compiled(c, softness)
    assert kkt_error(c, price, x, softness) <= 1e-9


@pytest.mark.parametrize("rows", [1, 2, 3])
def test_a_bound_without_an_answer_does_not_spoil_the_next_call(rows: int) -> None:
    # Entries of at most 1 cannot add up to 5; afterwards only 1 is asked for.
    lower = np.full((1, rows), -np.inf)
    c = Case(
        ptr=np.array([0, 2]),
        local=np.ones((rows, 2)),
        v=np.zeros(2),
        s=np.ones(2),
        x_lower=np.zeros(2),
        x_upper=np.ones(2),
        kind=np.zeros((1, rows), np.int8),
        weight=np.ones((1, rows)),
        parameter=np.zeros((1, rows)),
        lower=lower,
        upper=np.full((1, rows), np.inf),
        shift=np.zeros((1, rows)),
        price=np.zeros((1, rows)),
    )
    lower[0, 0] = 5.0
    lost, _, _, _ = compiled(c, 0.0)
    assert np.max(np.abs(lost)) > 1e12
    lower[0, 0] = 1.0
    _, x, _, _ = compiled(Case(**{**vars(c), "price": lost}), 0.0)
    assert x == pytest.approx([0.5, 0.5], abs=1e-9)


def asking(level: float, left: float) -> Case:
    """Rows that ask for a level of what others allow: parallel; prices left by too high a level."""
    rng = np.random.default_rng(0)
    ptr, most = np.array([0, 3, 7, 8, 10]), rng.lognormal(0.0, 3.0, 4)
    n, each = 10, np.repeat(most, np.diff(ptr))
    none, one = np.full((4, 2), -np.inf), np.ones((4, 2))
    return Case(
        ptr=ptr,
        local=np.array([np.ones(n), -1.0 / each]),
        v=each * rng.normal(0.5, 1.0, n),
        s=rng.uniform(0.5, 2.0, n),
        x_lower=np.zeros(n),
        x_upper=np.full(n, np.inf),
        kind=np.zeros((4, 2), np.int8),
        weight=one,
        parameter=one,
        lower=none,
        upper=np.column_stack([most, np.full(4, -level)]),
        shift=np.zeros((4, 2)),
        price=left * np.column_stack([1.0 / most, np.ones(4)]),
    )


@every_device
@pytest.mark.parametrize("left", [1e3, 1e6, 1e9, 1e12])
@pytest.mark.parametrize("level", [0.0, 0.5, 0.999])
def test_prices_that_cancel_are_no_answer(device: str, level: float, left: float) -> None:
    c = asking(level, left)
    _, known, _, _ = compiled(asking(level, 0.0), 0.0)
    for x in (compiled(c, 0.0)[1], in_torch(c, 0.0, device)[1]):
        assert x == pytest.approx(known, rel=1e-6, abs=1e-9)


@every_device
@pytest.mark.parametrize("softness", [0.0, 0.3])
@settings(max_examples=60)
@example(seed=5097)
@given(seed=SEEDS)
def test_groups_are_solved(device: str, softness: float, seed: int) -> None:
    c = random_case(seed)
    expected = compiled(c, softness)
    price, x, value, _ = in_torch(c, softness, device)
    assert kkt_error(c, price, x, softness) <= 1e-7
    assert x == pytest.approx(expected[1], abs=1e-7)
    assert value == pytest.approx(float(np.sum(c.shift * price)), rel=1e-12)
    if price == pytest.approx(expected[0], abs=1e-9):  # prices of dependent rows are not unique
        assert value == pytest.approx(expected[2], abs=1e-7)


@every_device
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_few_groups_that_are_left_go_to_the_cpu(
    device: str, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    c = random_case(seed, groups=200)
    taken, steps, host, step = [], [0], newton.solve_groups, gpu_groups._stepped

    def on_host(ptr: np.ndarray, *arguments: Any) -> tuple[float, float]:
        taken.append(len(ptr) - 1)
        return host(ptr, *arguments)

    def stepped(*arguments: Any) -> Any:
        steps[0] += 1
        return step(*arguments)

    monkeypatch.setattr(gpu_groups, "on_host", on_host)
    monkeypatch.setattr(gpu_groups, "_stepped", stepped)
    price, x, _, slope = in_torch(c, 0.3, device)
    assert kkt_error(c, price, x, 0.3) <= 1e-7
    assert len(taken) == 1
    assert 0 < taken[0] <= 200 / 16
    few, steps[0] = steps[0], 0
    monkeypatch.setattr(gpu_groups, "_FEW_GROUPS", 0.0)  # all the way on the device
    alone = in_torch(c, 0.3, device)
    assert few < steps[0]
    assert x == pytest.approx(alone[1], abs=1e-7)
    assert slope == pytest.approx(alone[3], rel=1e-6)


@every_device
@pytest.mark.parametrize("seed", [4, 9, 14, 21])
def test_the_slope_is_how_fast_the_payment_rises(device: str, seed: int) -> None:
    c = random_case(seed)
    held = np.where(c.kind == NONE, c.shift, 0.0)
    _, _, low, slope = in_torch(c, 0.5, device)
    step = 1e-6
    moved = Case(**{**vars(c), "lower": c.lower - step * held, "upper": c.upper - step * held})
    _, _, high, _ = in_torch(moved, 0.5, device)
    assert slope > 0.01
    assert (high - low) / step == pytest.approx(slope, rel=1e-4)


@every_device
@settings(max_examples=40)
@given(seed=SEEDS)
def test_passes_over_copies(device: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, narrow, place = int(rng.integers(1, 20)), 4, torch.device(device)
    ptr = np.concatenate([[0], np.cumsum(rng.integers(1, 4, n))]).astype(np.int64)
    size = int(ptr[-1])
    row, a = rng.integers(0, narrow, size).astype(np.uint32), rng.normal(size=size)
    w, state = rng.uniform(0.5, 2.0, size), rng.normal(size=size)
    x, cost, s = rng.random(n), rng.normal(size=n), rng.random(n)
    lower, upper = np.zeros(n), np.where(rng.random(n) < 0.5, 1.0, np.inf)
    price = rng.normal(size=narrow)
    made = Copies.of(ptr, row, a, w, narrow, place)
    z, xs, ps, low, high, cs_, ss = (
        floats(v, place) for v in (state, x, price, lower, upper, cost, s)
    )
    out = np.empty(n)
    consensus_copies.centres(ptr, state, w, 0.7, cost, s, out)
    assert made.centres(z, 0.7, cs_, ss).cpu().numpy() == pytest.approx(out, abs=1e-12)
    consensus_copies.priced_centres(
        ptr, row, np.arange(narrow, dtype=np.uint32), a, price, x, np.full(n, 2.0), cost, s, out
    )
    found = made.priced_centres(ps, xs, floats(np.full(n, 2.0), place), cs_, ss)
    assert found.cpu().numpy() == pytest.approx(out, abs=1e-12)
    sums = np.zeros((2, narrow))
    consensus_copies.row_sums(ptr, row, a, w, state, x, lower, upper, price, sums[0], sums[1])
    assert made.row_sums(z, xs, low, high, ps).cpu().numpy() == pytest.approx(sums, abs=1e-12)
    new, squares = made.advanced(z, xs, low, high, ps, 1.6)
    expected = consensus_copies.advance(ptr, row, a, w, state, x, lower, upper, price, 1.6)
    assert squares.cpu().numpy() == pytest.approx(expected, rel=1e-12)
    assert new.cpu().numpy() == pytest.approx(state, abs=1e-12)


WAYS: list[dict[str, Any]] = [
    {},
    {"collapse": True},
    {"mode": "paper"},
    {"mode": "penalty"},
    {"mode": "augmented-lagrangian"},
]


@every_device
@pytest.mark.parametrize("way", WAYS, ids=str)
@pytest.mark.parametrize("objective", [cs.max_min, cs.proportional_fairness, cs.total_throughput])
def test_the_engine_takes_the_same_iterations_on_a_device(
    device: str, objective: Any, way: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Incumbent, "due", lambda self, iteration: True)
    data = draw(5, 5, 30)
    problem = objective(data.throughput, data.size, data.capacity * 2)
    places: tuple[Executor, Executor] = Threads(), OnDevice(device, 2)
    # Rules that ask whether something moves less than a bound part ways by rounding in the end.
    many, error = (12, 1e-4) if "mode" in way else (60, 1e-6)
    one, other = (
        ADMM(iterations=many, executor=where, **way).solve(problem, Settings(tolerance=1e-12))
        for where in places
    )
    assert other.x == pytest.approx(one.x, abs=error)
    found = other.history.frame()[["value", "bound"]].to_numpy()
    expected = one.history.frame()[["value", "bound"]].to_numpy()
    assert found == pytest.approx(expected, rel=error, abs=error)
