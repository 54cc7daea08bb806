"""Places for the nodes of a graph, so that a picture shows who is near whom."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from scipy.linalg import cho_factor, cho_solve, eigh
from scipy.sparse import csgraph

from walras.types import Floats, Ints, Longs

_STEPS = 60  # of the majorisation
_SHAKE = 0.05  # hops


def by_hops(nodes: int, tail: Ints | Longs, head: Ints | Longs) -> Floats:
    """Places whose distances come near to hops, near ones above all: weighted stress majorisation.

    Each step solves ``L_w x' = L_(w d / |x_i - x_j|) x`` with weights w = 1 / d^2, from classical
    scaling's places, slightly shaken so that nodes in the same place come apart.

    Source: Gansner, Koren and North, Graph Drawing by Stress Majorization, 2004.

    Args:
        nodes: Number of nodes, 2 or more.
        tail: (links,) one end of each link; its direction does not count.
        head: (links,) the other end.

    Returns:
        (nodes, 2) places, in hops.

    Example:
        >>> import numpy as np
        >>> from walras.network.graph.layout import by_hops
        >>> at = by_hops(3, np.array([0, 1]), np.array([1, 2]))
        >>> bool(abs(np.linalg.norm(at[0] - at[2]) - 2.0) < 0.01)
        True
    """
    links = sp.csr_array((np.ones(len(tail)), (tail, head)), shape=(nodes, nodes))
    hops = csgraph.shortest_path(links, unweighted=True, directed=False)
    far = np.max(hops[np.isfinite(hops)], initial=1.0)
    hops = np.where(np.isfinite(hops), hops, far + 1.0)
    at = _classical(hops)
    at += _SHAKE * np.random.default_rng(0).standard_normal(at.shape)
    weight = np.where(hops > 0, 1.0 / np.maximum(hops, 1.0) ** 2, 0.0)
    # The Laplacian is singular along constants only, which a rank-one term makes good.
    factor = cho_factor(_laplacian(weight) + 1.0 / nodes)
    for _ in range(_STEPS):
        distance = np.linalg.norm(at[:, None] - at[None], axis=2)
        ratio = weight * hops / np.maximum(distance, 1e-12)
        at = cho_solve(factor, _laplacian(ratio) @ at)
    return np.asarray(at)


def _classical(hops: Floats) -> Floats:
    """The two leading eigenvectors of the doubly centred squared distances."""
    n = len(hops)
    square = hops**2
    square -= square.mean(axis=0)
    square -= square.mean(axis=1)[:, None]
    values, vectors = eigh(-0.5 * square, subset_by_index=[n - 2, n - 1])
    return np.asarray(vectors[:, ::-1] * np.sqrt(np.maximum(values[::-1], 0.0)))


def _laplacian(weight: Floats) -> Floats:
    out = -weight
    np.fill_diagonal(out, 0.0)
    np.fill_diagonal(out, -out.sum(axis=1))
    return np.asarray(out)
