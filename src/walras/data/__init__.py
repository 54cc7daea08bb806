"""Real data sets: find, download, verify and load them.

Walras carries no third-party data. A set is looked for in ``$WALRAS_DATA/<name>``, then in the
user's cache, to which :func:`fetch` downloads it from its origin. Without either, :func:`load`
draws a synthetic stand-in of the same shape from a model fitted to the set; what is loaded says
which it is in its ``source`` and ``origin``.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, overload

from walras import checks
from walras.data.cluster_reliability import ClusterReliability
from walras.data.dataset import DataFile, DataSet, Origin, Source
from walras.data.dede_cluster import ClusterThroughputs
from walras.data.download import ORIGINS, TIME_LIMIT, download, of_paths
from walras.data.gavel import GavelThroughputs
from walras.data.gavel_traces import JobTraces
from walras.data.lb_random import RoundNumbers
from walras.data.mnist import Digits
from walras.data.nb201_help import Latencies
from walras.data.registry import REGISTRY, lookup
from walras.data.store import FileState, check, locate, search_path
from walras.data.te_b4_real import B4Traffic
from walras.data.te_paths import ReleasedPaths
from walras.data.te_topologies import Topologies
from walras.data.zeus import ZeusTraces
from walras.deprecated import renamed_keywords
from walras.errors import DataError
from walras.progress import OnProgress

__all__ = [
    "ORIGINS",
    "REGISTRY",
    "TIME_LIMIT",
    "B4Traffic",
    "ClusterReliability",
    "ClusterThroughputs",
    "DataFile",
    "DataSet",
    "Digits",
    "FileState",
    "GavelThroughputs",
    "JobTraces",
    "Latencies",
    "Origin",
    "ReleasedPaths",
    "RoundNumbers",
    "Source",
    "Topologies",
    "ZeusTraces",
    "fetch",
    "find",
    "fit_stand_in",
    "load",
    "lookup",
    "not_found",
    "search_path",
    "verify",
]


def find(name: str) -> Path | None:
    """The folder that holds a data set, or None when it is on no folder of the search path.

    Args:
        name: One of the registry's names.

    Returns:
        The folder, or None.

    Raises:
        InputError: The name is unknown.

    Example:
        >>> import walras as wl
        >>> folder = wl.data.find("gavel")
        >>> folder is None or folder.name == "gavel"
        True
    """
    return locate(lookup(name))


@overload
def load(
    name: Literal["gavel"], *, synthetic: bool | None = None, seed: int = 0
) -> GavelThroughputs: ...
@overload
def load(
    name: Literal["gavel_traces"], *, synthetic: bool | None = None, seed: int = 0
) -> JobTraces: ...
@overload
def load(
    name: Literal["dede_cluster"], *, synthetic: bool | None = None, seed: int = 0
) -> ClusterThroughputs: ...
@overload
def load(
    name: Literal["te_topologies", "topology_zoo"],
    *,
    synthetic: bool | None = None,
    seed: int = 0,
) -> Topologies: ...
@overload
def load(
    name: Literal["te_b4_real"], *, synthetic: bool | None = None, seed: int = 0
) -> B4Traffic: ...
@overload
def load(
    name: Literal["te_paths"], *, synthetic: bool | None = None, seed: int = 0
) -> ReleasedPaths: ...
@overload
def load(
    name: Literal["nb201_help"], *, synthetic: bool | None = None, seed: int = 0
) -> Latencies: ...
@overload
def load(name: Literal["zeus"], *, synthetic: bool | None = None, seed: int = 0) -> ZeusTraces: ...
@overload
def load(
    name: Literal["cluster_reliability"], *, synthetic: bool | None = None, seed: int = 0
) -> ClusterReliability: ...
@overload
def load(
    name: Literal["lb_random"], *, synthetic: bool | None = None, seed: int = 0
) -> RoundNumbers: ...
@overload
def load(name: Literal["mnist"], *, synthetic: bool | None = None, seed: int = 0) -> Digits: ...
@overload
def load(name: str, *, synthetic: bool | None = None, seed: int = 0) -> Any: ...
def load(name: str, *, synthetic: bool | None = None, seed: int = 0) -> Any:
    """Load a data set, or its synthetic stand-in.

    Args:
        name: One of the registry's names.
        synthetic: True for the stand-in, False for the real set only; when left out, the real set
            if it is found and the stand-in otherwise.
        seed: Seed of the stand-in's random numbers.

    Returns:
        The set as a frozen dataclass whose ``source`` says whether it was measured.

    Raises:
        InputError: The name is unknown, or ``synthetic`` is something else.
        DataError: A file is not what it should be, or the real set is wanted and not found.

    Example:
        >>> import walras as wl
        >>> found = wl.data.load("gavel", synthetic=True)
        >>> found.clusters, str(found.source)
        (('v100', 'p100', 'k80'), 'synthetic stand-in')
    """
    data_set = lookup(name)
    if synthetic is not None:
        checks.flag(synthetic, "synthetic", " or None")
    folder = None if synthetic else locate(data_set)
    if folder is not None:
        return data_set.read(folder)
    if synthetic is False:
        raise not_found(data_set)
    return data_set.stand_in(seed)


@renamed_keywords(of_paths, progress="on_progress")
def fetch(
    name: str,
    *,
    mirror: str = ORIGINS,
    force: bool = False,
    time_limit: float = TIME_LIMIT,
    on_progress: OnProgress | None = None,
) -> Path:
    """Download a data set from its origin into the user's cache.

    Args:
        name: One of the registry's names.
        mirror: Base address that serves ``<repository>/<commit>/<path>``.
        force: Download again what is there and intact.
        time_limit: Seconds that all downloads of the set may take.
        on_progress: Called after each download with a Progress that counts them; its ``note`` is
            the path of the source.

    Returns:
        The folder that now holds the set.

    Raises:
        InputError: The name is unknown or the mirror is not an address.
        DataError: The network or the disk failed, a download is too long or too large, or a file is
            not the one registered.
        StoppedError: ``on_progress`` returned True before the end.

    Example:
        >>> import walras as wl
        >>> try:  # a known name would download the set
        ...     wl.data.fetch("gavell")
        ... except wl.InputError as error:
        ...     print(type(error).__name__)
        InputError
    """
    return download(
        lookup(name), mirror=mirror, force=force, time_limit=time_limit, on_progress=on_progress
    )


def verify(name: str) -> Mapping[str, FileState]:
    """Compare a data set's files with their checksums.

    Args:
        name: One of the registry's names.

    Returns:
        The state of each file, by name.

    Raises:
        InputError: The name is unknown.
        DataError: The set is on no folder of the search path.

    Example:
        >>> import walras as wl
        >>> if wl.data.find("gavel"):
        ...     states = wl.data.verify("gavel")
    """
    data_set = lookup(name)
    folder = locate(data_set)
    if folder is None:
        raise not_found(data_set)
    return check(data_set, folder)


def fit_stand_in(name: str) -> Any:
    """Fit the model of a set's stand-in to the real set.

    Args:
        name: One of the registry's names.

    Returns:
        The model's parameters, a frozen dataclass; rounded as they stand in the code.

    Raises:
        InputError: The name is unknown.
        DataError: A real set that the fit needs is not found or not readable.

    Example:
        >>> import walras as wl
        >>> if wl.data.find("lb_random"):
        ...     parameters = wl.data.fit_stand_in("lb_random")
    """
    data_set = lookup(name)
    return data_set.fit(*(load(needed, synthetic=False) for needed in data_set.fitted_on))


def not_found(data_set: DataSet[Any]) -> DataError:
    """The error for a data set that is on no folder of the search path.

    Args:
        data_set: The registry's row.

    Returns:
        The error, to raise.

    Example:
        >>> from walras.data import lookup, not_found
        >>> type(not_found(lookup("gavel"))).__name__
        'DataError'
    """
    folders = ", ".join(str(folder / data_set.name) for folder in search_path())
    return DataError(
        f"data set '{data_set.name}' was not found",
        where=folders,
        allowed=f"a folder that holds {', '.join(file.name for file in data_set.files)}",
        remedy=f"walras data fetch {data_set.name}, or set WALRAS_DATA to the folder above it",
    )
