"""Traffic matrices as checked arrays."""

from __future__ import annotations

from numbers import Real
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd

from walras.data.formats.graphs import read_demands
from walras.domains.traffic_engineering.network import Network, of_kind
from walras.domains.traffic_engineering.paths import Paths
from walras.errors import DataError, InputError
from walras.reals import reals
from walras.types import Bools, Floats

Demand = npt.ArrayLike | pd.DataFrame


def traffic(demand: Demand, network: Network, name: str = "demand") -> Floats:
    """(nodes, nodes) a matrix of traffic from row to column, checked.

    A labelled frame is matched by the nodes' names.

    Args:
        demand: The matrix.
        network: The network it must fit.
        name: What errors call it.

    Raises:
        InputError: Another shape or other labels, a negative or infinite entry, traffic from a
            node to itself.
    """
    of_kind(network, Network, "network")
    if isinstance(demand, pd.DataFrame):
        demand = _by_label(demand, network, name)
    array = numbers(demand, name)
    n = network.nodes
    if array.shape != (n, n):
        raise InputError(
            f"has shape {array.shape}",
            where=name,
            allowed=f"({n}, {n}): a row and a column a node of {network.name}",
            remedy="give the matrix of this network",
        )
    bad = ~(np.isfinite(array) & (array >= 0))
    if np.any(bad):
        _refuse(array, bad, network, name, "finite and >= 0", "replace it by 0 or by what was sent")
    own = np.eye(n, dtype=np.bool_) & (array != 0)
    if np.any(own) and name != "weight":
        _refuse(
            array, own, network, name, "0 on the diagonal", "leave out what a node sends to itself"
        )
    return array


def check_joined(demand: Floats, paths: Paths) -> None:
    """Refuse demand between nodes that no path joins.

    Args:
        demand: (nodes, nodes) checked traffic.
        paths: Candidate paths.

    Raises:
        InputError: There is such a demand; names the first and counts them.
    """
    lost = (demand > 0) & ~paths.joined()
    if not np.any(lost):
        return
    at = np.unravel_index(int(np.argmax(lost)), lost.shape)
    names = paths.network.node_names
    raise InputError(
        f"no path joins these nodes (nor {int(lost.sum()) - 1} other pairs with demand)",
        where=f"demand[{names[at[0]]}, {names[at[1]]}]",
        allowed="demand between nodes that candidate paths join",
        remedy="te.joined_traffic(demand, paths), on the command line --joined, leaves such"
        " demands out",
    )


def joined_traffic(demand: Demand, paths: Paths) -> Floats:
    """Remove the demands that no path joins, such as after link failures.

    Args:
        demand: (nodes, nodes) traffic.
        paths: Candidate paths.

    Returns:
        (nodes, nodes) traffic.

    Raises:
        InputError: The matrix cannot be used.

    Example:
        >>> from walras.domains import traffic_engineering as te
        >>> net = te.Network(("a", "b", "c"), [0, 1, 0], [1, 2, 2], [10.0, 10.0, 5.0])
        >>> demand = [[0, 4, 8], [0, 0, 3], [0, 0, 0]]
        >>> paths = te.candidate_paths(net, k=2, cache=False)
        >>> te.joined_traffic([[0, 4, 8], [7, 0, 3], [0, 0, 0]], paths)
        array([[0., 4., 8.],
               [0., 0., 3.],
               [0., 0., 0.]])
    """
    of_kind(paths, Paths, "paths")
    return np.where(paths.joined(), traffic(demand, paths.network), 0.0)


def load_traffic(path: str | Path, network: Network) -> Floats:
    """A traffic matrix from a ``.npy`` or ``.csv`` file, or the demands of an SNDlib file.

    A CSV file has a header line and a first column with the nodes' names; SNDlib's forms are
    ``.xml`` and ``.txt``, with the network or without, and demands of a pair add up.

    Args:
        path: The file.
        network: The network it must fit.

    Returns:
        (nodes, nodes) traffic.

    Raises:
        DataError: The file cannot be read.
        InputError: The matrix does not fit the network.

    Example:
        >>> import numpy as np
        >>> from walras.domains import traffic_engineering as te
        >>> net = te.Network(("a", "b", "c"), [0, 1, 0], [1, 2, 2], [10.0, 10.0, 5.0])
        >>> np.save("traffic.npy", np.array([[0, 4, 8], [0, 0, 3], [0, 0, 0]]))
        >>> te.load_traffic("traffic.npy", net)
        array([[0., 4., 8.],
               [0., 0., 3.],
               [0., 0., 0.]])
    """
    if not isinstance(path, str | Path):
        raise InputError(
            f"is a {type(path).__name__}",
            where="path",
            allowed="a path",
            remedy="give a .npy, .csv, .xml or .txt file",
        )
    of_kind(network, Network, "network")
    file = Path(path)
    if file.suffix in (".xml", ".txt"):
        return _from_sndlib(file, network)
    try:
        if file.suffix == ".npy":
            return traffic(np.load(file, allow_pickle=False), network, str(file))
        if file.suffix == ".csv":
            frame = pd.read_csv(file, index_col=0, dtype={0: str})
            frame.index = frame.index.map(str)
            return traffic(frame, network, str(file))
    except (
        OSError,
        EOFError,
        UnicodeDecodeError,
        pd.errors.ParserError,
        pd.errors.EmptyDataError,
        ValueError,
    ) as error:
        raise DataError(
            f"cannot be read as a traffic matrix: {error}",
            where=str(file),
            allowed="a .npy array, or a CSV table with the nodes' names",
            remedy="check the file",
        ) from error
    raise DataError(
        f"has the ending '{file.suffix}'",
        where=str(file),
        allowed=".npy, .csv, .xml or .txt",
        remedy="save the matrix in one of these forms",
    )


def _from_sndlib(file: Path, network: Network) -> Floats:
    place = {name: v for v, name in enumerate(network.node_names)}
    out = np.zeros((network.nodes, network.nodes))
    for a, b, value in read_demands(file):
        for end in (a, b):
            if end not in place:
                raise InputError(
                    f"there is no node '{end}'",
                    where=str(file),
                    allowed="demands between nodes of the network",
                    remedy="load the network that these demands are of",
                )
        out[place[a], place[b]] += value
    return traffic(out, network, str(file))


def _by_label(frame: pd.DataFrame, network: Network, name: str) -> npt.NDArray[np.object_]:
    names = list(network.node_names)
    for side, labels in (("row", frame.index), ("column", frame.columns)):
        own = [str(label) for label in labels]
        if sorted(own) != sorted(names):
            odd = next((x for x in own if x not in set(names)), None)
            what = f"there is no node '{odd}'" if odd is not None else f"has {len(own)} labels"
            raise InputError(
                what,
                where=f"{side}s of {name}",
                allowed=f"the {len(names)} nodes' names",
                remedy="label every row and column with a node's name, each once",
            )
    plain = frame.set_axis([str(x) for x in frame.index], axis=0)
    plain = plain.set_axis([str(x) for x in frame.columns], axis=1)
    return np.asarray(plain.loc[names, names].to_numpy())


def _refuse(
    array: Floats, bad: Bools, network: Network, name: str, allowed: str, remedy: str
) -> None:
    i, j = np.unravel_index(int(np.argmax(bad)), bad.shape)
    names = network.node_names
    raise InputError(
        f"is {array[i, j]:g}",
        where=f"{name}[{names[i]}, {names[j]}]",
        allowed=allowed,
        remedy=remedy,
    )


def numbers(values: npt.ArrayLike, name: str) -> Floats:
    """An array of numbers.

    Args:
        values: What was given.
        name: What errors call it.

    Raises:
        InputError: There is something else in it.
    """
    try:
        return reals(values)
    except (TypeError, ValueError) as error:
        raise InputError(
            f"is not numeric: {error}",
            where=name,
            allowed="numbers",
            remedy="remove text and empty cells",
        ) from error


def is_number(value: object) -> bool:
    """Whether it is one real number."""
    return isinstance(value, Real) and not isinstance(value, bool)
