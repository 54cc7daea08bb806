"""Random draws of links for graph families."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from walras.errors import InputError
from walras.types import Longs


def draw(family: tuple[Any, ...], rng: np.random.Generator, *, directed: bool = False) -> Longs:
    """Draw the (links, 2) of a family: its name, the number of centres, then its own numbers."""
    name, centres, *rest = family
    if name == "erdos_renyi":
        return _erdos_renyi(centres, rest[0], rng, directed=directed)
    if name == "ring":
        return _ring(centres, directed=directed)
    if name == "grid":
        return _grid(*rest)
    return _small_world(centres, rest[0], rest[1], rng)


def _erdos_renyi(n: int, p: float, rng: np.random.Generator, *, directed: bool) -> Longs:
    """Draw pairs by their number, so that time and memory grow with the links and not with n^2."""
    pairs = n * (n - 1) if directed else n * (n - 1) // 2
    count = int(rng.binomial(pairs, p))
    number = rng.choice(pairs, count, replace=False, shuffle=False)
    if directed:
        tail, head = np.divmod(number, n - 1)
        return np.stack([tail, head + (head >= tail)], axis=1)
    # Pair (i, j), i < j, has number j (j - 1) / 2 + i.
    j = ((1.0 + np.sqrt(1.0 + 8.0 * number)) / 2.0).astype(np.int64)
    j -= j * (j - 1) // 2 > number
    j += j * (j + 1) // 2 <= number
    return np.stack([number - j * (j - 1) // 2, j], axis=1)


def _ring(n: int, *, directed: bool) -> Longs:
    links = np.stack([np.arange(n), (np.arange(n) + 1) % n], axis=1)
    return links if directed or n > 2 else links[:1]


def _grid(rows: int, columns: int) -> Longs:
    if rows < 1 or columns < 1:
        raise InputError(
            f"is {rows} x {columns}", where="grid", allowed="1 x 2 or more", remedy="add a row"
        )
    number = np.arange(rows * columns).reshape(rows, columns)
    beside = np.stack([number[:, :-1].ravel(), number[:, 1:].ravel()], axis=1)
    below = np.stack([number[:-1].ravel(), number[1:].ravel()], axis=1)
    return np.concatenate([beside, below])


def _small_world(n: int, k: int, p: float, rng: np.random.Generator) -> Longs:
    if k % 2 or not 2 <= k < n:
        raise InputError(
            f"is {k}",
            where="small_world, k",
            allowed=f"an even number, 2..{n - 1}",
            remedy="half of the neighbours lie on either side",
        )
    links = {(i, (i + d) % n) for i in range(n) for d in range(1, k // 2 + 1)}
    present = {tuple(sorted(link)) for link in links}
    for i, j in sorted(links):
        if rng.random() < p and len(present) < n * (n - 1) // 2:
            present.discard((min(i, j), max(i, j)))
            free = (min(i, j), max(i, j))
            for _ in range(int(20 * math.log(n) + 20)):
                other = int(rng.integers(n))
                if other != i and (min(i, other), max(i, other)) not in present:
                    free = (min(i, other), max(i, other))
                    break
            present.add(free)
    return np.array(sorted(present), dtype=np.int64)
