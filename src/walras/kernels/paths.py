"""Compiled path search: edge-disjoint paths of least total hops, and k shortest simple paths.

Both find the paths from one source to every target and search backwards, from the target, in a
graph whose hop distances from the source are known. With potentials pi(v) = dist(source, v) a link
u -> v has the reduced length 1 + pi(u) - pi(v) >= 0, the detour that it means; nodes leave their
buckets in the order of their detour, so that only those near a shortest path are looked at.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from walras.kernels.runs import jit

Ints = npt.NDArray[np.int32]
UNREACHED = 2**30


class Graph(NamedTuple):
    """Links by the node they enter and by the node they leave.

    Attributes:
        source: (links,) node a link leaves.
        target: (links,) node a link enters.
        first_in: (nodes + 1,) places of the links into a node within ``links_in``.
        links_in: (links,) links by target.
        first_out: (nodes + 1,) places of the links out of a node within ``links_out``.
        links_out: (links,) links by source.
    """

    source: Ints
    target: Ints
    first_in: Ints
    links_in: Ints
    first_out: Ints
    links_out: Ints


class Work(NamedTuple):
    """Scratch space of one thread; clean between searches but for ``distance``.

    Attributes:
        distance: (nodes,) hops from the source, ``UNREACHED`` where there is no path.
        raised: (nodes,) what augmentations have added to the potential.
        detour: (nodes,) best reduced length to the target so far.
        stamp: (nodes,) search that wrote ``detour``.
        via: (nodes,) link that leads on to the target; ``~link`` where its flow is taken back.
        opposed: (nodes,) links out of the node that carry flow.
        blocked: (nodes,) 1 where a search must not go.
        closed: (links,) 1 where a link must not be used forwards.
        bucket: (nodes + 1,) top of each bucket's stack, -1 if empty.
        below: stack entries: the entry below.
        node: stack entries: the node.
        seen: (1,) number of the current search.
    """

    distance: Ints
    raised: Ints
    detour: Ints
    stamp: Ints
    via: Ints
    opposed: Ints
    blocked: Ints
    closed: Ints
    bucket: Ints
    below: Ints
    node: Ints
    seen: Ints


def make_graph(nodes: int, source: Ints, target: Ints) -> Graph:
    """Links sorted by both their ends."""
    by_target = np.argsort(target, kind="stable").astype(np.int32)
    by_source = np.argsort(source, kind="stable").astype(np.int32)
    ends = np.arange(nodes + 1)
    return Graph(
        source=np.ascontiguousarray(source, dtype=np.int32),
        target=np.ascontiguousarray(target, dtype=np.int32),
        first_in=np.searchsorted(target[by_target], ends).astype(np.int32),
        links_in=by_target,
        first_out=np.searchsorted(source[by_source], ends).astype(np.int32),
        links_out=by_source,
    )


def make_work(nodes: int, links: int) -> Work:
    """Clean scratch space."""

    def zeros(size: int) -> Ints:
        return np.zeros(size, dtype=np.int32)

    entries = 2 * links + nodes + 1  # a node enters a bucket at most once a link that leads to it
    return Work(
        distance=zeros(nodes),
        raised=zeros(nodes),
        detour=zeros(nodes),
        stamp=zeros(nodes),
        via=zeros(nodes),
        opposed=zeros(nodes),
        blocked=zeros(nodes),
        closed=zeros(links),
        bucket=np.full(nodes + 1, -1, dtype=np.int32),
        below=zeros(entries),
        node=zeros(entries),
        seen=zeros(1),
    )


@jit
def hops_from(graph: Graph, source: int, distance: Ints, queue: Ints) -> None:
    """Breadth-first hops from a node to all others into ``distance``."""
    distance[:] = UNREACHED
    distance[source] = 0
    queue[0] = source
    low, high = 0, 1
    while low < high:
        v = queue[low]
        low += 1
        for a in range(graph.first_out[v], graph.first_out[v + 1]):
            w = graph.target[graph.links_out[a]]
            if distance[w] == UNREACHED:
                distance[w] = distance[v] + 1
                queue[high] = w
                high += 1


@jit
def _search(graph: Graph, work: Work, start: int, goal: int, limit: int) -> int:
    """Least detour from ``start`` back to ``goal``, or -1 if none is under ``limit``.

    ``work.via`` holds the links of the path, read from the goal. Potentials are then those of
    ``work.distance + work.raised``.
    """
    work.seen[0] += 1
    now = work.seen[0]
    work.stamp[start], work.detour[start] = now, 0
    work.node[0], work.below[0], work.bucket[0] = start, -1, 0
    entries, found, top = 1, -1, 0
    level = 0
    while level <= top:
        entry = work.bucket[level]
        if entry < 0:
            level += 1
            continue
        v = work.node[entry]
        work.bucket[level] = work.below[entry]
        if work.detour[v] < level:
            continue  # it left an earlier bucket
        if v == goal:
            found = level
            break
        here = work.distance[v] + work.raised[v]
        for side in range(2):
            if side == 0:
                low, high = graph.first_in[v], graph.first_in[v + 1]
            elif work.opposed[v] == 0:
                break
            else:
                low, high = graph.first_out[v], graph.first_out[v + 1]
            for a in range(low, high):
                if side == 0:
                    e = graph.links_in[a]
                    u, length, via = graph.source[e], 1, e
                    if work.closed[e] == 1:
                        continue
                else:
                    e = graph.links_out[a]
                    u, length, via = graph.target[e], -1, ~e
                    if work.closed[e] == 0:
                        continue
                if work.distance[u] == UNREACHED or work.blocked[u] == 1:
                    continue
                g = level + length + work.distance[u] + work.raised[u] - here
                if g >= limit or (work.stamp[u] == now and work.detour[u] <= g):
                    continue
                work.stamp[u], work.detour[u], work.via[u] = now, g, via
                work.node[entries], work.below[entries] = u, work.bucket[g]
                work.bucket[g] = entries
                entries += 1
                top = max(top, g)
    for k in range(level, top + 1):
        work.bucket[k] = -1
    return found


@jit
def _augment(graph: Graph, work: Work, source: int, target: int) -> None:
    """Send one unit of flow along the path just found."""
    v = source
    while v != target:
        e = work.via[v]
        if e >= 0:
            work.closed[e] = 1
            work.opposed[graph.source[e]] += 1
            v = graph.target[e]
        else:
            e = ~e
            work.closed[e] = 0
            work.opposed[graph.source[e]] -= 1
            v = graph.source[e]


@jit
def _raise_potentials(graph: Graph, work: Work, reach: int, touched: Ints, count: int) -> int:
    """pi(v) += max(0, reach - detour(v)): reduced lengths stay >= 0 and are 0 on the path."""
    now = work.seen[0]
    for v in range(len(work.stamp)):
        if work.stamp[v] == now and work.detour[v] < reach:
            if work.raised[v] == 0:
                touched[count] = v
                count += 1
            work.raised[v] += reach - work.detour[v]
    return count


@jit
def _peel(graph: Graph, work: Work, source: int, target: int, out: Ints, at: int) -> int:
    """Take one path off the flow, by the lowest link at each node; returns where it ends."""
    v = source
    while v != target:
        a = graph.first_out[v]
        while work.closed[graph.links_out[a]] == 0:
            a += 1
        e = graph.links_out[a]
        work.closed[e] = 0
        work.opposed[v] -= 1
        out[at] = e
        at += 1
        v = graph.target[e]
    return at


@jit
def _room(links: Ints, used: int, more: int) -> Ints:
    if used + more <= len(links):
        return links
    out = np.empty(max(2 * len(links), used + more), dtype=np.int32)
    out[:used] = links[:used]
    return out


@jit
def disjoint_from(graph: Graph, work: Work, source: int, k: int) -> tuple[Ints, Ints, Ints]:
    """Edge-disjoint paths from a source to every node, shortest first.

    To each target up to k paths of least total hops (Suurballe 1974): successive shortest
    augmenting paths with unit capacities; one path fewer than k where no more are disjoint.

    Args:
        graph: The links.
        work: Scratch space.
        source: The source.
        k: Paths a target at most.

    Returns:
        (nodes,) number of paths to each target, (paths,) hops of each, and their links in a row.
    """
    nodes = len(work.distance)
    count = np.zeros(nodes, dtype=np.int32)
    hops = np.empty(nodes * k, dtype=np.int32)
    links = np.empty(8 * nodes, dtype=np.int32)
    touched = np.empty(nodes, dtype=np.int32)
    begin = np.empty(k + 1, dtype=np.int32)
    scratch = np.empty(len(work.closed) + 1, dtype=np.int32)
    hops_from(graph, source, work.distance, touched)
    paths = used = 0
    for target in range(nodes):
        if target == source or work.distance[target] == UNREACHED:
            continue
        raised = found = 0
        while found < k:
            reach = _search(graph, work, target, source, nodes)
            if reach < 0:
                break
            _augment(graph, work, source, target)
            found += 1
            if reach > 0 and found < k:
                raised = _raise_potentials(graph, work, reach, touched, raised)
        for j in range(raised):
            work.raised[touched[j]] = 0
        begin[0] = 0
        for j in range(found):
            begin[j + 1] = _peel(graph, work, source, target, scratch, begin[j])
        links = _room(links, used, begin[found])
        order = np.argsort(np.diff(begin[: found + 1]), kind="mergesort")
        for j in order:
            size = begin[j + 1] - begin[j]
            links[used : used + size] = scratch[begin[j] : begin[j + 1]]
            used += size
            hops[paths] = size
            paths += 1
        count[target] = found
    return count, hops[:paths].copy(), links[:used].copy()


@jit
def _deviate(
    graph: Graph, work: Work, source: int, target: int, path: Ints, hops: Ints, best: int,
    spur: int, most: int, new: Ints,
) -> int:  # fmt: skip
    """Shortest path that follows path ``best`` for ``spur`` links back from the target, then not.

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
    detour = _search(graph, work, v, source, most - spur - work.distance[v] + 1)
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
    while w != v:  # `via` reads from the source
        new[i] = work.via[w]
        w = graph.target[new[i]]
        i -= 1
    return size


@jit
def _yen(graph: Graph, work: Work, source: int, target: int, path: Ints, hops: Ints,
         from_spur: Ints, new: Ints) -> int:  # fmt: skip
    """Up to k shortest simple paths, read from the target, into ``path``; returns their number.

    Rows 0..k-1 of ``path`` are the accepted paths, rows k..2k-1 the best deviations known.
    """
    k = len(hops) // 2
    nodes = len(work.distance)
    hops[:] = 0
    hops[k] = _deviate(graph, work, source, target, path, hops[:0], 0, 0, nodes - 1, path[k])
    from_spur[k] = 0
    found = 0
    while found < k:
        best = -1
        for j in range(k, 2 * k):
            if hops[j] > 0 and (best < 0 or hops[j] < hops[best]):
                best = j
        if best < 0:
            break
        path[found, : hops[best]] = path[best, : hops[best]]
        hops[found], from_spur[found] = hops[best], from_spur[best]
        hops[best] = 0
        found += 1
        # Lawler: only deviations behind the one that made this path are new.
        for spur in range(from_spur[found - 1], hops[found - 1]):
            worst, known = k, 0
            for j in range(k, 2 * k):
                known += hops[j] > 0
                if hops[j] == 0 or (hops[worst] > 0 and hops[j] > hops[worst]):
                    worst = j
            most = nodes - 1
            if known >= k - found:
                most = min(most, hops[worst] - 1)
            size = _deviate(
                graph, work, source, target, path, hops[:found], found - 1, spur, most, new
            )
            if size > 0:
                path[worst, :size] = new[:size]
                hops[worst], from_spur[worst] = size, spur
    return found


@jit
def shortest_from(graph: Graph, work: Work, source: int, k: int) -> tuple[Ints, Ints, Ints]:
    """Up to k shortest simple paths from a source to every node, by Yen's and Lawler's method.

    Arguments and result as of :func:`disjoint_from`.
    """
    nodes = len(work.distance)
    count = np.zeros(nodes, dtype=np.int32)
    hops = np.empty(nodes * k, dtype=np.int32)
    links = np.empty(8 * nodes, dtype=np.int32)
    queue = np.empty(nodes, dtype=np.int32)
    path = np.empty((2 * k, nodes), dtype=np.int32)
    sizes = np.zeros(2 * k, dtype=np.int32)
    from_spur = np.zeros(2 * k, dtype=np.int32)
    new = np.empty(nodes, dtype=np.int32)
    hops_from(graph, source, work.distance, queue)
    paths = used = 0
    for target in range(nodes):
        if target == source or work.distance[target] == UNREACHED:
            continue
        found = _yen(graph, work, source, target, path, sizes, from_spur, new)
        for j in range(found):
            size = sizes[j]
            links = _room(links, used, size)
            for i in range(size):
                links[used + i] = path[j, size - 1 - i]
            used += size
            hops[paths] = size
            paths += 1
        count[target] = found
    return count, hops[:paths].copy(), links[:used].copy()


@jit
def path_keys(pointer: npt.NDArray[np.int64], source: Ints, last: Ints) -> npt.NDArray[np.int64]:
    """(paths,) a 64-bit hash of each path's nodes: FNV-1a, a word at a time.

    Args:
        pointer: (paths + 1,) links of each path.
        source: Node that each link of each path leaves.
        last: (paths,) node where each path ends.
    """
    out = np.empty(len(last), dtype=np.int64)
    for p in range(len(last)):
        h = np.uint64(0xCBF29CE484222325)
        for a in range(pointer[p], pointer[p + 1]):
            h = (h ^ np.uint64(source[a])) * np.uint64(0x100000001B3)
        h = (h ^ np.uint64(last[p])) * np.uint64(0x100000001B3)
        out[p] = np.int64(h)
    return out


@jit
def path_columns(
    pointer: npt.NDArray[np.int64],
    links: Ints,
    indptr: npt.NDArray[np.signedinteger[Any]],
    indices: npt.NDArray[np.signedinteger[Any]],
) -> None:
    """Row indices of a matrix with a column a path: the path's links in ascending order.

    Args:
        pointer: (paths + 1,) links of each path.
        links: Links of all paths.
        indptr: (paths + 1,) first index of each column, which may have more rows than links.
        indices: Filled at the beginning of each column.
    """
    for p in range(len(pointer) - 1):
        begin = indptr[p]
        end = begin
        for a in range(pointer[p], pointer[p + 1]):
            e, k = links[a], end
            while k > begin and indices[k - 1] > e:
                indices[k] = indices[k - 1]
                k -= 1
            indices[k] = e
            end += 1
