"""The passes of a first-order solve: the requests to a worker, and how the answers combine.

A worker holds a slice of the demands. Each pass takes a few numbers or one vector over the rows
that slices share. The decorator above its signature is its reduction, which turns the answers of
the slices into the answer for all demands. A method without a reduction is refused when this module
loads.

A pool of workers offers the same passes (:func:`everywhere`): one pass runs in every worker, and
its reduction combines the answers. So the iterations and the provers call typed methods and do not
know the number of workers.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum
from functools import partial
from operator import attrgetter
from types import SimpleNamespace
from typing import Protocol, TypeVar, cast

from walras.types import Floats, Longs

Answer = Floats | None  # None for passes that only change the state of their slice


class Reduction(Enum):
    """How the slices' answers become the answer for all demands."""

    NONE = "nothing comes back"
    SUM = "sums over subtrees of leaves, added along one tree"
    MAX = "the largest answer, place by place"
    RANGE = "the largest of the first rows, and the least of the second rows"
    GATHER = "one slice behind the other"


_Silent = TypeVar("_Silent", bound=Callable[..., None])
_Answers = TypeVar("_Answers", bound=Callable[..., Floats])


def no_answer(method: _Silent) -> _Silent:
    """Mark a pass that only changes the state of its slice: :attr:`Reduction.NONE`."""
    return _reduced(method, Reduction.NONE)


def sums(method: _Answers) -> _Answers:
    """Mark a pass that answers with sums over its demands: :attr:`Reduction.SUM`."""
    return _reduced(method, Reduction.SUM)


def largest(method: _Answers) -> _Answers:
    """Mark a pass that answers with maxima over its demands: :attr:`Reduction.MAX`."""
    return _reduced(method, Reduction.MAX)


def ranges(method: _Answers) -> _Answers:
    """Mark a pass that answers with maxima, and minima in a second row: :attr:`Reduction.RANGE`."""
    return _reduced(method, Reduction.RANGE)


def gathers(method: _Answers) -> _Answers:
    """Mark a pass whose answer is as long as the slice: :attr:`Reduction.GATHER`."""
    return _reduced(method, Reduction.GATHER)


_AnyPass = TypeVar("_AnyPass", bound=Callable[..., object])


def _reduced(method: _AnyPass, reduction: Reduction) -> _AnyPass:
    method.__dict__["reduction"] = reduction
    return abstractmethod(method)


class RepairPasses(Protocol):
    """A slice's contribution to a repair of the allocation."""

    @sums
    def begin(self, least: float, /) -> Floats:
        """Start from the iterate, clipped to its bounds; return its (narrow,) use of the rows.

        Args:
            least: Share of its demand's largest entry up to which an entry is dropped.
        """
        ...

    @sums
    def equalise(self, t: float, others: Floats, /) -> Floats:
        """Bring every demand to its share of the scalar; return the (narrow,) use.

        Args:
            t: The scalar.
            others: (narrow,) factors that bring narrow rows to their shares; () if they have none.
        """
        ...

    @sums
    def fill(self, ratio: Floats, /) -> Floats:
        """Scale entries by the remainder of their scarcest row; return the (narrow,) use.

        Args:
            ratio: (narrow,) remainders of the narrow rows, as factors.
        """
        ...

    @sums
    def seed_rows(self, rows: Floats, /) -> Floats:
        """Set every entry of some narrow rows to one; return the (narrow,) use.

        Args:
            rows: (narrow,) 1 on these rows, which are shared out and have no use yet.
        """
        ...

    @sums
    def scale_to_rows(self, ratio: Floats, /) -> Floats:
        """Scale entries to meet packing rows' bounds and share rows; return the (narrow,) use.

        Args:
            ratio: (narrow,) the factors of the narrow rows.
        """
        ...

    @ranges
    def scalar_range(self) -> Floats:
        """(2,) the least and the largest scalar that the slice's rows allow."""
        ...

    @sums
    def terms(self) -> Floats:
        """(narrow,) sum of the absolute terms of each row."""
        ...

    @largest
    def violation(self, t: float, /) -> Floats:
        """(1,) the largest violation of a row of the demands, relative to its terms and bounds.

        Args:
            t: The scalar.
        """
        ...

    @sums
    def correction_system(self, tight: Longs, t: float, attempt: float, /) -> Floats:
        """(k, k + 2) the equations of some narrow rows in a least correction.

        Args:
            tight: (k,) the rows.
            t: The scalar.
            attempt: Number of corrections that failed before.
        """
        ...

    @sums
    def correct(self, y: Floats, /) -> Floats:
        """Correct the entries by the solution of the equations; return the (narrow,) use.

        Args:
            y: (k,) the solution.
        """
        ...

    @sums
    def value(self) -> Floats:
        """(2,) the value of the allocation, and the size of its terms."""
        ...

    @no_answer
    def keep(self) -> None:
        """Keep this allocation as the best so far."""
        ...

    @gathers
    def best(self) -> Floats:
        """(n,) the best allocation kept; the present one if there is none."""
        ...


class BoundPasses(Protocol):
    """A slice's contribution to a dual bound."""

    @no_answer
    def load_prices(self) -> None:
        """Take the iterate's prices, with the signs that their rows allow."""
        ...

    @no_answer
    def set_reduced_costs(self, price: Floats, /) -> None:
        """Set the reduced costs at prices of the narrow rows alone.

        Args:
            price: (narrow,) the prices; the last one is 0.
        """
        ...

    @sums
    def cost_to_reach(self, own: int, sign: float, level: float, /) -> Floats:
        """(2,) the demands' cost to reach a level at their best prices, and its slope.

        Args:
            own: Index of each demand's priced row; the other one is its packing row.
            sign: Sign of its coefficients.
            level: Value of the scalar; utilities do not depend on it.
        """
        ...

    @no_answer
    def use_reached_prices(self, own: int, sign: float, /) -> None:
        """Use the prices last reached, and none of the packing rows.

        Args:
            own: As in :meth:`cost_to_reach`.
            sign: As there.
        """
        ...

    @no_answer
    def use_scarcest_demands(self, own: int, least: float, /) -> None:
        """Use prices only of the demands that can reach no more of the scalar alone.

        Args:
            own: As in :meth:`cost_to_reach`.
            least: The scalar that they reach.
        """
        ...

    @sums
    def scalar_payment(self) -> Floats:
        """(2,) the loaded prices' payment for the scalar, and its size."""
        ...

    @sums
    def repaired_scalar_payment(self) -> Floats:
        """(2,) the repaired prices' payment for the scalar, and its size."""
        ...

    @largest
    def repair_prices(self, price: Floats, factor: float, rest: float, /) -> Floats:
        """Repair the loaded prices; return the (narrow,) rise that narrow rows' prices need.

        Args:
            price: (narrow,) prices of the narrow rows; the last one is 0.
            factor: Factor on the demands' prices that pay for the scalar.
            rest: Factor on their other prices.
        """
        ...

    @no_answer
    def set_prices(self, price: Floats, factor: float, rest: float, /) -> None:
        """Price the entries and the share rows, the first part of :meth:`repair_prices`.

        Args:
            price: As there.
            factor: As there.
            rest: As there.
        """
        ...

    @ranges
    def free_entry_moves(self, price: Floats, rises: Floats, falls: Floats, /) -> Floats:
        """Move prices for entries without a limit; return the (2, narrow) moves asked of others.

        Args:
            price: (narrow,) prices of the narrow rows.
            rises: (narrow,) 1 where the price of a narrow row may rise.
            falls: (narrow,) 1 where it may fall.

        Returns:
            The largest rise and fall, and a rise of 1 of the last row where something moved here.
        """
        ...

    @largest
    def price_rise(self, price: Floats, /) -> Floats:
        """Raise prices where rows limit entries, the last part of :meth:`repair_prices`.

        Args:
            price: (narrow,) prices of the narrow rows.
        """
        ...

    @sums
    def value(self, rise: Floats, /) -> Floats:
        """(1,) the slice's term of the bound after the prices of narrow rows have risen.

        Args:
            rise: (narrow,) the rise.
        """
        ...

    @no_answer
    def keep(self) -> None:
        """Keep these prices as the best so far."""
        ...

    @gathers
    def best(self) -> Floats:
        """(groups, K) the best prices kept; zeros if there are none."""
        ...

    @gathers
    def own_best(self) -> Floats:
        """(own,) the prices of the slice's own narrow rows that go with them."""
        ...

    @gathers
    def loaded_prices(self) -> Floats:
        """(groups, K) the loaded prices."""
        ...


class Passes(Protocol):
    """The passes of a worker over its slice, in iterations and in proofs.

    Attributes:
        repair: Passes that repair the allocation.
        bound: Passes that bound the optimum.
    """

    repair: RepairPasses
    bound: BoundPasses

    @no_answer
    def init_at_prices(self, rho: float, price: Floats, /) -> None:
        """Set the state of a fixed point at x and prices: there ``rho w (z - x) = a p``.

        Args:
            rho: Penalty.
            price: (narrow,) prices of the narrow rows.
        """
        ...

    @no_answer
    def init_without_copies(self) -> None:
        """Set the state of schemes without copies to x."""
        ...

    @no_answer
    def set_prox_centre(self, rho: float, /) -> None:
        """Set the centres of the demands' block for the present state.

        Args:
            rho: Penalty.
        """
        ...

    @no_answer
    def set_prox_centre_at_prices(self, rho: float, price: Floats, /) -> None:
        """Set the centres of a primal-dual step from the state.

        Args:
            rho: Penalty.
            price: (narrow,) prices of the narrow rows.
        """
        ...

    @sums
    def solve_demands(self, t: float, tolerance: float, softness: float, /) -> Floats:
        """Solve the demands' block; return (2,) the rows' payment for the scalar, and its slope.

        Args:
            t: The shared scalar.
            tolerance: Tolerance of the block.
            softness: Allowed violation of a row for each unit of its price; 0 for hard rows.
        """
        ...

    @sums
    def row_usage(self, price: Floats, /) -> Floats:
        """(2, narrow) the copies' use of each row at its price over rho, and the slope.

        The slice's own rows take a step of their prices.

        Args:
            price: (narrow,) prices over rho.
        """
        ...

    @sums
    def activities(self) -> Floats:
        """(narrow,) the use of each row by x."""
        ...

    @sums
    def capacities(self) -> Floats:
        """(narrow,) sum of a^2 / w over each row: its slope with every copy inside its bounds."""
        ...

    @sums
    def advance(self, price: Floats, relaxation: float, /) -> Floats:
        """Move the state; return (3,) squares of (y - x), x and (z - x) in the metric.

        Args:
            price: (narrow,) prices over rho.
            relaxation: Over-relaxation.
        """
        ...

    @sums
    def relax(self, relaxation: float, /) -> Floats:
        """Move the state of schemes without copies towards x; (1,) the squared distance, in W.

        Args:
            relaxation: Over-relaxation.
        """
        ...

    @no_answer
    def set_anchor(self) -> None:
        """Remember the state as the anchor of an epoch."""
        ...

    @no_answer
    def restart(self, share: float, /) -> None:
        """Move the state towards the anchor.

        Args:
            share: Share of the state that stays; the rest is the anchor's.
        """
        ...

    @no_answer
    def load_multipliers(self) -> None:
        """Set the state to ``x + u`` for multipliers u that stay; ``advance`` then makes it
        ``y + u``.
        """
        ...

    @no_answer
    def update_multipliers(self) -> None:
        """Update the multipliers that stayed: ``u += y - x``."""
        ...

    @no_answer
    def rescale(self, factor: float, /) -> None:
        """Keep the multipliers ``rho w (z - x)`` while rho is divided by a factor.

        Args:
            factor: The factor.
        """
        ...

    @no_answer
    def absorb_excess(self, rho: float, /) -> None:
        """Move the excess of soft rows into their scaled multipliers ``p / rho``.

        Args:
            rho: Penalty.
        """
        ...

    @sums
    def change(self) -> Floats:
        """(2,) squares, in the metric, of x and of its change since the last call."""
        ...

    @gathers
    def entries(self) -> Floats:
        """(n,) the allocation."""
        ...

    @gathers
    def prices(self) -> Floats:
        """(groups, K) the prices of the slice's rows."""
        ...

    @gathers
    def own_prices(self) -> Floats:
        """(own,) the prices of the slice's own narrow rows."""
        ...


@dataclass(frozen=True)
class Pass:
    """One pass: its path and its reduction.

    Attributes:
        path: The attributes that lead to it from a worker.
        reduction: How the answers of the slices combine.
    """

    path: str
    reduction: Reduction

    @property
    def proves(self) -> bool:
        """Whether it is a pass of a proof, not of an iteration."""
        return self.path.partition(".")[0] in _ROOMS

    def run(self, worker: Passes, *args: object) -> Answer:
        """The answer of one worker."""
        answer: Answer = attrgetter(self.path)(worker)(*args)
        return answer


Run = Callable[..., Answer]  # runs a pass with its arguments
Call = tuple[Pass, tuple[object, ...]]
Resume = Callable[[Passes], None]  # the passes that give a slice its state at x and known prices


def passes_of(protocol: type, room: str = "") -> Iterator[tuple[Callable[..., object], Pass]]:
    """The passes that a protocol declares, each with the method that declares it.

    Args:
        protocol: The protocol.
        room: The worker's attribute with these passes; empty for the worker itself.

    Raises:
        TypeError: One of them names no reduction.
    """
    for name, method in vars(protocol).items():
        if name.startswith("_") or not callable(method):
            continue
        reduction = getattr(method, "reduction", None)
        if reduction is None:
            raise TypeError(f"pass {protocol.__name__}.{name} names no reduction")
        yield method, Pass(f"{room}.{name}" if room else name, reduction)


_ROOMS = {"repair": RepairPasses, "bound": BoundPasses}
PASSES = dict(passes_of(Passes))
for _room, _protocol in _ROOMS.items():
    PASSES.update(passes_of(_protocol, _room))


def everywhere(run: Run) -> Passes:
    """All workers as one, where ``run`` executes every pass with its arguments.

    Args:
        run: Runs a pass in all workers, and combines their answers.
    """
    whole = SimpleNamespace(**{room: SimpleNamespace() for room in _ROOMS})
    for one in PASSES.values():
        room, _, name = one.path.rpartition(".")
        vars(vars(whole)[room] if room else whole)[name] = partial(run, one)
    return cast(Passes, whole)


def calls_of(resume: Resume) -> list[Call]:
    """The passes that a resumption runs, with their arguments."""
    found: list[Call] = []
    resume(everywhere(lambda one, *args: found.append((one, args))))
    return found
