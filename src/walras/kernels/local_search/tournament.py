"""Compiled choice of a server for a replica, among many, by a tournament tree.

A leaf is a server. Every node knows the largest lack of load, the largest room for load and the
largest free memory below it, so that a search leaves out what cannot take the replica, or is less
in need than the best so far.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from walras.kernels.local_search.flow import Limits, Replicas
from walras.kernels.parallel import inner, jit
from walras.types import Floats, Ints

_DEPTH = 64  # more than the tree can have


class Tree(NamedTuple):
    """The nodes: 1 is the root, k has the children 2k and 2k + 1, leaves are the second half.

    Attributes:
        lack: (2 leaves,) least load minus load; negative where a server has enough.
        room: (2 leaves,) largest load minus load.
        memory: (2 leaves,) free memory.
        stack: Scratch space.
    """

    lack: Floats
    room: Floats
    memory: Floats
    stack: Ints


class Rules(NamedTuple):
    """Where replicas may be.

    Attributes:
        zone: (servers,) zone of each server.
        spread: Least number of zones of each shard.
    """

    zone: Ints
    spread: int


def make_tree(servers: int) -> Tree:
    """A tree of leaves that take nothing."""
    leaves = 1
    while leaves < servers:
        leaves *= 2
    lack, room, memory = np.full((3, 2 * leaves), -np.inf)
    return Tree(lack, room, memory, np.zeros(2 * _DEPTH, dtype=np.int32))


@inner
def update(tree: Tree, replicas: Replicas, limits: Limits, i: int) -> None:
    """Set the leaf of server i and the nodes above it."""
    at = len(tree.lack) // 2 + i
    tree.lack[at] = limits.lower[i] - replicas.total[i]
    tree.room[at] = limits.upper[i] - replicas.total[i]
    tree.memory[at] = limits.memory[i] - replicas.used[i]
    at //= 2
    while at >= 1:
        a, b = 2 * at, 2 * at + 1
        tree.lack[at] = max(tree.lack[a], tree.lack[b])
        tree.room[at] = max(tree.room[a], tree.room[b])
        tree.memory[at] = max(tree.memory[a], tree.memory[b])
        at //= 2


@jit
def update_all(tree: Tree, replicas: Replicas, limits: Limits) -> None:
    """Set all leaves and nodes."""
    for i in range(len(limits.lower)):
        update(tree, replicas, limits, i)


@inner
def may_hold(replicas: Replicas, rules: Rules, i: int, j: int) -> bool:
    """Whether server i may get a replica of j: it has none, and adds a zone where one is needed."""
    zones, new = 0, True
    e = replicas.first_of[j]
    while e >= 0:
        b = replicas.server[e]
        if b == i:
            return False
        if rules.spread > 1:
            first = True
            f = replicas.first_of[j]
            while f != e:
                first = first and rules.zone[replicas.server[f]] != rules.zone[b]
                f = replicas.next_of[f]
            zones += first
            new = new and rules.zone[b] != rules.zone[i]
        e = replicas.next_of[e]
    return bool(new or zones >= rules.spread)


@inner
def neediest(
    tree: Tree, replicas: Replicas, rules: Rules, j: int, load: float, memory: float
) -> int:
    """The server that lacks most load among those that can take a replica of j; -1 if none can."""
    leaves = len(tree.lack) // 2
    best, most, size = -1, -np.inf, 1
    tree.stack[0] = 1
    while size > 0:
        size -= 1
        at = tree.stack[size]
        if tree.lack[at] <= most or tree.room[at] < load or tree.memory[at] < memory:
            continue
        if at >= leaves:
            if may_hold(replicas, rules, at - leaves, j):
                best, most = at - leaves, tree.lack[at]
            continue
        a, b = 2 * at, 2 * at + 1
        if tree.lack[a] > tree.lack[b]:
            a, b = b, a
        tree.stack[size], tree.stack[size + 1] = a, b
        size += 2
    return int(best)
