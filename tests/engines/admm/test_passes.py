"""The passes: every worker has all, each names its reduction, and slices answer as one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np
import pytest
import scipy.sparse as sp
from tests.engines.admm.proofs.points import standing_at
from tests.engines.admm.proofs.test_distributed_prover import served
from tests.engines.admm.test_admm import cluster
from tests.engines.admm.test_private_rows import LINKS, flows

import walras as wl
from walras.engines.admm import ADMM
from walras.engines.admm.device import TorchWorker
from walras.engines.admm.passes import (
    PASSES,
    Answer,
    BoundPasses,
    Pass,
    Passes,
    Reduction,
    RepairPasses,
    calls_of,
    passes_of,
    sums,
)
from walras.engines.admm.proofs.incumbent import Incumbent
from walras.engines.admm.slices import row_classification
from walras.engines.admm.slices.bound import Bound
from walras.engines.admm.slices.repair import Repair
from walras.engines.admm.slices.slice import Slice
from walras.engines.admm.worker import Worker
from walras.engines.admm.worker_pool import Executor, LocalPool, WorkerPool, combined
from walras.separable import Separable, Side
from walras.settings import Settings
from walras.types import Floats

cs = wl.domains.cluster_scheduling
HOLDERS: list[tuple[type, type]] = [
    (Worker, Passes),
    (TorchWorker, Passes),
    (Repair, RepairPasses),
    (Bound, BoundPasses),
]
PAIRS = [
    pytest.param(holder, protocol, method.__name__, id=f"{holder.__name__}.{method.__name__}")
    for holder, protocol in HOLDERS
    for method, _ in passes_of(protocol)
]


@pytest.mark.parametrize(("holder", "protocol", "name"), PAIRS)
def test_a_worker_that_lacks_a_pass_cannot_be_made(holder: type, protocol: type, name: str) -> None:
    others = {key: value for key, value in vars(holder).items() if key in vars(protocol)}
    del others[name]
    lacking = type(holder.__name__, (protocol,), {**others, "__init__": lambda self: None})
    with pytest.raises(TypeError, match=rf"abstract.* '?{name}\b"):
        lacking()


def test_a_pass_without_a_reduction_is_refused() -> None:
    class Forgetful(Protocol):
        @sums
        def total(self) -> Floats: ...

        def price_rise(self) -> Floats: ...

    with pytest.raises(TypeError, match=r"pass Forgetful\.price_rise names no reduction"):
        list(passes_of(Forgetful))


def test_a_pool_has_every_pass_of_a_worker() -> None:
    problem = cluster(cs.max_min, 3, 8)
    with standing_at(problem, np.zeros(24), np.zeros(1), np.zeros(problem.rows.count)) as (made, _):
        for method, one in PASSES.items():
            room = one.path.rpartition(".")[0]
            of = getattr(made.passes, room) if room else made.passes
            assert callable(getattr(of, method.__name__))


def test_calls_are_written_down_in_order() -> None:
    def resume(passes: Passes) -> None:
        passes.set_prox_centre(2.0)
        passes.repair.begin(0.5)

    found = calls_of(resume)
    assert found == [(PASSES[Passes.set_prox_centre], (2.0,)), (PASSES[RepairPasses.begin], (0.5,))]


Record = tuple[Pass, tuple[object, ...], Answer]


@dataclass
class Slices:
    """An executor of a number of slices, whose pools hand every pass to a witness.

    Attributes:
        count: How many.
        witness: Sees each pass, its arguments, the answers of the slices and how they add up.
    """

    count: int
    witness: Callable[[Pass, tuple[object, ...], LocalPool, list[Answer]], None]

    def slices(self, workers: int) -> int:
        return self.count

    def open(self, slices: Sequence[Slice]) -> WorkerPool:
        return _Watched(slices, self.witness)

    def persistent(self) -> AbstractContextManager[Executor]:
        return nullcontext(self)


class _Watched(LocalPool):
    def __init__(self, slices: Sequence[Slice], witness: Callable[..., None]) -> None:
        super().__init__(slices, [Worker(one) for one in slices])
        self._witness = witness

    def _answers(self, one: Pass, *args: object) -> list[Answer]:
        found = super()._answers(one, *args)
        self._witness(one, args, self, found)
        return found


@dataclass
class Account:
    """What one slice answers, and which wrong reductions of two slices' answers are seen."""

    expected: list[Record] = field(default_factory=list)
    seen: set[tuple[str, Reduction]] = field(default_factory=set)
    met: set[str] = field(default_factory=set)

    def note(
        self, one: Pass, args: tuple[object, ...], pool: LocalPool, found: list[Answer]
    ) -> None:
        self.expected.append((one, args, _copied(combined(one, pool._tree, found))))

    def compare(
        self, one: Pass, args: tuple[object, ...], pool: LocalPool, found: list[Answer]
    ) -> None:
        known, given, answer = self.expected.pop(0)
        assert known == one
        assert all(_same(a, b) for a, b in zip(given, args, strict=True))
        assert _same(combined(one, pool._tree, found), answer), one.path
        self.met.add(one.path)
        for wrong in set(Reduction) - {one.reduction}:
            try:
                other = combined(replace(one, reduction=wrong), pool._tree, found)
            except (TypeError, ValueError, IndexError):
                self.seen.add((one.path, wrong))
            else:
                if not _same(other, answer):
                    self.seen.add((one.path, wrong))


def _copied(answer: Answer) -> Answer:
    return None if answer is None else answer.copy()


def _same(one: Any, other: Any) -> bool:
    if one is None or other is None:
        return one is other
    return np.shape(one) == np.shape(other) and np.array_equal(one, other, equal_nan=True)


def mirrored(problem: Separable) -> Separable:
    """The resources' rows with the opposite sign."""
    rows = problem.rows
    flip = rows.side == Side.RESOURCE
    turned = replace(
        rows,
        matrix=sp.csc_array(sp.diags_array(np.where(flip, -1.0, 1.0)) @ rows.matrix),
        lower=np.where(flip, -rows.upper, rows.lower),
        upper=np.where(flip, -rows.lower, rows.upper),
    )
    return replace(problem, rows=turned)


def asked() -> Iterator[tuple[Separable, dict[str, Any]]]:
    """Problems and options that between them run nearly every pass."""
    for options in ({}, {"collapse": True}, {"mode": "paper"}, {"mode": "augmented-lagrangian"}):
        for objective in (cs.max_min, cs.proportional_fairness, cs.total_throughput):
            yield cluster(objective, 5, 20), options
    yield served(0, 5, 3, levels=False), {}
    yield flows(4), {}
    with pytest.MonkeyPatch.context() as few_pairs:
        few_pairs.setattr(row_classification, "MOST_CORRECTED", 0)
        yield flows(4), {}


def rare(passes: Passes) -> None:
    """Those that few solves run."""
    passes.bound.load_prices()
    passes.bound.loaded_prices()
    passes.bound.use_scarcest_demands(0, 1.0)
    passes.own_prices()
    passes.repair.begin(0.0)
    passes.repair.seed_rows(np.ones(LINKS + 1))


def falling(passes: Passes) -> None:
    """Prices so high that entries which nothing limits ask them to fall."""
    high = np.append(np.full(3, 10.0), 0.0)
    passes.bound.load_prices()
    passes.bound.set_prices(high, 1.0, 1.0)
    passes.bound.free_entry_moves(high, np.zeros(4), np.ones(4))


def test_two_slices_answer_as_one_and_no_other_reduction_would(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Incumbent, "due", lambda self, iteration: iteration % 10 == 0)
    account = Account()
    witnesses = (1, account.note), (2, account.compare)
    for problem, options in asked():
        for count, witness in witnesses:
            where = ADMM(iterations=60, executor=Slices(count, witness), **options)
            where.solve(problem, Settings(tolerance=1e-12))
        assert not account.expected
    direct = (
        (flows(4), True, rare),
        (mirrored(served(0, 5, 3, levels=False)), False, falling),
    )
    for problem, own, calls in direct:
        rng = np.random.default_rng(0)
        point = rng.random(problem.entries), np.zeros(0), rng.normal(size=problem.rows.count)
        for count, witness in witnesses:
            pool = Slices(count, witness).open
            with standing_at(problem, *point, slices=count, own=own, opened=pool) as (method, _):
                calls(method.passes)
    declared = set(PASSES.values())
    assert account.met == {one.path for one in declared}
    wrong = {(one.path, other) for one in declared for other in set(Reduction) - {one.reduction}}
    assert account.seen == wrong
