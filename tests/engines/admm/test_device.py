"""A slice in torch answers every pass as the compiled worker does."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from tests.engines.admm.test_admm import OBJECTIVES, cluster

from walras.engines.admm import ADMM
from walras.engines.admm.device import OnDevice, TorchWorker
from walras.engines.admm.form import make_form
from walras.engines.admm.passes import Passes
from walras.engines.admm.slices.slice import cut
from walras.engines.admm.worker import Worker
from walras.settings import Settings
from walras.status import Status
from walras.types import Floats


def walked(worker: Passes, price: Floats) -> list[Floats]:
    """The answers of some iterations' passes, in order."""
    found = []
    worker.init_at_prices(0.7, price)
    for k in range(5):
        worker.set_prox_centre(0.7)
        found.append(worker.solve_demands(0.1 * k, 1e-12, 0.0))
        found.append(worker.row_usage(price / 0.7))
        found.append(worker.advance(price / 0.7, 1.6))
        found.append(worker.change())
    worker.rescale(0.5)
    found += [worker.capacities(), worker.entries(), worker.prices(), worker.own_prices()]
    return found


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_every_answer_is_that_of_the_compiled_worker(objective: object) -> None:
    form = make_form(cluster(objective, 4, 11))
    rng = np.random.default_rng(0)
    x, start = rng.uniform(0, 0.5, form.entries.count), np.zeros(form.groups.kind.shape)
    price = np.append(rng.uniform(0, 1, len(form.narrow.source) - 1), 0.0)
    slices = [cut(form, 1, x, start)[0] for _ in range(2)]
    known = walked(Worker(slices[0]), price)
    found = walked(TorchWorker(slices[1], torch.device("cpu")), price)
    for one, other in zip(found, known, strict=True):
        total = np.asarray(other)
        assert np.asarray(one) == pytest.approx(total, rel=1e-7, abs=1e-8)


@pytest.mark.parametrize("threads", [3, 8])
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_proofs_by_any_number_of_threads_give_the_same_bits(
    objective: object, threads: int
) -> None:
    problem = cluster(objective, 4, 60)
    one, other = (
        ADMM(executor=OnDevice("cpu", count)).solve(problem, Settings(tolerance=1e-3))
        for count in (1, threads)
    )
    assert one.status is other.status is Status.OPTIMAL
    assert np.array_equal(one.x, other.x)
    assert np.array_equal(one.prices, other.prices)
    assert len(one.history) == len(other.history)


def test_threads_make_the_proofs_and_the_device_the_iterations() -> None:
    form = make_form(cluster(OBJECTIVES[0], 4, 60))
    whole = cut(form, 1, np.zeros(form.entries.count), np.zeros(form.groups.kind.shape))
    pool = OnDevice("cpu", 4).open(whole)
    try:
        pool.passes.init_at_prices(1.0, np.zeros(whole[0].narrow))
        pool.passes.set_prox_centre(1.0)
        pool.passes.solve_demands(0.0, 1e-9, 0.0)
        used = pool.passes.repair.begin(0.0)
        x = pool.passes.entries()
        assert len(x) == form.entries.count
        assert used == pytest.approx(pool.passes.activities(), rel=1e-12)
        assert np.array_equal(pool.passes.repair.best(), x)  # none is kept yet
    finally:
        pool.close()


def test_a_device_holds_all_demands_in_one_slice() -> None:
    executor = OnDevice("cpu")
    assert executor.slices(8) == 1
    with executor.persistent() as kept:
        assert kept is executor
