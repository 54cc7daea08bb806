"""A wide-area network as checked arrays: nodes, directed links, capacities."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from walras import checks
from walras.errors import InputError
from walras.short_repr import short_repr
from walras.types import Bools, Floats, Ints, Longs

_Kind = TypeVar("_Kind")

_MERGE = "load_topology(..., parallel='merge'), on the command line --parallel merge"


@short_repr
@dataclass(frozen=True, eq=False)
class Network:
    """Directed links between nodes; validated when made, immutable afterwards.

    Attributes:
        node_names: (nodes,) distinct labels.
        source: (links,) node each link leaves.
        target: (links,) node each link enters.
        capacity: (links,) traffic each link carries, > 0.
        name: Name of the network.
        origin: Origin of its numbers, in words.
        position: (nodes, 2) longitude and latitude, NaN where unknown, or None.

    Raises:
        InputError: A link is a loop, doubled, without capacity, or leads to an unknown node.

    Example:
        >>> from walras.domains import traffic_engineering as te
        >>> net = te.Network(("a", "b", "c"), [0, 1, 0], [1, 2, 2], [10.0, 10.0, 5.0])
        >>> net.links, net.link_names
        (3, ('a->b', 'b->c', 'a->c'))
    """

    node_names: tuple[str, ...]
    source: Ints
    target: Ints
    capacity: Floats
    name: str = "network"
    origin: str = "arrays"
    position: Floats | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "source", _positions(self.source, "source"))
        object.__setattr__(self, "target", _positions(self.target, "target"))
        capacity = checks.numeric(self.capacity, "capacity", copy=True)
        object.__setattr__(self, "capacity", capacity)
        names = checks.distinct(self.node_names, "node_names", remedy="rename one of the nodes")
        object.__setattr__(self, "node_names", names)
        _check_counts(self)
        _check_links(self)
        for array in (self.source, self.target, self.capacity):
            array.setflags(write=False)

    @property
    def nodes(self) -> int:
        """Number of nodes."""
        return len(self.node_names)

    @property
    def links(self) -> int:
        """Number of directed links."""
        return len(self.source)

    def link_name(self, link: int) -> str:
        """The label of a link, such as ``a->b``.

        Args:
            link: The link's number.

        Returns:
            The label.
        """
        return f"{self.node_names[self.source[link]]}->{self.node_names[self.target[link]]}"

    @cached_property
    def link_names(self) -> tuple[str, ...]:
        """(links,) labels."""
        return tuple(self.link_name(e) for e in range(self.links))

    @cached_property
    def shape_hash(self) -> str:
        """SHA-256 of the nodes' number and the links' ends; capacities do not matter."""
        digest = hashlib.sha256(str(self.nodes).encode())
        digest.update(self.source.tobytes())
        digest.update(self.target.tobytes())
        return digest.hexdigest()

    def without(self, links: Iterable[int]) -> Network:
        """The network after some links failed; nodes keep their index and name.

        Args:
            links: Numbers of the failed links.

        Returns:
            The smaller network.

        Raises:
            InputError: A number is not a link, or no link is left.
        """
        failed = np.unique(_positions(list(links), "links"))
        checks.refuse_first(
            (failed < 0) | (failed >= self.links),
            failed,
            lambda at: "links",
            what=lambda at: f"there is no link {failed[at]}",
            allowed=f"0 to {self.links - 1}",
            remedy="give the numbers of links of this network",
        )
        kept = np.ones(self.links, dtype=np.bool_)
        kept[failed] = False
        return Network(
            node_names=self.node_names,
            source=self.source[kept],
            target=self.target[kept],
            capacity=self.capacity[kept],
            name=self.name,
            origin=f"{self.origin}; {len(failed)} links failed" if len(failed) else self.origin,
            position=self.position,
        )


def random_failures(network: Network, count: int, seed: int) -> Longs:
    """Draw links that fail together, without replacement.

    Source: Xu et al., OSDI 2025, section 7.2 (50, 100 and 200 simultaneous failures).

    Args:
        network: The network.
        count: Number of failures, 0 to one less than the links.
        seed: Seed of the draw.

    Returns:
        (count,) numbers of the links.

    Raises:
        InputError: ``count`` is out of range.

    Example:
        >>> from walras.domains import traffic_engineering as te
        >>> net = te.Network(("a", "b", "c"), [0, 1, 0], [1, 2, 2], [10.0, 10.0, 5.0])
        >>> len(te.random_failures(net, count=2, seed=0))
        2
    """
    of_kind(network, Network, "network")
    count = checks.whole(count, "count", 0, network.links - 1, words=", so that a link is left")
    return np.sort(generator(seed).choice(network.links, count, replace=False))


def of_kind(value: object, kind: type[_Kind], name: str) -> _Kind:
    """Check the kind of a value, and return it.

    Args:
        value: The value.
        kind: The required kind.
        name: Its name in errors.

    Raises:
        InputError: It is of another kind.
    """
    remedy = "make them with load_topology and candidate_paths"
    return checks.of_kind(value, kind, name, remedy=remedy)


def generator(seed: int) -> np.random.Generator:
    """The random generator of a seed.

    Raises:
        InputError: It is not an integer of 0 or more.
    """
    return np.random.default_rng(checks.whole(seed, "seed", 0, 2**63))


def _positions(values: npt.ArrayLike, name: str) -> Ints:
    """Copy positions as integers.

    Raises:
        InputError: Some are not integers.
    """
    remedy = "number nodes and links from 0, nodes in the order of their names"
    found = checks.numeric(values, name, remedy=remedy)
    odd = ~(np.abs(found) < 2**31) | (found != np.floor(found))
    checks.refuse_first(odd, found, name, allowed="whole numbers", remedy=remedy)
    return found.astype(np.int32)


def _check_counts(net: Network) -> None:
    lengths = {len(net.source), len(net.target), len(net.capacity)}
    if len(lengths) > 1 or any(a.ndim != 1 for a in (net.source, net.target, net.capacity)):
        raise InputError(
            f"have shapes {net.source.shape}, {net.target.shape} and {net.capacity.shape}",
            where="source, target, capacity",
            allowed="one number a link each",
            remedy="give every link both its ends and its capacity",
        )
    if net.nodes < 2 or len(net.source) == 0:
        raise InputError(
            f"has {net.nodes} nodes and {len(net.source)} links",
            where=f"network {net.name}",
            allowed="at least two nodes and one link",
            remedy="check the file or the arrays",
        )


def _check_links(net: Network) -> None:
    ends = np.stack([net.source, net.target])
    outside = np.any((ends < 0) | (ends >= net.nodes), axis=0)
    _refuse(
        net,
        outside,
        "leads to a node that does not exist",
        f"nodes 0 to {net.nodes - 1}",
        "add the node or remove the link",
    )
    _refuse(
        net,
        net.source == net.target,
        "is a loop",
        "links between two nodes",
        f"remove it, or {_MERGE}",
    )
    key = net.source.astype(np.int64) * net.nodes + net.target
    order = np.argsort(key, kind="stable")
    doubled = np.zeros(net.links, dtype=np.bool_)
    doubled[order[1:]] = key[order][1:] == key[order][:-1]
    _refuse(
        net,
        doubled,
        "appears twice",
        "one link from a node to another",
        f"add up their capacities, or {_MERGE}",
    )
    checks.within(
        net.capacity,
        lambda at: f"capacity of {_named(net, at)}",
        above=0.0,
        remedy="remove links that carry nothing",
    )


def _named(net: Network, at: tuple[int, ...]) -> str:
    """The name of a link in errors; its ends may be unknown nodes."""
    both = (net.source[at[0]], net.target[at[0]])
    ends = [net.node_names[v] if 0 <= v < net.nodes else str(v) for v in both]
    return f"link {at[0]} ({ends[0]}->{ends[1]})"


def _refuse(net: Network, bad: Bools, what: str, allowed: str, remedy: str) -> None:
    checks.refuse_first(
        bad, bad, lambda at: _named(net, at), what=what, allowed=allowed, remedy=remedy
    )
