"""Checks of lists of links, and their reading from files."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import numpy.typing as npt

from walras import checks
from walras.errors import DataError, InputError
from walras.files import reason_of
from walras.types import Floats, Longs


def metropolis(centres: int, tail: Longs, head: Longs, *, directed: bool) -> Floats:
    """(arcs,) Metropolis weights 1 / (1 + the larger degree of both ends, or the sender's)."""
    degree = np.bincount(tail, minlength=centres)
    larger = degree[tail] if directed else np.maximum(degree[tail], degree[head])
    return np.asarray(1.0 / (1.0 + larger), np.float64)


def link_pairs(centres: int, links: npt.ArrayLike, *, directed: bool) -> Longs:
    """Check a list of links and return it as (links, 2).

    Raises:
        InputError: A link does not have two different centres, or comes twice.
    """
    pairs = np.asarray(links)
    if pairs.ndim != 2 or pairs.shape[1:] != (2,) or not np.issubdtype(pairs.dtype, np.integer):
        raise InputError(
            f"has the shape {pairs.shape} and type {pairs.dtype}",
            where="links",
            allowed="(links, 2) whole numbers",
            remedy="give pairs of centres",
        )
    tail, head = pairs[:, 0], pairs[:, 1]
    checks.refuse_first(
        (pairs < 0).any(axis=1) | (pairs >= centres).any(axis=1) | (tail == head),
        tail,
        "links",
        what=lambda at: f"is {tuple(pairs[at].tolist())}",
        allowed=f"two different centres 0..{centres - 1}",
        remedy="correct that link",
    )
    key = pairs if directed else np.sort(pairs, axis=1)
    again = np.ones(len(pairs), np.bool_)
    again[np.unique(key, axis=0, return_index=True)[1]] = False
    checks.refuse_first(
        again,
        tail,
        "links",
        what=lambda at: f"is {tuple(pairs[at].tolist())} and comes twice",
        allowed="each link once",
        remedy="add up the weights of the two",
    )
    return pairs.astype(np.int64)


def link_weights(weights: npt.ArrayLike, links: int) -> Floats:
    """Check a list of weights and return it as (links,).

    Raises:
        InputError: One is missing, or not positive.
    """
    remedy = "leave weights out for Metropolis'"
    w = checks.numeric(weights, "weights", remedy=remedy)
    checks.shaped(w, (links,), "weights", "one a link", remedy=remedy)
    return checks.within(w, "weights", above=0.0, remedy=remedy)


def read_links(path: Path) -> tuple[Longs, list[float] | None]:
    """Read links, and weights if any, from lines ``from,to[,weight]``.

    Raises:
        DataError: The file does not exist, has another form, or is empty.
    """
    try:
        with path.open(encoding="utf-8", newline="") as file:
            rows = [row for row in csv.reader(file) if row]
        pairs = np.array([[int(row[0]), int(row[1])] for row in rows])
        weights = [float(row[2]) for row in rows] if rows and len(rows[0]) > 2 else None
    except (OSError, ValueError, IndexError) as error:
        raise DataError(
            f"cannot be read as a network: {reason_of(error)}",
            where=str(path),
            allowed="lines of from,to or from,to,weight with centres from 0",
            remedy="correct that line",
        ) from error
    if not len(pairs):
        raise DataError(
            "holds no link", where=str(path), allowed="lines of from,to", remedy="add links"
        )
    return pairs, weights
