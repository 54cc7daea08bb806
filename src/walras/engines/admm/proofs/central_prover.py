"""Proofs in one place: entries and prices are gathered from their holders, once a proof."""

from __future__ import annotations

import numpy as np

from walras.certificate import dual_bound, minimised_value
from walras.certificate.certify import objective_terms
from walras.certificate.feasibility import violation
from walras.certificate.repair import repaired
from walras.engines.admm.method import Method
from walras.engines.admm.proofs.balance import Balance
from walras.engines.admm.proofs.incumbent import Allocation
from walras.engines.admm.proofs.tighten_duals import DualTightening
from walras.separable import Separable
from walras.types import Floats


class CentralProver:
    """:class:`walras.engines.admm.proofs.incumbent.Prover` of any problem.

    Args:
        problem: The caller's problem.
        method: The state of the solve.
        tightening: Dual tightening of its form.
        threads: Largest number of threads.
    """

    def __init__(
        self, problem: Separable, method: Method, tightening: DualTightening, threads: int
    ) -> None:
        self._problem, self._method, self._tightening = problem, method, tightening
        self._threads, self._balance = threads, Balance(problem, threads)
        x = np.clip(np.zeros(problem.entries), problem.lower, problem.upper)
        self._repaired = self._kept = x, np.zeros(problem.scalars)
        self._best, self._prices = np.zeros(problem.rows.count), np.zeros(0)

    def allocation(self) -> Allocation:
        """See :meth:`walras.engines.admm.proofs.incumbent.Prover.allocation`."""
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
        """See :meth:`walras.engines.admm.proofs.incumbent.Prover.keep`."""
        self._kept = self._repaired

    def bound(self, best: float) -> float:
        """See :meth:`walras.engines.admm.proofs.incumbent.Prover.bound`."""
        prices = self._prices
        if self._tightening.applies(self._method.t):
            method, passes = self._method, self._method.passes
            passes.bound.load_prices()
            narrow = self._tightening(passes.bound, method.narrow.price, method.t)
            loaded = passes.bound.loaded_prices()
            prices = method.assembled_prices(loaded, narrow, passes.own_prices)
        proof = dual_bound(self._problem, prices, self._threads)
        if proof.value > best:
            self._best = proof.prices
        return max(best, proof.value)

    def best(self) -> tuple[Floats, Floats, Floats]:
        """See :meth:`walras.engines.admm.proofs.incumbent.Prover.best`."""
        return *self._kept, self._best

    def lost(self) -> bool:
        """Whether something was lost: never, since the best is kept here."""
        return False
