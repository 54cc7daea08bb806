"""Compiled path search: edge-disjoint paths of least total hops.

As in :mod:`.simple`, the paths from one source to every target are found together. The searches run
backwards from the target, with known hop distances from the source. With potentials pi(v) =
dist(source, v), a link u -> v has the reduced length 1 + pi(u) - pi(v) >= 0, which is its detour.
Nodes leave their buckets in the order of their detour, so only nodes near a shortest path are
visited.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from walras.kernels.parallel import copy, inner, jit
from walras.kernels.room import filled_ints, ints
from walras.types import Ints

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
    """Scratch space of one thread; clean between searches, except ``distance``.

    Attributes:
        distance: (nodes,) hops from the source, ``UNREACHED`` if there is no path.
        raised: (nodes,) total that augmentations have added to the potential.
        detour: (nodes,) best reduced length to the target so far.
        stamp: (nodes,) search that wrote ``detour``.
        via: (nodes,) next link towards the target; ``~link`` if its flow is taken back.
        opposed: (nodes,) links out of the node that carry flow.
        blocked: (nodes,) 1 where a search must not go.
        closed: (links,) 1 where a link must not be used forwards.
        bucket: (nodes + 1,) top of each bucket's stack, -1 if empty. below: for each stack entry,
            the entry below it. node: for each stack entry, its node.
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
    """The graph with links sorted by both their ends."""
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

    entries = 2 * links + nodes + 1  # a node enters a bucket at most once for each link towards it
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


@inner
def hops_from(graph: Graph, source: int, distance: Ints, queue: Ints) -> None:
    """Compute breadth-first hops from a node to all others, in ``distance``."""
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


@inner
def search(graph: Graph, work: Work, start: int, goal: int, limit: int) -> int:
    """The least detour from ``start`` back to ``goal``, or -1 if none is under ``limit``.

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
            continue  # it has already left an earlier bucket
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


@inner
def _augment(graph: Graph, work: Work, source: int, target: int) -> None:
    """Send one unit of flow along the last path."""
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


@inner
def _raise_potentials(work: Work, reach: int, touched: Ints, count: int) -> int:
    """Set pi(v) += max(0, reach - detour(v)): reduced lengths stay >= 0 and are 0 on the path."""
    now = work.seen[0]
    for v in range(len(work.stamp)):
        if work.stamp[v] == now and work.detour[v] < reach:
            if work.raised[v] == 0:
                touched[count] = v
                count += 1
            work.raised[v] += reach - work.detour[v]
    return count


@inner
def _peel(graph: Graph, work: Work, source: int, target: int, out: Ints, at: int) -> int:
    """Remove one path from the flow, by the lowest link at each node; return its end."""
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


@inner
def with_room(links: Ints, used: int, more: int) -> Ints:
    """The array, or a larger copy of its first part if ``more`` elements do not fit."""
    if used + more <= len(links):
        return links
    out: Ints = ints(max(2 * len(links), used + more))
    copy(links[:used], out)
    return out


@jit
def disjoint_from(graph: Graph, work: Work, source: int, k: int) -> tuple[Ints, Ints, Ints]:
    """Edge-disjoint paths from a source to every node, shortest first.

    Each target gets up to k paths of least total hops (Suurballe 1974), by successive shortest
    augmenting paths with unit capacities; fewer than k if no more are disjoint.

    Args:
        graph: The links.
        work: Scratch space.
        source: The source.
        k: Largest number of paths for each target.

    Returns:
        (nodes,) number of paths to each target, (paths,) hops of each, and all their links in
        sequence.
    """
    nodes = len(work.distance)
    count, touched, begin = filled_ints(nodes, 0), ints(nodes), ints(k + 1)
    hops, links, scratch = ints(nodes * k), ints(8 * nodes), ints(len(work.closed) + 1)
    hops_from(graph, source, work.distance, touched)
    paths = used = 0
    for target in range(nodes):
        if target == source or work.distance[target] == UNREACHED:
            continue
        raised = found = 0
        while found < k:
            reach = search(graph, work, target, source, nodes)
            if reach < 0:
                break
            _augment(graph, work, source, target)
            found += 1
            if reach > 0 and found < k:
                raised = _raise_potentials(work, reach, touched, raised)
        for j in range(raised):
            work.raised[touched[j]] = 0
        begin[0] = 0
        for j in range(found):
            begin[j + 1] = _peel(graph, work, source, target, scratch, begin[j])
        links = with_room(links, used, begin[found])
        size, first = 0, paths
        while paths < first + found:  # a sort would take longer to compile than all of this
            size += 1
            for j in range(found):
                if begin[j + 1] - begin[j] == size:
                    copy(scratch[begin[j] : begin[j + 1]], links[used:])
                    hops[paths] = size
                    used += size
                    paths += 1
        count[target] = found
    return count, hops[:paths].copy(), links[:used].copy()
