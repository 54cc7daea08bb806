"""Measured latencies of the 15,625 NAS-Bench-201 networks on 27 devices (HELP)."""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from walras import checks
from walras.data.dataset import Source
from walras.data.formats.csv_table import read_csv
from walras.data.formats.pickles import load_plain, load_plain_after
from walras.data.store import MOST_UNPACKED, unreadable
from walras.errors import DataError
from walras.short_repr import short_repr
from walras.types import Floats, Longs

NAME = "nb201_help"
FILE = "nb201_latency_ms.csv"
NETWORKS = 15_625
OPERATIONS = ("none", "skip_connect", "nor_conv_1x1", "nor_conv_3x3", "avg_pool_3x3")
EDGES = ((0, 1), (0, 2), (1, 2), (0, 3), (1, 3), (2, 3))
"""Edges of a cell, in the order of the operations; node 0 is its input, node 3 its output."""

_GPUS = ("1080ti", "2080ti", "titanx", "titanxp", "titan_rtx")
DEVICES = (
    *(f"{gpu}_{batch}" for gpu in _GPUS for batch in (1, 32, 256)),
    "silver_4114", "silver_4210r", "gold_6226", "gold_6240", "raspi4", "pixel3", "pixel2",
    "samsung_a50", "samsung_s7", "essential_ph_1", "fpga", "eyeriss",
)  # fmt: skip
ESTIMATED = ("fpga", "eyeriss")
"""Devices whose latencies were estimated or simulated, not measured."""

_SUFFIXES = ("_1", "_32", "_256")
_ZIP, _LEGACY_HEADER = b"PK", 3  # torch's two formats; magic, protocol and system stand first


@short_repr
@dataclass(frozen=True)
class Latencies:
    """Time of one forward pass of every network on every device.

    Attributes:
        operations: (networks, 6) index into ``OPERATIONS`` of each edge of ``EDGES``.
        devices: Names; a GPU's name ends in its batch size.
        latency_ms: (networks, devices) milliseconds.
        source: Whether the numbers are measured or synthetic.
        origin: Where they come from, in words.

    Example:
        >>> import walras as wl
        >>> found = wl.data.load("nb201_help", synthetic=True)
        >>> found.operations.shape[1], found.of(found.devices[:2]).shape[1]
        (6, 2)
    """

    operations: Longs
    devices: tuple[str, ...]
    latency_ms: Floats
    source: Source
    origin: str

    def __post_init__(self) -> None:
        for array in (self.operations, self.latency_ms):
            array.setflags(write=False)

    def of(self, devices: Sequence[str]) -> Floats:
        """The times on some devices.

        Args:
            devices: Names of k devices.

        Returns:
            (networks, k) milliseconds.

        Raises:
            InputError: A device is unknown.
        """
        for k, name in enumerate(devices):
            checks.one_of(name, f"clusters[{k}]", self.devices, "device")
        return self.latency_ms[:, [self.devices.index(name) for name in devices]]

    @property
    def single(self) -> tuple[str, ...]:
        """Devices measured at batch size 1, without the two that are estimates."""
        return tuple(
            d for d in self.devices if d not in ESTIMATED and not d.endswith(_SUFFIXES[1:])
        )


def read(folder: Path) -> Latencies:
    """Read the latencies.

    Args:
        folder: Holds ``nb201_latency_ms.csv``: index, ops (six digits), one column a device.

    Raises:
        DataError: The file is not what it should be.
    """
    path = folder / FILE
    try:
        table = read_csv(path, dtype={"ops": str})
        operations = np.array([[int(digit) for digit in ops] for ops in table["ops"]])
        latency = table[list(DEVICES)].to_numpy(dtype=np.float64)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise unreadable(NAME, path, error) from error
    if operations.shape != (NETWORKS, 6) or operations.max() >= len(OPERATIONS):
        raise unreadable(NAME, path, f"{operations.shape} operations, not {NETWORKS} times six")
    if not (np.isfinite(latency).all() and latency.min() >= 0):
        raise unreadable(NAME, path, "a latency is negative or not finite")
    return Latencies(operations, DEVICES, latency, "measured", str(folder))


SOURCES = (
    "data/nasbench201/str_arch2idx.pt",
    *(f"data/nasbench201/latency/{device}.pt" for device in DEVICES),
)

SOURCE_SUMS = (
    "aa833a5044a4435a05a2cbb0d5583afe7da2d1be",
    "52bd10e91d907ad515f364e8dae2efa2a228f8a5",
    "2f14064f6e5696498adce7c29725788e712e7fa1",
    "e5f5029e8dc4aa01f2d3adb0673fc8d7a51cbc74",
    "7792f4340e97950df919bf1951217148db3b9235",
    "14dcfa57b2a24a704d0393a52a085a5be6bf604e",
    "a00d4f58fabb50af023b6c8df7287c3ccfbe126c",
    "f9a96323941f9ce5f9d2881d20c0e3fe8952f358",
    "3d3ac2594cc0beaf090d6aba798fd78307f40d6c",
    "e2602803def079f51f03eb4648913869931bfdb8",
    "a3125e1583e85e0b2fdfc45d754e2f018e721646",
    "f0e826c7dda09ff5a2e2006ba9c1763016e895e5",
    "a647c8c880882b28caec59dbf6c3b9974ceaece7",
    "4c6e52f52132eb0e66897395d4c41317df647320",
    "30c4540fe97da01af492c7f0b8c502f3a7f7e1dd",
    "0b4badc811ac8311388ff82697056c021aeada29",
    "0a74afd5df17516fcb920290bd6610037c43f1cc",
    "ffa578ee51ff3bad4a97c4f9546dcd1daa580bf0",
    "69d2d025deefe20b4d70e17eaee713d985403915",
    "8117b118eb0b2552b4ab73583cbe1bd51629db6c",
    "246260886d71b50a57eb6f537e2af82eadc314a1",
    "4fcad612d7764b1d3871973260c7784669db59c5",
    "817490dbe8e8d90d78beae817a9273aea8d98e11",
    "28ab81a7e36324b10baee8fe1b7d64123f77c3e5",
    "9b47107d235ccc54fd03ab637286ecd12b70e020",
    "843c0a1861b21ef1fd8bcd3994ea1144bf024378",
    "fa7825714ebe84da971932c4943429eb4f36ee9b",
    "85183e432a0fb3330e10cbbba943490063718320",
)
"""Git's ids of the sources, at the origin's commit."""


def derive(sources: Sequence[bytes]) -> bytes:
    """The table as CSV, from the origin's files in the order of ``SOURCES``."""
    names, *columns = (_saved(raw, name) for raw, name in zip(sources, SOURCES, strict=True))
    digits = {int(index): _digits(str(name)) for name, index in names.items()}
    lines = [",".join(("index", "ops", *DEVICES))]
    for k in range(len(columns[0])):
        lines.append(",".join((str(k), digits[k], *(f"{float(c[k]):.6g}" for c in columns))))
    return ("\n".join(lines) + "\n").encode()


def _digits(architecture: str) -> str:
    """``|op~0|+|op~0|op~1|+...`` as the six indices of its operations."""
    operations = [part.split("~")[0] for part in architecture.replace("+", "").split("|") if part]
    return "".join(str(OPERATIONS.index(operation)) for operation in operations)


def _saved(raw: bytes, name: str) -> Any:
    """What ``torch.save`` wrote of plain data, in its present or its older format."""
    if not raw.startswith(_ZIP):
        return load_plain_after(raw, _LEGACY_HEADER, name)
    try:
        with zipfile.ZipFile(io.BytesIO(raw)) as archive:
            inner = next(n for n in archive.namelist() if n.endswith("/data.pkl"))
            with archive.open(inner) as member:
                content = member.read(MOST_UNPACKED)
        return load_plain(content, name)
    except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, StopIteration) as error:
        raise DataError(
            "the archive holds no data.pkl",
            where=name,
            allowed="a file written by torch.save",
            remedy="try another mirror; nothing was stored",
        ) from error
