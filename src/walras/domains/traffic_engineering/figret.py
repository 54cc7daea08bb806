"""FIGRET's folders: a network, its tunnels, traffic matrices and the least utilisation of each."""

from __future__ import annotations

import gzip
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from walras import checks
from walras.domains.traffic_engineering.network import Network
from walras.domains.traffic_engineering.paths import Paths
from walras.domains.traffic_engineering.topology import load_topology
from walras.errors import DataError
from walras.files import reason_of
from walras.short_repr import short_repr
from walras.types import Floats

_TOPOLOGY = "topology.json"
_MATRICES, _OPTIMA = ".hist.gz", ".opt"


@short_repr
@dataclass(frozen=True, eq=False)
class Figret:
    r"""A folder of FIGRET: the problem is to carry all traffic at the least utilisation.

    Attributes:
        folder: Where its files lie.
        network: The network.
        paths: Its tunnels.
        names: Names of its files of matrices, such as ``test_7``.

    Example:
        >>> from walras.domains import traffic_engineering as te
        >>> import gzip
        >>> from pathlib import Path
        >>> link = '{"source": %d, "target": %d, "capacity": 10}'
        >>> links = ", ".join(link % ends for ends in [(0, 1), (0, 2), (2, 1)])
        >>> nodes = '[{"id": 0}, {"id": 1}, {"id": 2}]'
        >>> _ = Path("topology.json").write_text(
        ...     '{"directed": true, "nodes": %s, "links": [%s]}' % (nodes, links)
        ... )
        >>> _ = Path("tunnels.txt").write_text("0 1:0-1,0-2-1\n0 2:0-2\n2 1:2-1\n")
        >>> _ = Path("test_1.hist.gz").write_bytes(gzip.compress(b"0 8 2 0 0 0 0 0 0\n"))
        >>> _ = Path("test_1.opt").write_text("0.5\n")
        >>> found = te.load_figret(".")
        >>> found.network.nodes, found.paths.count, found.names
        (3, 4, ('test_1',))
        >>> found.matrices("test_1").shape, found.optimum("test_1")
        ((1, 3, 3), array([0.5]))
    """

    folder: Path
    network: Network
    paths: Paths
    names: tuple[str, ...]

    def matrices(self, name: str) -> Floats:
        """The traffic matrices of a file, in order.

        Args:
            name: One of ``names``.

        Returns:
            (matrices, nodes, nodes) traffic from row to column.

        Raises:
            InputError: There is no such file.
            DataError: It does not hold a matrix a line.
        """
        n, table = self.network.nodes, self._table(name, _MATRICES)
        if table.shape[1] != n * n:
            raise DataError(
                f"has {table.shape[1]} numbers a line",
                where=str(self.folder / f"{name}{_MATRICES}"),
                allowed=f"{n * n}, a matrix of {n} nodes row by row",
                remedy="use the file that was made for this network",
            )
        return table.reshape(-1, n, n)

    def optimum(self, name: str) -> Floats:
        """The published least utilisation of each matrix of a file.

        Args:
            name: One of ``names``.

        Returns:
            (matrices,) largest utilisation of a link.

        Raises:
            InputError: There is no such file.
            DataError: It does not hold a number a line.
        """
        return self._table(name, _OPTIMA)[:, 0]

    def _table(self, name: str, ending: str) -> Floats:
        checks.one_of(name, "name", self.names, "file of matrices")
        path = self.folder / f"{name}{ending}"
        try:
            text = gzip.decompress(path.read_bytes()) if ending == _MATRICES else path.read_bytes()
            lines = [line for line in text.decode().splitlines() if line.strip()]
            if not lines:
                raise ValueError("it is empty")
            found = np.loadtxt(lines, comments=None, ndmin=2)
        except (OSError, EOFError, UnicodeDecodeError, ValueError) as error:
            raise _unreadable(path, error, "a line of numbers for each matrix") from error
        if not np.isfinite(found).all() or np.any(found < 0.0):
            raise DataError(
                "has an entry that is negative or not finite",
                where=str(path),
                allowed="numbers from 0",
                remedy="take the file as it was published",
            )
        return np.asarray(found, np.float64)


def load_figret(folder: str | Path) -> Figret:
    r"""Read a folder as FIGRET publishes them: ``topology.json``, ``tunnels.txt``, ``*.hist.gz``.

    A line of ``tunnels.txt`` is ``s t:`` and the pair's paths, nodes joined by ``-``, paths by
    commas. Matrices are read when they are asked for. Source: Liu et al., SIGCOMM 2024 (FIGRET).

    Args:
        folder: The folder.

    Returns:
        The network with its tunnels, and access to matrices and optima.

    Raises:
        DataError: A file is missing or has another form; names the file and the line.
        InputError: The folder is no path, or a tunnel takes a link that the network does not have.

    Example:
        >>> import walras as wl
        >>> from walras.domains import traffic_engineering as te
        >>> import gzip
        >>> from pathlib import Path
        >>> link = '{"source": %d, "target": %d, "capacity": 10}'
        >>> links = ", ".join(link % ends for ends in [(0, 1), (0, 2), (2, 1)])
        >>> nodes = '[{"id": 0}, {"id": 1}, {"id": 2}]'
        >>> _ = Path("topology.json").write_text(
        ...     '{"directed": true, "nodes": %s, "links": [%s]}' % (nodes, links)
        ... )
        >>> _ = Path("tunnels.txt").write_text("0 1:0-1,0-2-1\n0 2:0-2\n2 1:2-1\n")
        >>> _ = Path("test_1.hist.gz").write_bytes(gzip.compress(b"0 8 2 0 0 0 0 0 0\n"))
        >>> _ = Path("test_1.opt").write_text("0.5\n")
        >>> found = te.load_figret(".")
        >>> demand = found.matrices("test_1")[0]
        >>> s = wl.solve(te.min_max_utilisation(found.network, demand, found.paths))
        >>> round(s.value, 6), found.optimum("test_1").tolist()
        (0.5, [0.5])
    """
    checks.of_kind(folder, (str, Path), "folder", "a path", remedy="give the folder's path")
    place = Path(folder)
    if not (place / _TOPOLOGY).is_file():
        raise _no_network(place)
    network = load_topology(place / _TOPOLOGY)
    names = sorted(p.name.removesuffix(_MATRICES) for p in place.glob(f"*{_MATRICES}"))
    return Figret(place, network, _tunnels(place / "tunnels.txt", network), tuple(names))


def _no_network(place: Path) -> DataError:
    """What to do where a folder is not that of one network."""
    inside = sorted(found.parent.name for found in place.glob(f"*/{_TOPOLOGY}"))
    remedy = f"give the folder of one network: {', '.join(inside)}" if inside else ""
    return DataError(
        f"has no {_TOPOLOGY}",
        where=str(place),
        allowed="a folder with topology.json, tunnels.txt and the matrices of one network",
        remedy=remedy or "take FIGRET's data as they were published",
    )


def _tunnels(path: Path, network: Network) -> Paths:
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise _unreadable(path, error, "a text file, 's t:path,path' a line") from error
    nodes, offset = list[int](), [0]
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        ends, _, listed = line.partition(":")
        try:
            source, target = (int(word) for word in ends.split())
            paths = [[int(node) for node in part.split("-")] for part in listed.split(",")]
        except ValueError as error:
            raise _line(path, number, line) from error
        for each in paths:
            if (each[0], each[-1]) != (source, target) or max(each) >= network.nodes:
                raise _line(path, number, line)
            nodes += each
            offset.append(len(nodes))
    return Paths.of_nodes(network, nodes, offset, "FIGRET's tunnels")


def _line(path: Path, number: int, line: str) -> DataError:
    return DataError(
        f"is {line[:60]!r}",
        where=f"{path}, line {number}",
        allowed="'s t:s-...-t,s-...-t' with the numbers of nodes",
        remedy="take the file as it was published",
    )


def _unreadable(path: Path, error: Exception, allowed: str) -> DataError:
    reason = reason_of(error) if isinstance(error, OSError) else str(error)
    return DataError(
        f"cannot be read: {reason}",
        where=str(path),
        allowed=allowed,
        remedy="give the folder that holds topology.json, tunnels.txt and the matrices",
    )
