"""Compiled search for the k shortest simple paths from one source to every target."""

from __future__ import annotations

from walras.kernels.parallel import copy, inner, jit
from walras.kernels.paths.disjoint import UNREACHED, Graph, Work, hops_from, search, with_room
from walras.kernels.room import filled_ints, int_table, ints
from walras.types import Ints


@inner
def _deviate(
    graph: Graph,
    work: Work,
    source: int,
    target: int,
    path: Ints,
    hops: Ints,
    best: int,
    spur: int,
    most: int,
    new: Ints,
) -> int:
    """The shortest path that follows path ``best`` for exactly ``spur`` links back from the target.

    Writes the links, read from the target, to ``new`` and returns their number; 0 if no such path
    has at most ``most`` links.
    """
    v = target
    for i in range(spur):
        work.blocked[v] = 1
        new[i] = path[best, i]
        v = graph.source[new[i]]
    work.blocked[v] = 1
    for p in range(len(hops)):
        same = hops[p] > spur
        for i in range(spur):
            same = same and path[p, i] == new[i]
        if same:
            work.closed[path[p, spur]] = 1
    detour = search(graph, work, v, source, most - spur - work.distance[v] + 1)
    for p in range(len(hops)):
        if hops[p] > spur:
            work.closed[path[p, spur]] = 0
    w = target
    for i in range(spur):
        work.blocked[w] = 0
        w = graph.source[new[i]]
    work.blocked[w] = 0
    if detour < 0:
        return 0
    size: int = spur + work.distance[v] + detour
    w, i = source, size - 1
    while w != v:  # `via` is in the order from the source
        new[i] = work.via[w]
        w = graph.target[new[i]]
        i -= 1
    return size


@inner
def _place(hops: Ints, wanted: int, most: int) -> tuple[int, int]:
    """The row for the next deviation, and the largest useful number of hops.

    While fewer than ``wanted`` are known, this is an empty row and ``most``. Later it is the row of
    the longest known deviation, which a shorter one replaces.
    """
    k = len(hops) // 2
    empty = longest = -1
    known = 0
    for j in range(k, 2 * k):
        if hops[j] == 0:
            empty = j
            continue
        known += 1
        if longest < 0 or hops[j] > hops[longest]:
            longest = j
    if known < wanted:
        return empty, most
    return longest, hops[longest] - 1


@inner
def _yen(
    graph: Graph,
    work: Work,
    source: int,
    target: int,
    path: Ints,
    hops: Ints,
    from_spur: Ints,
    new: Ints,
) -> int:
    """Find up to k shortest simple paths, from the target back, in ``path``; return their number.

    Rows 0..k-1 of ``path`` are the accepted paths, rows k..2k-1 the best deviations known.
    """
    k = len(hops) // 2
    nodes = len(work.distance)
    hops[:] = 0
    hops[k] = _deviate(graph, work, source, target, path, hops[:0], 0, 0, nodes - 1, path[k])
    from_spur[k] = 0
    found = 0
    while True:
        best = -1
        for j in range(k, 2 * k):
            if hops[j] > 0 and (best < 0 or hops[j] < hops[best]):
                best = j
        if best < 0:
            break
        copy(path[best, : hops[best]], path[found])
        hops[found], from_spur[found] = hops[best], from_spur[best]
        hops[best] = 0
        found += 1
        if found == k:
            break
        # Lawler: only deviations after the one that made this path are new.
        for spur in range(from_spur[found - 1], hops[found - 1]):
            place, most = _place(hops, k - found, nodes - 1)
            size = _deviate(
                graph, work, source, target, path, hops[:found], found - 1, spur, most, new
            )
            if size > 0:
                copy(new[:size], path[place])
                hops[place], from_spur[place] = size, spur
    return found


@jit
def shortest_from(graph: Graph, work: Work, source: int, k: int) -> tuple[Ints, Ints, Ints]:
    """Up to k shortest simple paths from a source to every node, by Yen's and Lawler's method.

    Arguments and result are those of :func:`disjoint_from`.
    """
    nodes = len(work.distance)
    count, hops, links = filled_ints(nodes, 0), ints(nodes * k), ints(8 * nodes)
    queue, path, new = ints(nodes), int_table(2 * k, nodes), ints(nodes)
    sizes, from_spur = filled_ints(2 * k, 0), filled_ints(2 * k, 0)
    hops_from(graph, source, work.distance, queue)
    paths = used = 0
    for target in range(nodes):
        if target == source or work.distance[target] == UNREACHED:
            continue
        found = _yen(graph, work, source, target, path, sizes, from_spur, new)
        for j in range(found):
            size = sizes[j]
            links = with_room(links, used, size)
            for i in range(size):
                links[used + i] = path[j, size - 1 - i]
            used += size
            hops[paths] = size
            paths += 1
        count[target] = found
    return count, hops[:paths].copy(), links[:used].copy()
