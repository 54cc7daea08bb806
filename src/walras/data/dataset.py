"""What the registry knows of a data set: where it comes from, its files and its columns."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, Literal, TypeVar

T = TypeVar("T")

Source = Literal["measured", "synthetic stand-in", "log"]
"""Whether numbers were measured by a set's authors, or drawn from a model fitted to them."""


@dataclass(frozen=True)
class Origin:
    """The public repository that a data set comes from, pinned to one commit.

    Attributes:
        repository: ``owner/name`` on GitHub.
        commit: The 40 hexadecimal digits of the commit.
        licence: Its SPDX identifier.
        citation: The work to cite.

    Example:
        >>> from walras.data import lookup
        >>> lookup("gavel").origin.repository
        'stanford-futuredata/gavel'
    """

    repository: str
    commit: str
    licence: str
    citation: str

    def __str__(self) -> str:
        return f"{self.repository}@{self.commit[:7]}"


@dataclass(frozen=True)
class DataFile:
    """One file of a data set.

    Attributes:
        name: Its name in the set's folder.
        sha256: Checksum of its content; of the uncompressed content when the name ends in .gz.
        sources: Paths in the origin's repository that it is made from.
        derive: Makes the content from the sources' contents, in their order; None when the only
            source is taken unchanged.
        origins: Where each source comes from, when not from the set's own origin.
        source_sums: Checksum of each source, compared before a source is opened: SHA-256, or the
            id that git gives the file. Empty where the origin's are not known; then only the
            checksum of the derived content stands between a mirror and the cache.

    Example:
        >>> from walras.data import lookup
        >>> lookup("mnist").files[0].name
        'train-images-idx3-ubyte.gz'
    """

    name: str
    sha256: str
    sources: tuple[str, ...]
    derive: Callable[[Sequence[bytes]], bytes] | None = None
    origins: tuple[Origin, ...] = ()
    source_sums: tuple[str, ...] = ()


@dataclass(frozen=True)
class DataSet(Generic[T]):
    """One row of the registry.

    Attributes:
        name: Its name, and that of its folder.
        title: What it holds, in one line.
        origin: Where it comes from.
        files: Its files.
        columns: The meaning and unit of each column or axis, by name.
        read: Reads the set from a folder that holds its files.
        stand_in: Draws a synthetic set of the same shape from a seed.
        fit: Estimates the parameters of the stand-in's model (a dataclass) from real sets.
        fitted_on: Names of the sets that ``fit`` takes, in its order.

    Example:
        >>> from walras.data import lookup
        >>> lookup("gavel").name, [file.name for file in lookup("gavel").files]
        ('gavel', ['simulation_throughputs.json'])
    """

    name: str
    title: str
    origin: Origin
    files: tuple[DataFile, ...]
    columns: Mapping[str, str]
    read: Callable[[Path], T]
    stand_in: Callable[[int], T]
    fit: Callable[..., Any]
    fitted_on: tuple[str, ...]
