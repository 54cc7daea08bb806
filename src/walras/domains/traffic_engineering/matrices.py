"""Traffic matrices as checked arrays."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd

from walras import checks
from walras.data.formats.csv_table import read_csv
from walras.data.formats.graphs import read_demands
from walras.domains.traffic_engineering.network import Network, of_kind
from walras.domains.traffic_engineering.paths import Paths
from walras.errors import DataError, InputError
from walras.files import reason_of
from walras.types import Floats

Demand = npt.ArrayLike | pd.DataFrame


def traffic(
    demand: Demand,
    network: Network,
    name: str = "demand",
    *,
    remedy: str = "give the matrix of this network",
) -> Floats:
    """Check a (nodes, nodes) matrix of traffic from row to column.

    A labelled frame is matched by the nodes' names.

    Args:
        demand: The matrix.
        network: The network that it must fit.
        name: Its name in errors.
        remedy: What to do about another shape.

    Raises:
        InputError: Another shape or other labels, a negative or infinite entry, traffic from a
            node to itself.
    """
    of_kind(network, Network, "network")
    if isinstance(demand, pd.DataFrame):
        demand = _by_label(demand, network, name)
    array = checks.numeric(demand, name)
    n = network.nodes
    words = f"a row and a column a node of {network.name}"
    checks.shaped(array, (n, n), name, words, remedy=remedy)
    return _checked(array, network, name)


def sequence(demands: Iterable[Demand] | npt.ArrayLike, network: Network) -> Floats:
    """Check a (matrices, nodes, nodes) array of traffic, or matrices one by one.

    Args:
        demands: The array, or any iterable of what :func:`traffic` reads.
        network: The network that they must fit.

    Raises:
        InputError: As :func:`traffic`.
    """
    of_kind(network, Network, "network")
    n, remedy = network.nodes, "give the matrices of this network; put a single one in a list"
    if isinstance(demands, Iterable) and not isinstance(demands, np.ndarray | pd.DataFrame | str):
        read = [
            traffic(each, network, f"demands[{k}]", remedy=remedy) for k, each in enumerate(demands)
        ]
        return np.array(read).reshape(-1, n, n)
    array = checks.numeric(demands, "demands")
    if array.ndim != 3 or array.shape[1:] != (n, n):
        raise InputError(
            f"has shape {array.shape}",
            where="demands",
            allowed=f"(k, {n}, {n}): k matrices, a row and a column a node of {network.name}",
            remedy=remedy,
        )
    return _checked(array, network, "demands")


def _checked(array: Floats, network: Network, name: str) -> Floats:
    """One matrix or several, without a negative or infinite entry or one on the diagonal."""

    def where(at: tuple[int, ...]) -> str:
        return _place(name, network, at)

    checks.within(array, where, 0.0, remedy="replace it by 0 or by what was sent")
    if name == "weight" or not np.einsum("...ii->...i", array).any():
        return array
    return checks.refuse_first(
        np.eye(network.nodes, dtype=np.bool_) & (array != 0),
        array,
        where,
        allowed="0 on the diagonal",
        remedy="leave out what a node sends to itself",
    )


def _place(name: str, network: Network, at: tuple[int, ...]) -> str:
    """An entry in words: its matrix, if there are several, and the names of its nodes."""
    names = network.node_names
    return f"{name}[{', '.join([*map(str, at[:-2]), names[at[-2]], names[at[-1]]])}]"


def check_joined(demand: Floats, paths: Paths) -> None:
    """Refuse demand between nodes without a path.

    Args:
        demand: (nodes, nodes) checked traffic, or (matrices, nodes, nodes).
        paths: Candidate paths.

    Raises:
        InputError: There is such a demand; the message names the first and counts them.
    """
    lost = (demand > 0) & ~paths.joined()
    if not np.any(lost):
        return
    at = tuple(int(k) for k in np.unravel_index(int(np.argmax(lost)), lost.shape))
    name = "demand" if demand.ndim == 2 else "demands"
    raise InputError(
        f"no path joins these nodes (nor {int(lost.sum()) - 1} other pairs with demand)",
        where=_place(name, paths.network, at),
        allowed="demand between nodes that candidate paths join",
        remedy="te.joined_traffic(demand, paths), on the command line --joined, leaves such"
        " demands out",
    )


def joined_traffic(demand: Demand, paths: Paths) -> Floats:
    """Remove the demands between nodes without a path, such as after link failures.

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
    """Read a traffic matrix from a ``.npy`` or ``.csv`` file, or from an SNDlib file.

    A CSV file has a header line and a first column with the nodes' names. SNDlib files are ``.xml``
    and ``.txt``, with or without the network; demands of a pair add up.

    Args:
        path: The file.
        network: The network that it must fit.

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
    remedy = "give a .npy, .csv, .xml or .txt file"
    checks.of_kind(path, (str, Path), "path", "a path", remedy=remedy)
    of_kind(network, Network, "network")
    file = Path(path)
    if file.suffix in (".xml", ".txt"):
        return _from_sndlib(file, network)
    try:
        if file.suffix == ".npy":
            return traffic(np.load(file, allow_pickle=False), network, str(file))
        if file.suffix == ".csv":
            frame = read_csv(file, index_col=0, dtype={0: str})
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
            f"cannot be read as a traffic matrix: {reason_of(error)}",
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
            remedy = "load the network that these demands are of"
            checks.one_of(end, str(file), place, "node", remedy=remedy)
        out[place[a], place[b]] += value
    return traffic(out, network, str(file))


def _by_label(frame: pd.DataFrame, network: Network, name: str) -> npt.NDArray[np.object_]:
    names = list(network.node_names)
    for side, labels in (("row", frame.index), ("column", frame.columns)):
        where, remedy = f"{side}s of {name}", "label each row and column with a node's name, once"
        allowed = f"the {len(names)} nodes' names"
        own = checks.distinct(labels, where, remedy=remedy)
        checks.same_names(own, names, where, "node", allowed=allowed, remedy=remedy)
    plain = frame.set_axis([str(x) for x in frame.index], axis=0)
    plain = plain.set_axis([str(x) for x in frame.columns], axis=1)
    return np.asarray(plain.loc[names, names].to_numpy())
