"""Proofs at the demands' holders: only sums over narrow rows and a few numbers cross.

The steps are those of :mod:`.balance`, :mod:`walras.certificate.repair` and
:mod:`walras.certificate.bound`. Demands are linked only by their use of narrow rows, by pairs of
these rows, by the scalar and by totals. The traffic does not grow with the number of demands; the
allocation itself crosses once, when the solve ends.

Two steps that need all entries together are left out. A scalar without bounds is paid by scaling
prices, not by balancing them. A utility without any entry in use waits for the next iterate.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from walras.certificate.contribution import (
    best_scalar,
    corrected,
    finite,
    may_move,
    one_way,
    payment_factor,
    ridge,
    room,
    row_terms,
    scalar_range,
    scalar_terms,
    scale_down,
    share_factors,
)
from walras.certificate.dual_repair import HUGE, PASSES, project_row_signs
from walras.certificate.structure import structure
from walras.engines.admm.method import Method
from walras.engines.admm.proofs.balance import SWEEPS, helps
from walras.engines.admm.proofs.incumbent import Allocation
from walras.engines.admm.proofs.tighten_duals import DualTightening
from walras.engines.admm.slices.block_normal_equations import RIDGE
from walras.engines.admm.slices.repair import USED, errors, evened, violations
from walras.engines.admm.slices.row_classification import RowClassification, covers
from walras.separable import Utility, utility
from walras.types import Floats

Settled = tuple[Floats, float, float]  # use of the rows, the scalar, the largest violation
Candidate = tuple[Floats, float, float]  # prices of narrow rows; two factors on the demands' prices


class DistributedProver:
    """:class:`walras.engines.admm.proofs.incumbent.Prover` of problems with classified rows.

    Args:
        method: The state of the solve.
        tightening: Dual tightening of its form.
        roles: Classification of its rows.
    """

    def __init__(
        self, method: Method, tightening: DualTightening, roles: RowClassification
    ) -> None:
        self._method, self._pool, self._tightening = method, method.pool, tightening
        self._repair, self._bound = method.passes.repair, method.passes.bound
        self._rows, problem = method.form.narrow, method.form.problem
        self._problem, shape, source = problem, structure(problem), self._rows.source[:-1]
        self._packing = np.append(shape.packing[source], False)
        self._whole = np.append(shape.shares[source], False)
        self._corrected, self._answered = roles.corrected, bool(np.any(roles.loose))
        self._open = np.append(shape.open_rows[source], False)
        cover = covers(problem)
        self._shared, self._cover = np.any(cover), np.append(cover[source], False)
        self._helps = helps(problem)
        self._together = shape.homogeneous
        self._t, self._kept_t = 0.0, 0.0
        self._size = np.zeros(len(self._packing))
        self._prices = np.zeros(len(self._packing))
        self._replaced = self._pool.replaced

    def allocation(self) -> Allocation:
        """See :meth:`walras.engines.admm.proofs.incumbent.Prover.allocation`."""
        repair, aim = self._repair, self._method.scalar
        aim = aim if np.isfinite(aim) else 0.0
        load = repair.begin(USED if self._helps else 0.0)
        for _ in range(SWEEPS if self._helps else 0):
            if self._shared:
                load = repair.equalise(aim, self._evened(load, aim))
            load = repair.fill(room(self._packing & (load > 0), self._rows.upper, load))
        settled = self._settled(load, aim)
        if self._corrected:
            settled = corrected(settled, lambda point: point[2], self._moved)
        load, self._t, far = settled
        worth, terms = repair.value() + self._narrow_value(load)
        problem = self._problem
        paid = float(problem.scalar_cost[0]) * self._t if problem.scalars else 0.0
        return Allocation(
            problem.constant + float(worth) + paid,
            far,
            float(terms) + abs(paid) + abs(problem.constant),
        )

    def _settled(self, load: Floats, t: float) -> Settled:
        """The use after scaling to the rows' limits, with the best scalar and the violation."""
        rows = self._rows
        ratio = scale_down(self._packing, rows.upper, load)
        empty = self._whole & (load == 0)
        if np.any(empty):
            load = self._repair.seed_rows(empty * 1.0)
        shares = share_factors(self._whole, empty, load, rows.lower, rows.upper)
        ratio = np.where(self._whole, shares, ratio)
        load = self._repair.scale_to_rows(ratio)
        self._size = self._repair.terms() if self._corrected else np.abs(load)
        t = self._scalar_for(load, t)
        above, size = violations(rows, load, self._size, t)
        within = float(self._repair.violation(t)[0])
        return load, t, max(float(np.max(above / size)), within, 0.0)

    def _moved(self, settled: Settled, attempt: int) -> Settled | None:
        """The allocation after one least correction; None where the rows contradict one another."""
        load, t, _ = settled
        error, held = errors(self._rows, load, self._size, t)
        tight = np.flatnonzero(held)
        system = self._repair.correction_system(tight, t, float(attempt))
        between, through, size = system[:, :-2], system[:, -2], system[:, -1]
        system = between + np.diag(ridge(size, RIDGE))
        try:
            y = finite(np.asarray(np.linalg.solve(system, error[tight] - through)))
        except np.linalg.LinAlgError:  # the rows contradict one another
            return None
        return None if y is None else self._settled(self._repair.correct(y), t)

    def _narrow_value(self, load: Floats) -> Floats:
        """The value of the narrow rows' utilities, and its size."""
        rows = self._rows
        of = [
            part[rows.kind != Utility.NONE]
            for part in (rows.kind, rows.weight, rows.parameter, load)
        ]
        return np.array([np.sum(utility.value(*of)), np.sum(utility.terms(*of))])

    def _evened(self, load: Floats, t: float) -> Floats:
        """Factors that bring narrow rows to their shares of the scalar, if they have any."""
        if not np.any(self._cover):
            return np.zeros(0)
        return evened(self._cover, load, self._rows.shift, t)

    def _scalar_for(self, load: Floats, t: float) -> float:
        """The cheapest value of the scalar that all rows allow."""
        problem, home = self._problem, self._method.form.scalar_in
        if not home:
            return 0.0
        low, high = float(problem.scalar_lower[0]), float(problem.scalar_upper[0])
        t = float(np.clip(t, low, high))
        cost = float(problem.scalar_cost[0])
        if cost == 0.0:
            return t
        if home == "groups":
            allowed = self._repair.scalar_range()
        else:
            rows = self._rows
            held = rows.shift != 0
            allowed = scalar_range(rows.shift[held], rows.lower[held], rows.upper[held], load[held])
        return best_scalar(t, cost, (low, high), allowed)

    def keep(self) -> None:
        """See :meth:`walras.engines.admm.proofs.incumbent.Prover.keep`."""
        self._repair.keep()
        self._kept_t = self._t

    def bound(self, best: float) -> float:
        """See :meth:`walras.engines.admm.proofs.incumbent.Prover.bound`."""
        bound, rows = self._bound, self._rows
        price = project_row_signs(rows.kind, rows.lower, rows.upper, self._method.narrow.price)
        bound.load_prices()
        if self._tightening.applies(self._method.t):
            price = self._tightening(bound, price, self._method.t)
        for candidate in self._candidates(price):
            value, repaired = self._evaluated(*candidate)
            if value > best:
                bound.keep()
                best, self._prices = value, repaired
        return best

    def _candidates(self, price: Floats) -> Iterator[Candidate]:
        """The prices as they are, and scaled to the scalar's cost: ``e + E'pi = 0``."""
        home = self._method.form.scalar_in
        cost = float(self._problem.scalar_cost[0]) if home else 0.0
        paid = float(self._paid(price, self._bound.scalar_payment)[0])
        factor = payment_factor(cost, paid, np.sqrt(HUGE))
        if factor == 1.0:
            yield price, 1.0, 1.0
        elif self._together:
            yield price * factor, factor, factor
        else:
            own = np.where(self._rows.shift != 0, factor, 1.0)
            yield price * own, factor, 1.0
            yield price, 1.0, 1.0

    def _paid(self, price: Floats, of_demands: Callable[[], Floats]) -> Floats:
        """The payment of prices for the scalar, and its size.

        Args:
            price: (narrow,) prices of the narrow rows.
            of_demands: Computes the payment of the demands' prices.
        """
        if self._method.form.scalar_in == "groups":
            return of_demands()
        paid = self._rows.shift * price
        return np.array([np.sum(paid), np.sum(np.abs(paid))])

    def _evaluated(self, price: Floats, factor: float, rest: float) -> tuple[float, Floats]:
        """The bound that prices prove, and the repaired prices of the narrow rows."""
        bound, rows = self._bound, self._rows
        bare = np.where(self._open, 0.0, price)
        if self._answered:
            bound.set_prices(bare, factor, rest)
            bare = self._answer(bare)
            rise = bound.price_rise(bare)
        else:
            rise = bound.repair_prices(bare, factor, rest)
        repaired = bare + rise
        own = row_terms(rows.kind, rows.weight, rows.parameter, rows.lower, rows.upper, repaired)
        value = self._problem.constant + float(np.sum(own))
        value += self._scalar_terms(self._paid(repaired, bound.repaired_scalar_payment))
        return value + float(bound.value(rise)[0]), repaired

    def _answer(self, price: Floats) -> Floats:
        """Prices moved for entries without a limit."""
        rows = self._rows
        for _ in range(PASSES):
            able = may_move(rows.kind, rows.lower, rows.upper, price)
            rises, falls = (ways.astype(np.float64) for ways in able)
            high, low = self._bound.free_entry_moves(price, rises, falls)
            inside, high[-1] = high[-1], 0.0
            before, price = (
                price,
                project_row_signs(rows.kind, rows.lower, rows.upper, price + one_way(high, low)),
            )
            if not inside and np.array_equal(price, before):
                break
        return price

    def _scalar_terms(self, paid: Floats) -> float:
        """The least term of the scalar in the bound, at the prices' payment."""
        if not self._method.form.scalar_in:
            return 0.0
        problem = self._problem
        cost, low, high = problem.scalar_cost, problem.scalar_lower, problem.scalar_upper
        return scalar_terms(cost + paid[0], np.abs(cost) + np.abs(paid[1]), low, high)

    def best(self) -> tuple[Floats, Floats, Floats]:
        """See :meth:`walras.engines.admm.proofs.incumbent.Prover.best`."""
        method, bound = self._method, self._bound
        return (
            method.assembled(self._repair.best()),
            np.full(self._problem.scalars, self._kept_t),
            method.assembled_prices(bound.best(), self._prices, bound.own_best),
        )

    def lost(self) -> bool:
        """See :meth:`walras.engines.admm.proofs.incumbent.Prover.lost`."""
        before, self._replaced = self._replaced, self._pool.replaced
        return self._replaced != before
