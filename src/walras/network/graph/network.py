"""The network: links between centres, their weights, and their changes in time."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.sparse import csgraph

from walras import checks
from walras.data.formats.graphs import read_graph
from walras.errors import InputError
from walras.network.graph.random_graphs import draw
from walras.network.graph.reading import link_pairs, link_weights, metropolis, read_links
from walras.short_repr import short_repr
from walras.types import Bools, Floats, Longs

_DENSE = 600  # number of nodes up to which spectra are computed in full


@dataclass(frozen=True)
class Law:
    """How a network changes in time.

    Attributes:
        every: Steps between two changes.
        kind: ``redraw`` draws a new graph; ``union`` shows one part of its links at a time.
        parts: For ``union``: number of parts; over that many changes their union is the whole
            graph.
        failing: Probability that a link is down for the length of a change.
        seed: Seed of the draws.
    """

    every: int
    kind: Literal["redraw", "union"] = "redraw"
    parts: int = 1
    failing: float = 0.0
    seed: int = 0


@short_repr
@dataclass(frozen=True, eq=False)
class Network:
    """A weighted graph of centres that talk to their neighbours.

    Make one with :meth:`of`, :meth:`ring`, :meth:`grid`, :meth:`erdos_renyi`,
    :meth:`small_world` or :meth:`from_file`.

    Source: arXiv 2510.25176, assumption 2 (undirected graphs with symmetric weights).

    Attributes:
        centres: Number of centres.
        tail: (arcs,) sender of each arc. An undirected link is two
        arcs: all links in one direction come first, then all in the other.
        head: (arcs,) receiver of each arc.
        weight: (arcs,) > 0.
        directed: Whether any link is one-way, or has two weights.
        family: The name and the numbers of its random family; empty for given links.
        law: How it changes in time; None if it does not.

    Example:
        >>> from walras.network import Network
        >>> ring = Network.ring(4)
        >>> ring.links, ring.diameter, ring.balanced
        (4, 2, True)
        >>> Network.of(3, [(0, 1), (1, 2)]).weight.round(2)
        array([0.33, 0.33, 0.33, 0.33])
    """

    centres: int
    tail: Longs
    head: Longs
    weight: Floats
    directed: bool = False
    family: tuple[Any, ...] = ()
    law: Law | None = None

    @classmethod
    def of(
        cls,
        centres: int,
        links: npt.ArrayLike,
        weights: npt.ArrayLike | None = None,
        *,
        directed: bool = False,
        family: tuple[Any, ...] = (),
    ) -> Network:
        """A graph from a list of links.

        Args:
            centres: Number of nodes.
            links: (links, 2) node numbers, from sender to receiver when directed.
            weights: (links,); Metropolis weights 1 / (1 + the larger degree) when left out, or 1 /
                (1 + out-degree of the sender) when directed.
            directed: Whether links are one-way.
            family: The name and the numbers of its random family, to draw it again.

        Returns:
            The network.

        Raises:
            InputError: A link or weight cannot be used, or the graph is not connected.
        """
        _check_several(centres)
        pairs = link_pairs(centres, links, directed=directed)
        tail, head = pairs[:, 0], pairs[:, 1]
        if not directed:
            tail, head = np.concatenate([tail, head]), np.concatenate([head, tail])
        if weights is None:
            w = metropolis(centres, tail, head, directed=directed)
        else:
            w = link_weights(weights, len(pairs))
            w = w if directed else np.concatenate([w, w])
        network = cls(centres, tail, head, w, directed, family)
        network.check_connected()
        return network

    @classmethod
    def erdos_renyi(
        cls, centres: int, p: float, *, seed: int = 0, directed: bool = False
    ) -> Network:
        """Draw each pair (each arc, when directed) as a link with probability ``p``.

        The draw is repeated up to 100 times until the graph is connected.

        Args:
            centres: How many nodes, 2 or more.
            p: Probability of a link, 0 < p <= 1.
            seed: Seed of the draw.
            directed: Whether a link leads one way only.

        Returns:
            The network, with Metropolis weights.

        Raises:
            InputError: p is not in (0, 1], or too small for a connected graph to turn up.
        """
        p = checks.number(p, "p", high=1.0, above=0.0, remedy="it is a probability")
        return cls._drawn(("erdos_renyi", centres, p), seed, directed=directed)

    @classmethod
    def ring(cls, centres: int, *, directed: bool = False) -> Network:
        """A ring: each centre talks to both neighbours (only to the next one, when directed).

        Args:
            centres: How many nodes, 2 or more.
            directed: Whether a link leads one way only.

        Returns:
            The network.
        """
        return cls._drawn(("ring", centres), 0, directed=directed)

    @classmethod
    def grid(cls, rows: int, columns: int) -> Network:
        """A rectangular grid: each centre talks to those beside, above and below it.

        Args:
            rows: Rows of the rectangle, 1 or more.
            columns: Its columns, 1 or more.

        Returns:
            The network of rows x columns centres, numbered row by row.
        """
        return cls._drawn(("grid", rows * columns, rows, columns), 0)

    @classmethod
    def small_world(cls, centres: int, k: int, p: float, *, seed: int = 0) -> Network:
        """A ring of links to the ``k`` nearest, each rewired with probability ``p``.

        Source: Watts and Strogatz, Nature 1998.

        Args:
            centres: How many nodes, 3 or more.
            k: Number of neighbours before rewiring; even, 2 <= k < centres.
            p: Probability that a link is rewired, 0 <= p <= 1.
            seed: Seed of the draw.

        Returns:
            The network.

        Raises:
            InputError: k or p is out of its range, or no draw is connected.
        """
        p = checks.number(p, "p", 0.0, 1.0, remedy="it is a probability")
        return cls._drawn(("small_world", centres, k, p), seed)

    @classmethod
    def _drawn(cls, family: tuple[Any, ...], seed: int, *, directed: bool = False) -> Network:
        centres, seed = checks.whole(family[1], "centres"), checks.whole(seed, "seed")
        _check_several(centres)
        for attempt in range(100):
            links = draw(family, np.random.default_rng((seed, attempt)), directed=directed)
            try:
                return cls.of(centres, links, directed=directed, family=family)
            except InputError as error:
                if "connected" not in error.what:
                    raise
        raise InputError(
            "was not connected in 100 draws",
            where=str(family[0]),
            allowed=f"p well above ln(n) / n = {math.log(centres) / centres:.3g}",
            remedy="raise p, or give links yourself",
        )

    @classmethod
    def from_file(cls, path: str | Path, *, directed: bool = False) -> Network:
        """A graph from node-link JSON, GraphML, SNDlib, or CSV lines ``from,to[,weight]``.

        Args:
            path: The file, ending in ``.json``, ``.graphml``, ``.csv`` or SNDlib's ``.txt`` or
                ``.xml``.
            directed: Whether the links of a file are one-way.

        Returns:
            The network; parallel links count once.

        Raises:
            DataError: The file does not exist, or has another form.
            InputError: The graph in it cannot be used.
        """
        path = Path(path)
        if path.suffix == ".csv":
            links, weights = read_links(path)
            return cls.of(int(links.max()) + 1, links, weights, directed=directed)
        graph = read_graph(path)
        one_way = directed or bool(np.any(graph.one_way))
        if not directed and one_way:
            graph = graph.both_ways()
        links = np.stack([graph.source, graph.target], axis=1)
        # Parallel cables are one link here.
        links = np.unique(links if one_way else np.sort(links, axis=1), axis=0)
        return cls.of(len(graph.names), links, directed=one_way)

    def switching(
        self,
        every: int,
        *,
        kind: Literal["redraw", "union"] = "redraw",
        parts: int = 2,
        seed: int = 0,
    ) -> Network:
        """The same network with a change after every ``every`` steps.

        Args:
            every: Steps between changes, at least 1.
            kind: ``redraw`` draws a new graph of the family (or relabels the centres if the family
                is not random). ``union`` shows one of ``parts`` parts of the links at a time; a
                part need not be connected.
            parts: Number of parts for ``union``.
            seed: Seed of the draws.

        Returns:
            The changing network.

        Raises:
            InputError: A number is out of range, or there is no such kind.
        """
        every = checks.whole(every, "switching, every", 1)
        parts = checks.whole(parts, "switching, parts", 1)
        checks.one_of(kind, "switching, kind", ("redraw", "union"))
        failing = self.law.failing if self.law else 0.0
        return replace(self, law=Law(every, kind, parts, failing, checks.whole(seed, "seed")))

    def failing(self, probability: float, *, every: int = 1, seed: int = 0) -> Network:
        """The same network with failing links: each is down with a probability, drawn repeatedly.

        Args:
            probability: Probability that a link is down, 0 <= probability < 1.
            every: Steps between draws, at least 1.
            seed: Seed of the draws.

        Returns:
            The changing network.

        Raises:
            InputError: The probability is not in [0, 1).
        """
        every = checks.whole(every, "failing, every", 1)
        remedy = "let links come back now and then"
        probability = checks.number(probability, "failing", 0.0, below=1.0, remedy=remedy)
        law = self.law or Law(every, "union", 1, 0.0, checks.whole(seed, "seed"))
        return replace(self, law=replace(law, failing=probability))

    def period(self, step: int) -> int:
        """Number of changes up to a step; the graph is constant between changes.

        Args:
            step: Number of the step, from 0.

        Returns:
            The number of changes so far; 0 for a constant network.
        """
        return step // self.law.every if self.law else 0

    def at(self, step: int) -> Network:
        """The constant graph at a step.

        Args:
            step: Number of the step, from 0.

        Returns:
            The links of that step.
        """
        if self.law is None:
            return self
        still, law, period = replace(self, law=None), self.law, self.period(step)
        rng = np.random.default_rng((law.seed, period, 1))
        if law.kind == "redraw" and period:
            still = self._redrawn(int(rng.integers(2**31)))
        if law.kind == "union" and law.parts > 1:
            still = still._keep(_link_number(still) % law.parts == period % law.parts)
        if law.failing:
            up = np.random.default_rng((law.seed, period, 2)).random(still.links) >= law.failing
            still = still._keep(up[_link_number(still)])
        return still

    def _redrawn(self, seed: int) -> Network:
        if self.family and self.family[0] in ("erdos_renyi", "small_world"):
            return Network._drawn(self.family, seed, directed=self.directed)
        label = np.random.default_rng(seed).permutation(self.centres)
        return replace(self, tail=label[self.tail], head=label[self.head], law=None)

    def _keep(self, kept: Bools) -> Network:
        return replace(
            self, tail=self.tail[kept], head=self.head[kept], weight=self.weight[kept], law=None
        )

    def without(self, gone: Bools) -> Network:
        """The graph without some centres; the others keep their numbers.

        Args:
            gone: (centres,) True on centres that are left out.

        Returns:
            The network of the links between the others.
        """
        return self._keep(~(gone[self.tail] | gone[self.head]))

    @property
    def links(self) -> int:
        """Number of links: pairs when undirected, arcs when directed."""
        return len(self.tail) if self.directed else len(self.tail) // 2

    @cached_property
    def out_weight(self) -> Floats:
        """(centres,) total weight with which each centre sends."""
        return np.asarray(np.bincount(self.tail, self.weight, self.centres), np.float64)

    @cached_property
    def in_weight(self) -> Floats:
        """(centres,) total weight with which each centre receives."""
        return np.asarray(np.bincount(self.head, self.weight, self.centres), np.float64)

    @property
    def balanced(self) -> bool:
        """Whether every centre receives with the same total weight as it sends."""
        return bool(np.allclose(self.out_weight, self.in_weight, rtol=1e-12, atol=0.0))

    @cached_property
    def receive(self) -> sparse.csr_array:
        """(centres, centres) row Laplacian D_in - A; y - receive @ y averages received values."""
        return self._laplacian(self.in_weight)

    @cached_property
    def send(self) -> sparse.csr_array:
        """(centres, centres) column Laplacian D_out - A: its columns sum to zero."""
        return self._laplacian(self.out_weight)

    @cached_property
    def incidence(self) -> sparse.csr_array:
        """(centres, links) integers: a link takes from its tail and gives to its head."""
        tail, head = self.tail[: self.links], self.head[: self.links]
        link, ones = np.arange(self.links), np.ones(self.links, np.int64)
        ends = (np.concatenate([head, tail]), np.concatenate([link, link]))
        return sparse.csr_array(
            (np.concatenate([ones, -ones]), ends), shape=(self.centres, self.links)
        )

    def _laplacian(self, degree: Floats) -> sparse.csr_array:
        shape = (self.centres, self.centres)
        flow = sparse.csr_array((self.weight, (self.head, self.tail)), shape=shape)
        return sparse.csr_array(sparse.diags_array(degree) - flow)

    @property
    def spectral_bound(self) -> float:
        """A bound on the Laplacian's largest eigenvalue: max over links of both degrees' sum.

        Each centre knows its own part. The maximum takes as many rounds as the diameter.
        """
        if not len(self.tail):
            return 0.0
        both = self.out_weight if not self.directed else self.out_weight + self.in_weight
        return float((both[self.tail] + both[self.head]).max())

    @cached_property
    def eigenvalues(self) -> tuple[float, float]:
        """Second smallest and largest eigenvalue of the Laplacian's symmetric part."""
        laplacian = (self.send + self.receive) * 0.25
        laplacian = sparse.csr_array(laplacian + laplacian.T)
        if self.centres <= _DENSE:
            spectrum = np.linalg.eigvalsh(laplacian.toarray())
            return float(spectrum[1]), float(spectrum[-1])
        start = np.random.default_rng(0).standard_normal(self.centres)
        top = sparse.linalg.eigsh(laplacian, 1, return_eigenvectors=False, v0=start)[0]
        # The smallest eigenvalues of L are the largest of top - L, so no factorisation is needed.
        flipped = sparse.csr_array(sparse.eye_array(self.centres) * top - laplacian)
        ends = sparse.linalg.eigsh(
            flipped, 2, return_eigenvectors=False, v0=start, tol=1e-4, maxiter=20000
        )
        return float(top - ends.min()), float(top)

    @cached_property
    def diameter(self) -> int:
        """Length of the longest shortest path in links (from a sample of ends when large)."""
        graph = sparse.csr_array(
            (np.ones(len(self.tail)), (self.tail, self.head)), shape=(self.centres,) * 2
        )
        ends = np.linspace(0, self.centres - 1, min(self.centres, 64)).astype(int)
        hops = csgraph.dijkstra(graph, unweighted=True, indices=ends)
        return int(hops[np.isfinite(hops)].max())

    def check_connected(self) -> None:
        """Refuse a graph in which some centre cannot receive from another.

        Raises:
            InputError: It is not (strongly) connected; the message names a centre that is cut off.
        """
        ones = np.ones(len(self.tail))
        graph = sparse.csr_array((ones, (self.tail, self.head)), shape=(self.centres,) * 2)
        parts, label = csgraph.connected_components(graph, connection="strong")
        if parts > 1:
            apart = int(np.argmax(label != label[0]))
            raise InputError(
                f"is not {'strongly ' * self.directed}connected: {parts} parts",
                where=f"network, centres 0 and {apart}",
                allowed="a path both ways between any two",
                remedy="add links" + ", or make them two-way" * self.directed,
            )


def _check_several(centres: int) -> None:
    if centres < 2:
        raise InputError(
            f"are {centres}",
            where="centres",
            allowed="2 or more",
            remedy="add a centre; one alone needs no network: its share is the whole budget",
        )


def _link_number(network: Network) -> Longs:
    """(arcs,) number of each arc's link."""
    if network.directed:
        return np.arange(len(network.tail))
    return np.tile(np.arange(network.links), 2)
