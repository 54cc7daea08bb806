"""Column generation: how many nodes of each kind hold which pattern of items.

The master program chooses numbers of nodes for known patterns; its prices tell what an item is
worth more than elsewhere, and a search finds patterns that are worth more than a node costs
(Dantzig and Wolfe, 1960; Gilmore and Gomory, 1961). Prices with a bound on each node's worth also
bound all placements (Lasdon, 1970).
"""

from __future__ import annotations

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
_STEEP = 1e-4  # what an item without value counts, so that patterns hold those, too


@dataclass(eq=False)
class Columns:
    """Patterns found so far, and how many nodes hold each in the last master program.

    Attributes:
        types: Types of items.
        count: (types,) number of items.
        kinds: Kinds of nodes.
        fits: (kinds, types) whether an item fits an empty node.
        size: (types, sizes) what an item takes, relative to a node.
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
        worth = np.where(worth > _ENOUGH * np.maximum(self.types.value, _STEEP), worth, 0.0)
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

    def generate(self, rounds: int, state: State) -> None:
        """Solve and search in turns until nothing new is found, at most ``rounds`` times."""
        for _ in range(rounds):
            self.solve()
            if self.search(self.price, self.node_price, state) == 0:
                return
        self.solve()

    def bound(self) -> float:
        """The bound that the present prices prove; adds the patterns that it comes upon."""
        worth = np.maximum(self.types.value - self.price, 0.0)
        total = float(self.price @ self.count)
        for k in range(len(self.kinds.count)):
            best, pattern = node_bound(self.types, self.count, self.kinds, k, self.fits, worth)
            total += best * int(self.kinds.count[k])
            if self._holds(k, pattern):
                self.add(k, pattern)
        return total

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
