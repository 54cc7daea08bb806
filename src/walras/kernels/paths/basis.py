"""Bases of a path program, and their small working inverse.

A path program sends demands over paths. With x on the paths, a slack s for each link, and a factor
u that scales all capacities (a variable with cost 1, or fixed at 1), it is::

    minimise    u + sum_p cost_p x_p
    subject to  sum_(p of pair k) x_p = demand_k              one row a pair
                sum_(p over e) x_p + s_e = capacity_e u       one row a link
                x, s >= 0

A basis has a *key path* for each pair, which carries what the pair's other basic paths leave, and
as many further columns (u and *extra* paths) as there are *tight* links, whose slacks are not
basic. Without the key paths, a square system of that size is left: the column of an extra path has
its links less those of its pair's key path, that of u has -capacity. Only the inverse of this
working matrix is kept. Source: Dantzig and Van Slyke, 1967, generalised upper bounding.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from walras.kernels.parallel import copy, inlined
from walras.types import Floats, Ints, Longs


class PathProgram(NamedTuple):
    """Arrays of a path program; only the demands are missing.

    Attributes:
        first: (pairs + 1,) paths of pair k are ``first[k]:first[k + 1]``.
        pair: (paths,) pair that each path serves.
        pointer: (paths + 1,) path p takes ``links[pointer[p]:pointer[p + 1]]``, or no link.
        links: links of all paths, one path after the other.
        user_pointer: (links + 1,) paths over link e are
            ``users[user_pointer[e]:user_pointer[e + 1]]``.
        users: paths of all links, one link after the other.
        cost: (paths,) cost of a unit on each path.
        perturbed: (paths,) the same with small costs that decide between equals.
        capacity: (links,) capacities in their mean.
        scaled: 1 if the factor u is a variable, 0 if it is 1.
    """

    first: Longs
    pair: Ints
    pointer: Longs
    links: Ints
    user_pointer: Longs
    users: Ints
    cost: Floats
    perturbed: Floats
    capacity: Floats
    scaled: int


class Basis(NamedTuple):
    """A basis; all arrays change in place.

    Attributes:
        size: number k of tight links, and pivots since the inverse was found.
        key: (pairs,) key path of each pair.
        extra: (links,) extra path of each row of the inverse; row 0 is that of u if it is variable.
        is_extra: (paths,) 1 where a path is extra.
        tight: (links,) tight link of each column of the inverse.
        is_tight: (links,) 1 where a link is tight.
        inverse: (links, links) inverse of the working matrix in its first k rows and columns.
    """

    size: Longs
    key: Longs
    extra: Longs
    is_extra: Longs
    tight: Longs
    is_tight: Longs
    inverse: Floats


def first_basis(program: PathProgram) -> Basis:
    """A dual feasible basis without extra paths.

    With u, the smallest link is tight, and key paths avoid it where they can. Without u, no link is
    tight, and key paths are those of least cost.
    """
    capacity, pairs = program.capacity, len(program.first) - 1
    extra, is_extra = (np.zeros(n, dtype=np.int64) for n in (len(capacity), len(program.pair)))
    tight, is_tight = np.zeros((2, len(capacity)), dtype=np.int64)
    inverse = np.zeros((len(capacity), len(capacity)))
    price = np.zeros(len(capacity))
    if program.scaled:
        smallest = int(np.argmin(capacity))
        tight[0], is_tight[smallest] = smallest, 1
        price[smallest], inverse[0, 0] = 1.0, -1.0 / capacity[smallest]
    owner = np.repeat(np.arange(len(program.pair)), np.diff(program.pointer))
    dear = np.bincount(owner, weights=price[program.links], minlength=len(program.pair))
    order = np.lexsort((program.perturbed + dear, program.pair))
    key = order[program.first[:pairs]].astype(np.int64)
    size = np.array([program.scaled, 0], dtype=np.int64)
    return Basis(size, key, extra, is_extra, tight, is_tight, inverse)


def copied(basis: Basis) -> Basis:
    """The same basis in arrays of its own."""
    size, key, extra, is_extra, tight, is_tight = (array.copy() for array in basis[:-1])
    return Basis(size, key, extra, is_extra, tight, is_tight, basis.inverse.copy())


@inlined
def begin_again(basis: Basis, first: Basis) -> None:
    """Make a basis the first one."""
    copy(first.size, basis.size)
    copy(first.key, basis.key)
    copy(first.extra, basis.extra)
    copy(first.is_extra, basis.is_extra)
    copy(first.tight, basis.tight)
    copy(first.is_tight, basis.is_tight)
    for i in range(first.size[0]):
        for q in range(first.size[0]):
            basis.inverse[i, q] = first.inverse[i, q]


@inlined
def spread(program: PathProgram, path: int, amount: float, out: Floats) -> None:
    """Add an amount on each link of a path."""
    for a in range(program.pointer[path], program.pointer[path + 1]):
        out[program.links[a]] += amount


@inlined
def column(program: PathProgram, basis: Basis, path: int, dense: Floats, out: Floats) -> None:
    """(k,) Inverse times the working column of a path; ``dense`` holds zeros, and does after."""
    k, key = basis.size[0], basis.key[program.pair[path]]
    spread(program, path, 1.0, dense)
    spread(program, key, -1.0, dense)
    for i in range(k):
        out[i] = 0.0
    for q in range(k):
        a = dense[basis.tight[q]]
        if a != 0.0:
            for i in range(k):
                out[i] += a * basis.inverse[i, q]
    for p in (path, key):
        for a in range(program.pointer[p], program.pointer[p + 1]):
            dense[program.links[a]] = 0.0


@inlined
def exchange_key(program: PathProgram, basis: Basis, row: int) -> None:
    """Make the extra path of a row its pair's key path, and the key path extra.

    The amounts of the pair's paths add up to its demand, so the new row is minus the sum of the
    rows of the pair's extra paths.
    """
    path = basis.extra[row]
    k, pair = basis.size[0], program.pair[path]
    for i in range(program.scaled, k):
        if i != row and program.pair[basis.extra[i]] == pair:
            for q in range(k):
                basis.inverse[row, q] += basis.inverse[i, q]
    for q in range(k):
        basis.inverse[row, q] *= -1.0
    basis.is_extra[path], basis.is_extra[basis.key[pair]] = 0, 1
    basis.extra[row], basis.key[pair] = basis.key[pair], path


@inlined
def path_for_path(basis: Basis, row: int, path: int, col: Floats) -> None:
    """A path enters for the extra path of a row; ``col`` is its column."""
    k, inverse = basis.size[0], basis.inverse
    for q in range(k):
        inverse[row, q] /= col[row]
    for i in range(k):
        if i != row and col[i] != 0.0:
            for q in range(k):
                inverse[i, q] -= col[i] * inverse[row, q]
    basis.is_extra[basis.extra[row]], basis.is_extra[path] = 0, 1
    basis.extra[row] = path


@inlined
def slack_for_path(basis: Basis, row: int, place: int) -> None:
    """The slack of the tight link at a place enters for the extra path of a row."""
    k, inverse = basis.size[0], basis.inverse
    for i in range(k):
        factor = inverse[i, place] / inverse[row, place]
        if i != row and factor != 0.0:
            for q in range(k):
                if q != place:
                    inverse[i, q] -= factor * inverse[row, q]
    last = k - 1
    basis.is_extra[basis.extra[row]] = 0
    basis.is_tight[basis.tight[place]] = 0
    for q in range(k):
        inverse[row, q] = inverse[last, q]
    for i in range(last):
        inverse[i, place] = inverse[i, last]
    basis.extra[row], basis.tight[place] = basis.extra[last], basis.tight[last]
    basis.size[0] = last


@inlined
def path_for_slack(
    basis: Basis, link: int, path: int, col: Floats, rho: Floats, alpha: float
) -> None:
    """A path enters for the slack of a link, which becomes tight.

    With the row ``rho`` of the slack over the tight links and ``alpha`` its entry at the path, the
    inverse grows to ``[[inverse - col rho / alpha, -col / alpha], [rho / alpha, 1 / alpha]]``.
    """
    k, inverse = basis.size[0], basis.inverse
    for i in range(k):
        factor = col[i] / alpha
        for q in range(k):
            inverse[i, q] -= factor * rho[q]
        inverse[i, k] = -factor
    for q in range(k):
        inverse[k, q] = rho[q] / alpha
    inverse[k, k] = 1.0 / alpha
    basis.extra[k], basis.tight[k] = path, link
    basis.is_extra[path] = basis.is_tight[link] = 1
    basis.size[0] = k + 1


@inlined
def slack_for_slack(basis: Basis, link: int, place: int, rho: Floats) -> None:
    """The slack of the tight link at a place enters for that of another link."""
    k, inverse = basis.size[0], basis.inverse
    for i in range(k):
        inverse[i, place] /= -rho[place]
        for q in range(k):
            if q != place:
                inverse[i, q] += inverse[i, place] * rho[q]
    basis.is_tight[basis.tight[place]], basis.is_tight[link] = 0, 1
    basis.tight[place] = link


@inlined
def invert(program: PathProgram, basis: Basis, dense: Floats, work: Floats) -> None:
    """Find the inverse anew, by Gauss-Jordan elimination; ``dense`` holds zeros, and does after.

    That of a singular basis is not finite.

    Args:
        program: The program.
        basis: The basis; its inverse is replaced.
        dense: (links,) scratch.
        work: (links, links) scratch.
    """
    k, inverse, scaled = basis.size[0], basis.inverse, program.scaled
    basis.size[1] = 0
    for j in range(k):
        if j < scaled:
            for e in range(k):
                work[e, j] = -program.capacity[basis.tight[e]]
        else:
            path = basis.extra[j]
            key = basis.key[program.pair[path]]
            spread(program, path, 1.0, dense)
            spread(program, key, -1.0, dense)
            for e in range(k):
                work[e, j] = dense[basis.tight[e]]
            spread(program, path, -1.0, dense)
            spread(program, key, 1.0, dense)
    for i in range(k):
        for q in range(k):
            inverse[i, q] = 1.0 if i == q else 0.0
    for j in range(k):
        best = j
        for i in range(j + 1, k):
            if abs(work[i, j]) > abs(work[best, j]):
                best = i
        for q in range(k):
            work[j, q], work[best, q] = work[best, q], work[j, q]
            inverse[j, q], inverse[best, q] = inverse[best, q], inverse[j, q]
        pivot = 1.0 / work[j, j]
        for q in range(k):
            work[j, q] *= pivot
            inverse[j, q] *= pivot
        for i in range(k):
            factor = work[i, j]
            if i != j and factor != 0.0:
                for q in range(k):
                    work[i, q] -= factor * work[j, q]
                    inverse[i, q] -= factor * inverse[j, q]
