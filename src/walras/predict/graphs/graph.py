"""Task graphs: the operators of a computation, what each costs, and which feeds which."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NoReturn

import numpy as np
import numpy.typing as npt

from walras import checks
from walras.errors import InputError
from walras.short_repr import short_repr
from walras.types import Floats, Longs

KINDS = (
    "input", "output", "none", "identity", "conv1x1", "conv3x3", "conv", "depthwise", "pool",
    "linear", "matmul", "attention", "norm", "activation", "add", "multiply", "concat", "embedding",
    "recurrent", "softmax", "reduce", "reshape", "upsample", "other",
)  # fmt: skip
"""Kinds of operators that graphs and features tell apart."""

_NUMBERS = ("macs", "params", "elements")


@short_repr
@dataclass(frozen=True, eq=False)
class TaskGraph:
    """The computation of one task, as a directed graph without cycles.

    Attributes:
        kinds: Kind of each operator, one of ``KINDS``; length n.
        macs: (n,) multiply-accumulate operations of each, for the whole batch.
        params: (n,) learned numbers of each.
        elements: (n,) numbers in its output, for the whole batch.
        edges: (k, 2) pairs (from, to) of operators.
        batch: Number of samples that go through together.
        depth: (n,) edges on the longest path that ends in each operator; computed.
        height: (n,) edges on the longest path that starts in each operator; computed.

    Raises:
        InputError: Shapes, kinds, signs or edges are wrong, or the edges close a cycle.

    Example:
        >>> from walras.predict import TaskGraph
        >>> graph = TaskGraph(
        ...     kinds=("input", "linear", "output"),
        ...     macs=[0, 24, 0], params=[0, 8, 0], elements=[12, 8, 8],
        ...     edges=[(0, 1), (1, 2)], batch=4,
        ... )
        >>> len(graph), graph.depth
        (3, array([0, 1, 2]))
    """

    kinds: tuple[str, ...]
    macs: Floats
    params: Floats
    elements: Floats
    edges: Longs
    batch: int = 1
    depth: Longs = field(init=False, repr=False)
    height: Longs = field(init=False, repr=False)

    def __post_init__(self) -> None:
        n = len(self.kinds)
        for name in _NUMBERS:
            object.__setattr__(self, name, _numbers(getattr(self, name), n, name))
        edges = np.asarray(self.edges, dtype=np.int64).reshape(-1, 2)
        object.__setattr__(self, "edges", edges)
        self._check(n)
        object.__setattr__(self, "depth", _longest(n, edges[:, 0], edges[:, 1]))
        object.__setattr__(self, "height", _longest(n, edges[:, 1], edges[:, 0]))

    def _check(self, n: int) -> None:
        if n == 0:
            _refuse("has no operator", "kinds", "at least one", "add the operators of the task")
        for k, kind in enumerate(self.kinds):
            checks.one_of(kind, f"graph, kinds[{k}]", KINDS, remedy="use 'other'")
        for k in np.flatnonzero(((self.edges < 0) | (self.edges >= n)).any(axis=1))[:1]:
            _refuse(
                f"is {tuple(self.edges[k].tolist())}",
                f"edges[{k}]",
                f"0 to {n - 1}",
                "number operators from 0 in the order of kinds",
            )
        remedy = "give the number of samples"
        checks.number(self.batch, "graph, batch", 1, remedy=remedy)

    def __len__(self) -> int:
        return len(self.kinds)


def _numbers(values: npt.ArrayLike, n: int, name: str) -> Floats:
    where = f"graph, {name}"
    array = checks.numeric(values, where, copy=True)
    checks.shaped(array, (n,), where, "one number an operator")
    checks.within(array, where, 0.0)
    array.setflags(write=False)
    return array


def _refuse(what: str, where: str, allowed: str, remedy: str) -> NoReturn:
    raise InputError(what, where=f"graph, {where}", allowed=allowed, remedy=remedy)


def _longest(n: int, tail: Longs, head: Longs) -> Longs:
    """(n,) edges on the longest path that ends in each node, by Kahn's order."""
    waiting = np.bincount(head, minlength=n).tolist()
    following: list[list[int]] = [[] for _ in range(n)]
    for a, b in zip(tail.tolist(), head.tolist(), strict=True):
        following[a].append(b)
    ready = [node for node in range(n) if waiting[node] == 0]
    length = [0] * n  # lists: most graphs are small
    done = 0
    while ready:
        node = ready.pop()
        done += 1
        for other in following[node]:
            length[other] = max(length[other], length[node] + 1)
            waiting[other] -= 1
            if waiting[other] == 0:
                ready.append(other)
    if done < n:
        around = [node for node in range(n) if waiting[node] > 0][:5]
        _refuse(
            f"close a cycle among operators {around}",
            "edges",
            "a graph without cycles",
            "unroll the loop: an operator that runs twice stands there twice",
        )
    return np.array(length, dtype=np.int64)


FEATURES = (
    "log macs", "log params", "log elements", "log batch", "log operators", "depth",
    *(f"{name} of {kind}" for kind in KINDS for name in ("operators", "log macs")),
)  # fmt: skip
"""Names of the columns of :func:`closed_form`."""


def closed_form(graphs: Iterable[TaskGraph]) -> Floats:
    """Compute features of task graphs: sums over all operators and over each kind.

    Logarithms are log(1 + x).

    Args:
        graphs: The task graphs.

    Returns:
        (tasks, features), in the order of ``FEATURES``.

    Example:
        >>> from walras.predict import FEATURES, TaskGraph, closed_form
        >>> graph = TaskGraph(("input", "output"), [0, 0], [0, 0], [12, 12], [(0, 1)])
        >>> closed_form([graph]).shape == (1, len(FEATURES))
        True
    """
    return np.array([_row(graph) for graph in graphs])


def _row(graph: TaskGraph) -> list[float]:
    kind = np.array([KINDS.index(name) for name in graph.kinds])
    counts = np.bincount(kind, minlength=len(KINDS)).astype(np.float64)
    macs = np.bincount(kind, graph.macs, len(KINDS))
    totals = [float(getattr(graph, name).sum()) for name in _NUMBERS]
    numbers = np.log1p([*totals, graph.batch, len(graph)]).tolist()
    depth = float(graph.depth.max())
    return [*numbers, depth, *np.column_stack([counts, np.log1p(macs)]).ravel().tolist()]


@dataclass(frozen=True, eq=False)
class GraphBatch:
    """Many graphs as one, the numbers as a network sees them.

    Attributes:
        kind: (nodes,) index into ``KINDS``.
        numbers: (nodes, 6) log(1 + x) of macs, params, elements and batch, over 10; depth and
            height, over 10.
        edges: (edges, 2) pairs of nodes.
        graph: (nodes,) the graph of each node.
        count: Number of graphs.
    """

    kind: Longs
    numbers: Floats
    edges: Longs
    graph: Longs
    count: int


def batch_graphs(graphs: Sequence[TaskGraph]) -> GraphBatch:
    """Put graphs beside each other."""
    sizes = np.array([len(graph) for graph in graphs])
    first = np.concatenate([[0], np.cumsum(sizes)])
    kind = np.array([KINDS.index(name) for graph in graphs for name in graph.kinds])
    rows = [
        np.column_stack(
            [
                *(np.log1p(getattr(g, name)) for name in _NUMBERS),
                np.full(len(g), np.log1p(g.batch)),
                g.depth,
                g.height,
            ]
        )
        for g in graphs
    ]
    edges = [graph.edges + offset for graph, offset in zip(graphs, first, strict=False)]
    return GraphBatch(
        kind,
        np.concatenate(rows) / 10.0,
        np.concatenate(edges),
        np.repeat(np.arange(len(graphs)), sizes),
        len(graphs),
    )
