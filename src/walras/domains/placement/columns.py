"""Column generation: how many nodes of each kind hold which pattern of items.

The master program chooses numbers of nodes for known patterns; its prices tell what an item is
worth more than elsewhere, and a search finds patterns that are worth more than a node costs
(Dantzig and Wolfe, 1960; Gilmore and Gomory, 1961). Prices with a bound on each node's worth also
bound all placements (Lasdon, 1970).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import scipy.sparse as sp

from walras.domains.placement.instance import Kinds
from walras.domains.placement.relaxation import node_bound
from walras.kernels.local_search.random_numbers import State
from walras.kernels.packing.machines import Types
from walras.kernels.packing.patterns import search_pattern
from walras.programs.highs import LinearProgram, solve_program
from walras.settings import Settings
from walras.types import Bools, Floats, Ints, Longs

_ATTEMPTS = 120  # of the search for a pattern
_ENOUGH = 1e-7  # of a pattern's worth above a node's price, relative, from which it is a column
_KEPT = 0.7  # share of the best prices so far in those that a bound is looked for at
_FEW = 64  # kinds of nodes up to which a pattern is tried on each
_PLACED = 5000  # nodes of a placement of which the patterns are taken
_LEAST = 1e-4  # value that the worth of types of less is compared with, to be above rounding


@dataclass(eq=False)
class Columns:
    """Patterns found so far, and how many nodes hold each in the last master program.

    Attributes:
        types: Types of items.
        count: (types,) number of items.
        kinds: Kinds of nodes.
        fits: (kinds, types) whether an item fits an empty node.
        size: (types, sizes) what an item takes, relative to a node.
        best_price: (types,) prices of the best bound so far; at first those to begin with.
        best_bound: That bound.
        kind: Kind of nodes of each pattern.
        pattern: (types,) numbers of items of each pattern.
        number: (patterns,) nodes that hold each.
        price: (types,) price of one more item.
        node_price: (kinds,) price of one more node.
        value: Of the last master program: the best worth with these patterns and fractions.
    """

    types: Types
    count: Longs
    kinds: Kinds
    fits: Bools
    size: Floats
    best_price: Floats
    best_bound: float = np.inf
    kind: list[int] = field(default_factory=list)
    pattern: list[Ints] = field(default_factory=list)
    number: Floats = field(default_factory=lambda: np.zeros(0))
    price: Floats = field(default_factory=lambda: np.zeros(0))
    node_price: Floats = field(default_factory=lambda: np.zeros(0))
    value: float = 0.0
    _known: set[tuple[int, bytes]] = field(default_factory=set)

    def add(self, k: int, pattern: Ints) -> bool:
        """Add a pattern of a node of kind k, unless it is known."""
        key = (k, pattern.tobytes())
        if key in self._known or not pattern.any():
            return False
        self._known.add(key)
        self.kind.append(k)
        self.pattern.append(pattern)
        return True

    def search(self, price: Floats, node_price: Floats, state: State) -> int:
        """Look for patterns worth more than the nodes' prices; returns how many were added."""
        worth = self.types.value - price
        worth = np.where(worth > _ENOUGH * np.maximum(self.types.value, _LEAST), worth, 0.0)
        added = 0
        for k in range(len(self.kinds.count)):
            limit = np.where(self.fits[k], self.count, 0).astype(np.int32)
            pattern, total = search_pattern(
                self.kinds.machines, k, self.types, self.size, worth, limit, _ATTEMPTS, state
            )
            if total > node_price[k] * (1 + _ENOUGH) + _ENOUGH:
                added += self.add(k, pattern)
        return added

    def solve(self) -> None:
        """Solve the master program; sets numbers, prices and value."""
        types, kinds = len(self.count), len(self.kinds.count)
        columns = len(self.kind)
        patterns = sp.csc_array(np.array(self.pattern, dtype=np.float64).reshape(columns, types).T)
        nodes = sp.csc_array((np.ones(columns), (self.kind, np.arange(columns))), (kinds, columns))
        upper = np.concatenate([self.count, self.kinds.count]).astype(np.float64)
        program = LinearProgram(
            cost=np.asarray(-(patterns.T @ self.types.value)),
            lower=np.zeros(columns),
            upper=np.full(columns, np.inf),
            matrix=sp.csc_array(sp.vstack([patterns, nodes])),
            row_lower=np.full(types + kinds, -np.inf),
            row_upper=upper,
        )
        answer = solve_program(program, Settings(threads=1))
        price = np.maximum(np.nan_to_num(answer.prices), 0.0)
        self.price, self.node_price = price[:types], price[types:]
        self.number = np.zeros(columns) if answer.x is None else np.maximum(answer.x, 0.0)
        self.value = -float(program.cost @ self.number)

    def generate(self, rounds: int, state: State, proceed: Callable[[], bool]) -> None:
        """Solve and search in turns until nothing new is found, at most ``rounds`` times.

        ``proceed``: False ends it.
        """
        for _ in range(rounds):
            self.solve()
            if self.search(self.price, self.node_price, state) == 0 or not proceed():
                break
        self.solve()

    def add_placement(self, of: Longs, home: Ints, kind: Ints) -> int:
        """Add what nodes of a placement hold, of very many nodes only of some.

        Returns how many patterns were new.

        Args:
            of: (nodes,) kind of each node.
            home: (items,) node of each, -1 for none.
            kind: (items,) type of each.
        """
        some = np.arange(0, len(of), 1 + len(of) // _PLACED)
        place = np.full(len(of) + 1, -1)  # the last one is that of items without a node
        place[some] = np.arange(len(some))
        held = np.zeros((len(some), len(self.count)), dtype=np.int32)
        on = place[home] >= 0
        np.add.at(held, (place[home[on]], kind[on]), 1)
        return sum(self.add(k, pattern) for k, pattern in zip(of[some].tolist(), held, strict=True))

    def bound(self) -> float:
        """The best bound that prices have proved so far; adds the patterns that it comes upon.

        It looks between the best prices so far and those of the last master program, which jump
        from one round to the next (Wentges, 1997), and at the latter where that finds no pattern.
        """
        known = len(self.kind)
        for kept in (_KEPT, 0.0):
            self._prove(kept * self.best_price + (1.0 - kept) * self.price)
            if len(self.kind) > known:
                break
        return self.best_bound

    def _prove(self, price: Floats) -> None:
        """Bound at given prices, and add each kind's best pattern."""
        worth = np.maximum(self.types.value - price, 0.0)
        total, found = float(price @ self.count), []
        for k in range(len(self.kinds.count)):
            best, pattern = node_bound(self.types, self.count, self.kinds, k, self.fits, worth)
            total += best * int(self.kinds.count[k])
            found.append((k, pattern))
        if total < self.best_bound:
            self.best_bound, self.best_price = total, price
        for k, pattern in found:
            self._share(k, pattern)

    def _share(self, k: int, pattern: Ints) -> None:
        """Add a pattern to all kinds whose nodes hold it; of many kinds, to its own."""
        kinds = np.arange(len(self.fits)) if len(self.fits) <= _FEW else np.array([k])
        for other in kinds[np.all(self.fits[kinds][:, pattern > 0], axis=1)].tolist():
            if (other, pattern.tobytes()) not in self._known and self._holds(other, pattern):
                self.add(other, pattern)

    def _holds(self, k: int, pattern: Ints) -> bool:
        """Whether a node of kind k takes a pattern, put on it as it would be."""
        _, found = search_pattern(
            self.kinds.machines,
            k,
            self.types,
            self.size,
            (pattern > 0).astype(np.float64),
            pattern,
            _ATTEMPTS,
            np.array([1], dtype=np.uint64),
        )
        return bool(found >= pattern.sum() - 0.5)
