"""Proofs in one place: entries and prices are gathered from who holds them, once a proof."""

from __future__ import annotations

import numpy as np

from walras.certificate import dual_bound, minimised_value
from walras.certificate.certify import objective_terms
from walras.certificate.feasibility import violation
from walras.certificate.repair import repaired
from walras.engines.admm.method import Method
from walras.engines.admm.proofs.balance import Balance
from walras.engines.admm.proofs.prover import Allocation
from walras.engines.admm.proofs.tighten_duals import Sharpen
from walras.separable import Separable
from walras.types import Floats


class CentralProver:
    """:class:`walras.engines.admm.proofs.prover.Prover` of any problem.

    Args:
        problem: The problem that was asked about.
        method: The state of the solve.
        sharpen: Of its form.
        threads: Threads at most.
    """

    def __init__(self, problem: Separable, method: Method, sharpen: Sharpen, threads: int) -> None:
        self._problem, self._method, self._sharpen = problem, method, sharpen
        self._threads, self._balance = threads, Balance(problem, threads)
        x = np.clip(np.zeros(problem.entries), problem.lower, problem.upper)
        self._repaired = self._kept = x, np.zeros(problem.scalars)
        self._best, self._prices = np.zeros(problem.rows.count), np.zeros(0)

    def allocation(self) -> Allocation:
        """See :meth:`walras.engines.admm.proofs.prover.Prover.allocation`."""
        problem = self._problem
        x, t, self._prices = self._method.point()
        x, t, rows = repaired(problem, self._balance(x, t), t)
        self._repaired = x, t
        return Allocation(
            minimised_value(problem, x, t),
            violation(problem, x, t, rows),
            objective_terms(problem, x, t) if problem.gap_scale is None else 0.0,
        )

    def keep(self) -> None:
        """See :meth:`walras.engines.admm.proofs.prover.Prover.keep`."""
        self._kept = self._repaired

    def bound(self, best: float) -> float:
        """See :meth:`walras.engines.admm.proofs.prover.Prover.bound`."""
        prices = self._prices
        if self._sharpen.applies(self._method.t):
            method, passes = self._method, self._method.passes
            passes.bound.load_prices()
            narrow = self._sharpen(passes.bound, method.narrow.price, method.t)
            loaded = passes.bound.loaded_prices()
            prices = method.assembled_prices(loaded, narrow, passes.own_prices)
        proof = dual_bound(self._problem, prices, self._threads)
        if proof.value > best:
            self._best = proof.prices
        return max(best, proof.value)

    def best(self) -> tuple[Floats, Floats, Floats]:
        """See :meth:`walras.engines.admm.proofs.prover.Prover.best`."""
        return *self._kept, self._best

    def lost(self) -> bool:
        """Nothing is: what is kept is kept here."""
        return False
