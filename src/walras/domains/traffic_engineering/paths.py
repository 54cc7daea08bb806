"""A set of paths: the pair of nodes that each path serves, and its links."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import overload

import numpy as np
import numpy.typing as npt

from walras.domains.traffic_engineering.network import Network, of_kind
from walras.errors import InputError
from walras.kernels.paths.arrays import path_keys
from walras.short_repr import short_repr
from walras.types import Bools, Floats, Ints, Longs


class PairNames(Sequence[str]):
    """Labels of pairs of nodes, such as ``a->b``, made on request."""

    def __init__(self, node_names: Sequence[str], source: Ints, target: Ints) -> None:
        self._names, self._source, self._target = node_names, source, target

    def __len__(self) -> int:
        return len(self._source)

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> PairNames: ...
    def __getitem__(self, index: int | slice) -> str | PairNames:
        if isinstance(index, slice):
            return PairNames(self._names, self._source[index], self._target[index])
        return f"{self._names[self._source[index]]}->{self._names[self._target[index]]}"

    def some(self, pairs: Ints) -> PairNames:
        """The labels of some of the pairs."""
        return PairNames(self._names, self._source[pairs], self._target[pairs])

    def __iter__(self) -> Iterator[str]:
        for s, t in zip(self._source.tolist(), self._target.tolist(), strict=True):
            yield f"{self._names[s]}->{self._names[t]}"


@short_repr
@dataclass(frozen=True, eq=False)
class Paths:
    """Candidate paths between pairs of nodes, pair by pair.

    Attributes:
        network: The network whose links the paths take.
        source: (pairs,) node where the traffic of a pair begins.
        target: (pairs,) node where it ends.
        first: (pairs + 1,) paths of pair k are ``first[k]:first[k + 1]``; each pair has one.
        pointer: (paths + 1,) path p takes ``links[pointer[p]:pointer[p + 1]]``, in this order.
        links: (sum of hops,) links of all paths, one path after the other.
        kind: Kind of the paths.
        disconnected: Number of ordered pairs of nodes without a path, which are left out.

    Example:
        >>> from walras.domains import traffic_engineering as te
        >>> net = te.Network(("a", "b", "c"), [0, 1, 0], [1, 2, 2], [10.0, 10.0, 5.0])
        >>> paths = te.candidate_paths(net, k=2, cache=False)
        >>> paths.count, list(paths.pair_names)
        (4, ['a->b', 'a->c', 'b->c'])
        >>> paths.nodes_of(2), paths.bottleneck()
        (array([0, 1, 2], dtype=int32), array([10.,  5., 10., 10.]))
    """

    network: Network
    source: Ints
    target: Ints
    first: Longs
    pointer: Longs
    links: Ints
    kind: str = "given"
    disconnected: int = 0

    def __post_init__(self) -> None:
        for array in (self.source, self.target, self.first, self.pointer, self.links):
            array.setflags(write=False)
        if not self.count:
            raise InputError(
                "holds no path",
                where="paths",
                allowed="at least one path",
                remedy="check that the network joins some pair of nodes",
            )

    @property
    def count(self) -> int:
        """Number of paths."""
        return len(self.pointer) - 1

    @property
    def pairs(self) -> int:
        """Number of pairs with a path."""
        return len(self.source)

    @property
    def hops(self) -> Longs:
        """(paths,) links of each path."""
        return np.diff(self.pointer)

    @cached_property
    def pair(self) -> Ints:
        """(paths,) pair that each path serves."""
        return np.repeat(np.arange(self.pairs, dtype=np.int32), np.diff(self.first))

    @cached_property
    def nodes(self) -> Ints:
        """Nodes of all paths, one after the other; path p has one more node than links."""
        out = np.empty(len(self.links) + self.count, dtype=np.int32)
        ends = self.pointer[1:] + np.arange(self.count)
        inner = np.ones(len(out), dtype=np.bool_)
        inner[ends] = False
        out[inner] = self.network.source[self.links]
        out[ends] = self.target[self.pair]
        return out

    @property
    def pair_names(self) -> PairNames:
        """(pairs,) labels."""
        return PairNames(self.network.node_names, self.source, self.target)

    def nodes_of(self, path: int) -> Ints:
        """List the nodes of one path, from its source to its target.

        Args:
            path: The path's number.

        Returns:
            (hops + 1,) nodes.
        """
        links = self.links[self.pointer[path] : self.pointer[path + 1]]
        return np.append(self.network.source[links], self.network.target[links[-1]])

    def loads(self, flow: Floats) -> Floats:
        """Sum the traffic on each link.

        Args:
            flow: (paths,) traffic on each path.

        Returns:
            (links,) traffic on each link.
        """
        weight = np.repeat(flow, self.hops)
        loads = np.bincount(self.links, weights=weight, minlength=self.network.links)
        return loads.astype(np.float64, copy=False)

    def served(self, flow: Floats) -> Floats:
        """Sum the traffic of each pair.

        Args:
            flow: (paths,) traffic on each path.

        Returns:
            (pairs,) traffic of each pair.
        """
        return np.add.reduceat(flow, self.first[:-1])

    def demands(self, demand: Floats) -> Floats:
        """Take the demands of the pairs from a matrix, or from each of several.

        Args:
            demand: (nodes, nodes) or (matrices, nodes, nodes) traffic, checked.

        Returns:
            (pairs,) or (matrices, pairs) demands.
        """
        flat = demand.reshape(*demand.shape[:-2], self.network.nodes**2)
        return np.take(flat, self.source.astype(np.int64) * self.network.nodes + self.target, -1)

    def joined(self) -> Bools:
        """(nodes, nodes) True where some path joins source and target."""
        out = np.zeros((self.network.nodes,) * 2, dtype=np.bool_)
        out[self.source, self.target] = True
        return out

    def mean_betweenness(self) -> float:
        """Mean over the links of the share of pairs whose first path uses the link.

        It is the measure of granularity of Xu et al., OSDI 2025, section 7.2. If it is low, few
        demands can replace one another on a link.
        """
        return float(self.hops[self.first[:-1]].sum() / (self.pairs * self.network.links))

    def bottleneck(self) -> Floats:
        """(paths,) smallest capacity on each path."""
        return np.minimum.reduceat(self.network.capacity[self.links], self.pointer[:-1])

    @cached_property
    def keys(self) -> Longs:
        """(paths,) hashes of the paths' nodes, equal in networks with the same nodes."""
        return np.asarray(
            path_keys(self.pointer, self.network.source[self.links], self.target[self.pair])
        )

    @classmethod
    def of_search(
        cls, network: Network, counts: Longs, hops: Ints, links: Ints, *, kind: str
    ) -> Paths:
        """Build paths from the counts of all (nodes * nodes) ordered pairs, source by source.

        Args:
            network: The network.
            counts: (nodes * nodes,) number of paths of each pair.
            hops: (paths,) number of links of each path.
            links: (sum of hops,) links of all paths, one path after the other.
            kind: How they were found.

        Returns:
            The paths.
        """
        joined = np.flatnonzero(counts)
        n = network.nodes
        return cls(
            network=network,
            source=(joined // n).astype(np.int32),
            target=(joined % n).astype(np.int32),
            first=np.concatenate(([0], np.cumsum(counts[joined], dtype=np.int64))),
            pointer=np.concatenate(([0], np.cumsum(hops, dtype=np.int64))),
            links=links,
            kind=kind,
            disconnected=n * (n - 1) - len(joined),
        )

    @classmethod
    def of_nodes(
        cls, network: Network, nodes: npt.ArrayLike, offset: npt.ArrayLike, kind: str = "given"
    ) -> Paths:
        """Make paths that are given as nodes; order them by pair, and keep their order within.

        Args:
            network: The network.
            nodes: (sum of lengths,) nodes of all paths, one path after the other.
            offset: (paths + 1,) path p visits ``nodes[offset[p]:offset[p + 1]]``.
            kind: How they were found.

        Returns:
            The paths.

        Raises:
            InputError: A step of a path is not a link of the network, or a path has no step.
        """
        of_kind(network, Network, "network")
        visited, begins = (np.asarray(given, dtype=np.int64) for given in (nodes, offset))
        size = np.diff(begins)
        _check_sizes(size)
        inner = np.ones(len(visited), dtype=np.bool_)
        inner[begins[1:] - 1] = False
        at = np.flatnonzero(inner)
        own = np.repeat(np.arange(len(size)), size)[at]
        links = _links_between(network, visited[at], visited[at + 1], own)
        ends = visited[begins[:-1]] * network.nodes + visited[begins[1:] - 1]
        order = np.argsort(ends, kind="stable")
        pairs, first = np.unique(ends[order], return_index=True)
        hops = size - 1
        begin = np.concatenate(([0], np.cumsum(hops)))[order]
        pointer = np.concatenate(([0], np.cumsum(hops[order])))
        take = np.repeat(begin - pointer[:-1], hops[order]) + np.arange(pointer[-1])
        n = network.nodes
        return cls(
            network=network,
            source=(pairs // n).astype(np.int32),
            target=(pairs % n).astype(np.int32),
            first=np.append(first, len(order)).astype(np.int64),
            pointer=pointer,
            links=links[take],
            kind=kind,
            disconnected=n * (n - 1) - len(pairs),
        )


def _check_sizes(size: Longs) -> None:
    if np.all(size >= 2):
        return
    p = int(np.argmax(size < 2))
    raise InputError(
        f"has {size[p]} nodes",
        where=f"path {p}",
        allowed="at least two nodes",
        remedy="leave paths from a node to itself out",
    )


def _links_between(network: Network, source: Longs, target: Longs, path: Longs) -> Ints:
    """The link of each step.

    Raises:
        InputError: A step is not a link.
    """
    n = network.nodes
    known = network.source.astype(np.int64) * n + network.target
    order = np.argsort(known)
    wanted = np.where(
        (source >= 0) & (source < n) & (target >= 0) & (target < n), source * n + target, -1
    )
    at = np.minimum(np.searchsorted(known[order], wanted), network.links - 1)
    found = order[at]
    missing = known[found] != wanted
    if np.any(missing):
        k = int(np.argmax(missing))
        raise InputError(
            f"takes a step from node {source[k]} to node {target[k]} that is no link",
            where=f"path {path[k]}",
            allowed=f"the {network.links} links of {network.name}",
            remedy="give paths of this network",
        )
    return found.astype(np.int32)
