"""Groups of the first-order engine's options: penalty, restarts, proofs, starts, joint sweeps."""

from __future__ import annotations

from dataclasses import dataclass

from walras.engines.options import OptionGroup, number


@dataclass(frozen=True, repr=False)
class PenaltyUpdate(OptionGroup):
    """How the penalty rho adapts: it balances the primal and the dual residual.

    A small penalty leaves the copies of an entry apart; a large one keeps the objective from
    falling (Boyd et al. 2011, section 3.4.1). Only mode ``hard`` adapts it, with copies or
    collapsed.

    Attributes:
        every: Largest number of iterations between two updates, 1 or more. The first updates come
            sooner.
        until: Iteration after which updates become ever rarer, 0 or more, since convergence needs a
            constant penalty. With restarts the penalty is then constant for an epoch.
        largest_factor: Largest factor of one update, 1 or more.
        imbalance: Ratio of the residuals, either way, up to which rho stays, 1 or more.
        preference: Factor on that ratio, above 0: below 1 it prefers a small penalty, which takes
            fewer iterations where resources are scarce. Not used with restarts.

    Raises:
        InputError: An option is outside its range.

    Example:
        >>> import walras as wl
        >>> wl.engines.ADMM(penalty=wl.engines.PenaltyUpdate(until=0))
        ADMM(penalty=PenaltyUpdate(until=0))
    """

    every: int = number(10, 1, 10**9, whole=True)
    until: int = number(150, 0, 10**9, whole=True)
    largest_factor: float = number(5.0, 1.0, 1e100)
    imbalance: float = number(1.5, 1.0, 1e100)
    preference: float = number(0.7, 1e-6, 1e6)


@dataclass(frozen=True, repr=False)
class RestartRule(OptionGroup):
    """When an epoch of reflected Halpern iterations ends and the next begins.

    The residual is that of the fixed point; the names are those of Applegate et al. 2023.

    Attributes:
        first: Iteration from which restarts are used, 0 or more: over-relaxed iterations before it
            find the penalty. Collapsed iterations use them from the beginning.
        sufficient: Share of the epoch's first residual at which it ends, 0 to 1.
        necessary: Share of it at which it ends once the residual rises, 0 to 1.
        artificial: Share of all iterations so far at which an epoch ends in any case, above 0 to 1.

    Raises:
        InputError: An option is outside its range.

    Example:
        >>> import walras as wl
        >>> wl.engines.ADMM(restarts=True, restart_rule=wl.engines.RestartRule(sufficient=0.1))
        ADMM(restarts=True, restart_rule=RestartRule(sufficient=0.1))
    """

    first: int = number(20, 0, 10**9, whole=True)
    sufficient: float = number(0.2, 0.0, 1.0)
    necessary: float = number(0.8, 0.0, 1.0)
    artificial: float = number(0.36, 1e-6, 1.0)


@dataclass(frozen=True, repr=False)
class ProofSchedule(OptionGroup):
    """When an allocation and its bound are proved.

    A proof costs a few to a dozen iterations. The trend of the gap says when the next one may meet
    the tolerance. The schedule counts iterations, not seconds, so that the same problem ends at the
    same iterate on any machine.

    Attributes:
        first: Iterations before the first proof at a coarse tolerance, 1 or more.
        least: Least number of iterations between two proofs, 1 or more.
        most: Largest number of iterations between two proofs, and before the first one at a fine
            tolerance; 1 or more. It overrides a larger ``least``.
        growth: The same limit as a share of all iterations so far, 0 or more; the larger one
            counts.
        coarse_tolerance: Relative gap from which a tolerance counts as coarse, so that the first
            iterations may meet it. 0 to 1.
        diagnose_after: Iterations without an allocation and a bound after which the engine checks
            whether the problem is infeasible or unbounded, 0 or more.

    Raises:
        InputError: An option is outside its range.

    Example:
        >>> import walras as wl
        >>> wl.engines.ADMM(proofs=wl.engines.ProofSchedule(most=50))
        ADMM(proofs=ProofSchedule(most=50))
    """

    first: int = number(4, 1, 10**9, whole=True)
    least: int = number(8, 1, 10**9, whole=True)
    most: int = number(16, 1, 10**9, whole=True)
    growth: float = number(0.2, 0.0, 1e6)
    coarse_tolerance: float = number(5e-3, 0.0, 1.0)
    diagnose_after: int = number(500, 0, 10**9, whole=True)


@dataclass(frozen=True, repr=False)
class LargestFirst(OptionGroup):
    """When the first rounds run on the largest demands alone, such as flows of a few large pairs.

    The others take their cheapest entries at the prices found, and all are proved together.

    Attributes:
        left_out: Share of the value of all demands that the others may have in the first round, in
            multiples of the tolerance, 0 or more. At 0, and where it comes to all, all demands take
            part from the beginning.
        least_entries: Smaller problems take all demands at once. 0 or more.

    Raises:
        InputError: An option is outside its range.

    Example:
        >>> import walras as wl
        >>> wl.engines.ADMM(largest_first=wl.engines.LargestFirst(left_out=0.0))
        ADMM(largest_first=LargestFirst(left_out=0.0))
    """

    left_out: float = number(5.0, 0.0, 1e6)
    least_entries: int = number(200_000, 0, 10**12, whole=True)


@dataclass(frozen=True, repr=False)
class StartPrices(OptionGroup):
    """Estimated prices for a start without prices: a least-squares fit.

    Attributes:
        gap: Largest proved relative gap at which the estimated prices are used, 0 or more. Worse
            prices would mislead.
        coefficients: Number of coefficients of the rows up to which prices are estimated, 0 or
            more. On larger problems iterations are quicker than the fit.
        steps: Steps of LSQR at most, 1 or more.
        scalar_weight: Weight of the equation for a scalar's cost, above 0. Products of entries and
            reduced costs have weight 1.

    Raises:
        InputError: An option is outside its range.

    Example:
        >>> import walras as wl
        >>> wl.engines.ADMM(start_prices=wl.engines.StartPrices(gap=0.05))
        ADMM(start_prices=StartPrices(gap=0.05))
    """

    gap: float = number(0.1, 0.0, 1e6)
    coefficients: int = number(3_000_000, 0, 10**15, whole=True)
    steps: int = number(100, 1, 10**9, whole=True)
    scalar_weight: float = number(10.0, 1e-6, 1e100)


@dataclass(frozen=True, repr=False)
class JointMinimisation(OptionGroup):
    """Sweeps over both blocks in modes ``penalty`` and ``augmented-lagrangian``.

    Attributes:
        sweeps: Sweeps of one minimisation at most, 1 or more.
        change: Relative change of the allocation at which a minimisation counts as done, 0 or more.
        growth: Factor on the penalty after each minimisation, 1 or more; only in mode ``penalty``.
        largest_penalty: Largest penalty, relative to the first, 1 or more.

    Raises:
        InputError: An option is outside its range.

    Example:
        >>> import walras as wl
        >>> wl.engines.ADMM(mode="penalty", joint=wl.engines.JointMinimisation(growth=10.0))
        ADMM(mode='penalty', joint=JointMinimisation(growth=10.0))
    """

    sweeps: int = number(30, 1, 10**9, whole=True)
    change: float = number(1e-3, 0.0, 1.0)
    growth: float = number(2.0, 1.0, 1e100)
    largest_penalty: float = number(1e10, 1.0, 1e100)
