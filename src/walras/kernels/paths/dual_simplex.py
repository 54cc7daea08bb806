"""The dual simplex method on a path program, from matrix to matrix of traffic.

Only the demands change from one matrix to the next. They are right-hand sides, so the last optimal
basis stays dual feasible, and few pivots lead to the next optimum, or none. A pivot costs the
square of the number of tight links and the paths over them, whatever the size of the network.

Many flows are equally good where few links decide: then all ratios are 0, and the method can cycle.
Small costs of the paths (``perturbed``) decide between equals (Charnes, 1952).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from walras.kernels.parallel import inlined, jit
from walras.kernels.paths.basis import (
    Basis,
    PathProgram,
    begin_again,
    column,
    exchange_key,
    invert,
    path_for_path,
    path_for_slack,
    slack_for_path,
    slack_for_slack,
    spread,
)
from walras.types import Floats, Longs

_FEASIBLE = 1e-13  # of the largest utilisation: what an amount or a slack may be below 0
_PIVOT = 1e-8  # smallest entry to pivot on
_FRESH = 100  # pivots after which the inverse is found anew


class Work(NamedTuple):
    """Scratch of one solve.

    Attributes:
        base: (links,) load of the key paths when they carry all.
        load: (links,) load of the basis.
        value: (links,) u and the amounts of the extra paths.
        rest: (pairs,) what a key path carries, of pairs with extra paths.
        price: (links,) prices of the tight links.
        rho: (links,) row of the leaving variable over the tight links.
        col: (links,) column of the entering path.
        dense: (links,) zeros.
        row: (paths,) zeros; the row's sums over the links of each path.
        dear: (paths,) zeros; the prices' sums over the links of each path.
        seen: (pairs,) the last search that met a pair.
        met: (pairs,) pairs that this search has met.
        searches: (1,) searches so far.
        square: (links, links) scratch.
    """

    base: Floats
    load: Floats
    value: Floats
    rest: Floats
    price: Floats
    rho: Floats
    col: Floats
    dense: Floats
    row: Floats
    dear: Floats
    seen: Longs
    met: Longs
    searches: Longs
    square: Floats


def make_work(program: PathProgram) -> Work:
    """Scratch of a program's size."""
    pairs, paths, links = len(program.first) - 1, len(program.pair), len(program.capacity)

    def zeros(size: int) -> Floats:
        return np.zeros(size)

    def whole(size: int) -> Longs:
        return np.zeros(size, dtype=np.int64)

    return Work(
        base=zeros(links),
        load=zeros(links),
        value=zeros(links),
        rest=zeros(pairs),
        price=zeros(links),
        rho=zeros(links),
        col=zeros(links),
        dense=zeros(links),
        row=zeros(paths),
        dear=zeros(paths),
        seen=whole(pairs),
        met=whole(pairs),
        searches=whole(1),
        square=np.zeros((links, links)),
    )


@inlined
def _evaluate(program: PathProgram, basis: Basis, demand: Floats, work: Work) -> None:
    """Amounts, loads and prices of the basis."""
    k, scaled, inverse = basis.size[0], program.scaled, basis.inverse
    fixed = 1.0 - scaled
    for i in range(k):
        total = 0.0
        for q in range(k):
            e = basis.tight[q]
            total += inverse[i, q] * (fixed * program.capacity[e] - work.base[e])
        work.value[i] = total
    for e in range(len(work.load)):
        work.load[e] = work.base[e]
    for q in range(k):
        work.price[q] = -inverse[0, q] if scaled else 0.0
    for i in range(scaled, k):
        path = basis.extra[i]
        pair = program.pair[path]
        work.rest[pair] = demand[pair]
    for i in range(scaled, k):
        path = basis.extra[i]
        pair = program.pair[path]
        key = basis.key[pair]
        work.rest[pair] -= work.value[i]
        spread(program, path, work.value[i], work.load)
        spread(program, key, -work.value[i], work.load)
        cost = program.perturbed[path] - program.perturbed[key]
        if cost != 0.0:
            for q in range(k):
                work.price[q] -= cost * inverse[i, q]


@inlined
def _leaving(program: PathProgram, basis: Basis, demand: Floats, work: Work) -> tuple[int, int]:
    """The row, or the link, whose variable leaves: (row, -1), (-1, link), or (-1, -1) if optimal.

    It is the one furthest below 0, in units of the link's capacity or the mean capacity. If it is a
    key path, this becomes extra, and the largest extra path of its pair takes its place.
    """
    k, scaled = basis.size[0], program.scaled
    factor = work.value[0] if scaled else 1.0
    largest = 0.0
    for e in range(len(work.load)):
        largest = max(largest, work.load[e] / program.capacity[e])
    worst, row, link, is_key = _FEASIBLE * largest, -1, -1, False
    for i in range(scaled, k):
        rest = work.rest[program.pair[basis.extra[i]]]
        if -work.value[i] > worst:
            worst, row, is_key = -work.value[i], i, False
        if -rest > worst:
            worst, row, is_key = -rest, i, True
    worst = max(worst, _FEASIBLE * factor)
    for e in range(len(work.load)):
        short = work.load[e] / program.capacity[e] - factor
        if short > worst and not basis.is_tight[e]:
            worst, row, link, is_key = short, -1, e, False
    if is_key:
        pair = program.pair[basis.extra[row]]
        for i in range(scaled, k):
            if program.pair[basis.extra[i]] == pair and work.value[i] > work.value[row]:
                row = i
        spread(program, basis.key[pair], -demand[pair], work.base)
        exchange_key(program, basis, row)
        spread(program, basis.key[pair], demand[pair], work.base)
    return row, link


@inlined
def _find_row(program: PathProgram, basis: Basis, row: int, link: int, work: Work) -> None:
    """Write ``rho``, the leaving variable's row of the inverse over the tight links."""
    k, scaled, inverse = basis.size[0], program.scaled, basis.inverse
    for q in range(k):
        work.rho[q] = inverse[row, q] if row >= 0 else 0.0
    if row >= 0:
        return
    for i in range(k):
        if i < scaled:
            weight = program.capacity[link]
        else:
            path = basis.extra[i]
            weight = _uses(program, basis.key[program.pair[path]], link) - _uses(
                program, path, link
            )
        if weight != 0.0:
            for q in range(k):
                work.rho[q] += weight * inverse[i, q]


@inlined
def _uses(program: PathProgram, path: int, link: int) -> float:
    """How often a path takes a link."""
    times = 0.0
    for a in range(program.pointer[path], program.pointer[path + 1]):
        if program.links[a] == link:
            times += 1.0
    return times


@inlined
def _gather(
    program: PathProgram, link: int, rho: float, price: float, work: Work, found: int
) -> int:
    """Add a link's entries to the paths over it, and list their pairs; how many are listed."""
    for a in range(program.user_pointer[link], program.user_pointer[link + 1]):
        path = program.users[a]
        work.row[path] += rho
        work.dear[path] += price
        pair = program.pair[path]
        if work.seen[pair] != work.searches[0]:
            work.seen[pair] = work.searches[0]
            work.met[found] = pair
            found += 1
    return found


@inlined
def _entering(program: PathProgram, basis: Basis, link: int, work: Work) -> tuple[int, int, float]:
    """The path, or the place of the slack, whose reduced cost reaches 0 first, and its entry.

    (-1, -1, 0) if nothing can enter.
    """
    k = basis.size[0]
    work.searches[0] += 1
    found = 0
    for q in range(k):
        found = _gather(program, basis.tight[q], work.rho[q], work.price[q], work, found)
    if link >= 0:
        found = _gather(program, link, 1.0, 0.0, work, found)
    best, path, place, entry = np.inf, -1, -1, 0.0
    for q in range(k):
        alpha = work.rho[q]
        if alpha < -_PIVOT:
            ratio = max(work.price[q], 0.0) / -alpha
            if ratio < best or (ratio == best and alpha < entry):
                best, place, entry = ratio, q, alpha
    for at in range(found):
        pair = work.met[at]
        key = basis.key[pair]
        for p in range(program.first[pair], program.first[pair + 1]):
            alpha = work.row[p] - work.row[key]
            if alpha < -_PIVOT and not basis.is_extra[p]:
                cost = program.perturbed[p] - program.perturbed[key] + work.dear[p] - work.dear[key]
                ratio = max(cost, 0.0) / -alpha
                if ratio < best or (ratio == best and alpha < entry):
                    best, path, place, entry = ratio, p, -1, alpha
    for at in range(found):
        pair = work.met[at]
        for p in range(program.first[pair], program.first[pair + 1]):
            work.row[p] = work.dear[p] = 0.0
    return path, place, entry


@inlined
def _pivot(program: PathProgram, basis: Basis, demand: Floats, work: Work) -> bool:
    """One pivot; False if there is none, since the basis is optimal."""
    row, link = _leaving(program, basis, demand, work)
    if row < 0 and link < 0:
        return False
    _find_row(program, basis, row, link, work)
    path, place, entry = _entering(program, basis, link, work)
    if path >= 0:
        column(program, basis, path, work.dense, work.col)
        if link >= 0:
            path_for_slack(basis, link, path, work.col, work.rho, entry)
        else:
            path_for_path(basis, row, path, work.col)
    elif place >= 0:
        if link >= 0:
            slack_for_slack(basis, link, place, work.rho)
        else:
            slack_for_path(basis, row, place)
    return bool(path >= 0 or place >= 0)  # rounding alone can leave nothing to enter


@inlined
def _finite(basis: Basis, work: Work) -> bool:
    """Whether the amounts are finite, as they are if the inverse is; their sum tells."""
    total = 0.0
    for i in range(basis.size[0]):
        total += work.value[i]
    return bool(np.isfinite(total))


@inlined
def _solve(program: PathProgram, basis: Basis, demand: Floats, most: int, work: Work) -> int:
    """Pivot until the basis is optimal for the demands, at most ``most`` times; how often.

    It ends early where the amounts are not finite.
    """
    for e in range(len(work.base)):
        work.base[e] = 0.0
    for pair in range(len(demand)):
        if demand[pair] > 0.0:
            spread(program, basis.key[pair], demand[pair], work.base)
    pivots = 0
    while True:
        _evaluate(program, basis, demand, work)
        if not (pivots < most and _finite(basis, work) and _pivot(program, basis, demand, work)):
            return pivots
        pivots += 1
        basis.size[1] += 1
        if basis.size[1] >= _FRESH:
            invert(program, basis, work.dense, work.square)


@inlined
def _flow(program: PathProgram, basis: Basis, demand: Floats, work: Work, flow: Floats) -> None:
    """(paths,) Amounts of the basis, those below 0 set to 0; each pair's add up to its demand."""
    scaled = program.scaled
    for pair in range(len(demand)):
        flow[basis.key[pair]] = demand[pair]
    for i in range(scaled, basis.size[0]):
        path = basis.extra[i]
        key = basis.key[program.pair[path]]
        flow[path] = min(max(work.value[i], 0.0), flow[key])
        flow[key] -= flow[path]


@jit
def follow(
    program: PathProgram,
    basis: Basis,
    first: Basis,
    demands: Floats,
    most: int,
    work: Work,
    flow: Floats,
    price: Floats,
    pivots: Longs,
) -> None:
    """Solve one demand vector after the other, each from the last basis.

    Args:
        program: The program.
        basis: A dual feasible basis; the last one on return.
        first: The first basis, from which a solve begins again whose amounts are not finite.
        demands: (matrices, pairs) demands, >= 0, in the mean capacity.
        most: Largest number of pivots of one solve.
        work: Scratch.
        flow: (matrices, paths) zeros; filled with flows that meet the demands.
        price: (matrices, links) zeros; filled with prices >= 0.
        pivots: (matrices,) filled with the pivots of each.
    """
    for m in range(len(demands)):
        pivots[m] = 0
        for _ in range(2):
            pivots[m] += _solve(program, basis, demands[m], most, work)
            if _finite(basis, work):
                break
            begin_again(basis, first)
        _flow(program, basis, demands[m], work, flow[m])
        for q in range(basis.size[0]):
            price[m, basis.tight[q]] = max(work.price[q], 0.0)


@jit
def judge(
    program: PathProgram, demands: Floats, flow: Floats, price: Floats, fullest: Floats, low: Floats
) -> None:
    """Value flows and prices from the data alone, without a basis.

    With prices pi >= 0 of the links no solution costs less than ``sum_k demand_k min_p (cost_p +
    sum_(e on p) pi_e)``, less ``sum_e pi_e capacity_e`` if the capacities are fixed; if they are
    scaled, the prices are divided by that sum.

    Args:
        program: The program.
        demands: (matrices, pairs) demands.
        flow: (matrices, paths) flows.
        price: (matrices, links) prices; divided by their sum over the capacities if u is variable.
        fullest: (matrices,) filled with the largest utilisations.
        low: (matrices,) filled with lower bounds.
    """
    links, paths = len(program.capacity), len(program.pair)
    load, cost = np.empty(links), np.empty(paths)
    for m in range(len(demands)):
        worth = 0.0
        for e in range(links):
            load[e] = 0.0
            worth += price[m, e] * program.capacity[e]
        for p in range(paths):
            cost[p] = program.cost[p]
            if flow[m, p] != 0.0:
                spread(program, p, flow[m, p], load)
        fullest[m] = 0.0
        for e in range(links):
            used = load[e] / program.capacity[e]
            if used > fullest[m] or np.isnan(used):  # max() would drop what is not a number
                fullest[m] = used
            if price[m, e] > 0.0:
                price[m, e] /= worth if program.scaled else 1.0
                for a in range(program.user_pointer[e], program.user_pointer[e + 1]):
                    cost[program.users[a]] += price[m, e]
        low[m] = 0.0 if program.scaled else -worth
        for pair in range(demands.shape[1]):
            if demands[m, pair] > 0.0:
                least = np.inf
                for p in range(program.first[pair], program.first[pair + 1]):
                    least = min(least, cost[p])
                low[m] += demands[m, pair] * least
