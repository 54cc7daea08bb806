"""Finished cases as files of a folder: whole or not there, so that a cut comparison goes on."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from walras import saving
from walras.errors import DataError
from walras.files import make_folder, write_text
from walras.simulate.compare.comparison import Bounds, Comparison
from walras.simulate.result import Run


class UnkeptError(DataError):
    """A finished run that its folder could not keep, such as one on a full disk.

    Attributes:
        found: The comparison of all runs that were finished, this one included.

    Example:
        >>> import walras as wl
        >>> issubclass(wl.simulate.UnkeptError, wl.DataError)
        True
    """

    def __init__(self, cause: DataError, found: Comparison) -> None:
        said = {name: getattr(cause, name) for name in ("where", "allowed", "remedy")}
        super().__init__(cause.what, **said)
        self.found = found


@dataclass(frozen=True)
class StoredBounds:
    """Bounds that were read back.

    Attributes:
        mean_completion: Seconds.
        makespan: Seconds.
    """

    mean_completion: float
    makespan: float


class Store:
    """A folder of finished cases by their keys, or none.

    A run is ``KEY.npz``: the same case gives the same bytes. Its seconds, which differ, lie beside
    it in ``KEY.json``. Bounds are a ``KEY.json`` alone.

    Args:
        folder: The folder, made where it is missing; None keeps nothing.

    Raises:
        DataError: The folder cannot be made.
    """

    def __init__(self, folder: str | Path | None) -> None:
        self._folder = None if folder is None else make_folder(folder)

    def read(self, key: str) -> tuple[Run | Bounds, float] | None:
        """The result of a case and its seconds; None where it is not there or damaged."""
        if self._folder is None:
            return None
        noted = _numbers(self._folder / f"{key}.json")
        seconds = noted.get("seconds", float("nan"))
        if {"mean_completion", "makespan"} <= set(noted):
            return StoredBounds(noted["mean_completion"], noted["makespan"]), seconds
        with suppress(DataError):
            found = saving.load(self._folder / f"{key}.npz")
            if isinstance(found, Run):
                return found, seconds
        return None

    def write(self, key: str, found: Run | Bounds, seconds: float) -> None:
        """Keep the result of a case.

        Raises:
            DataError: A file cannot be written.
        """
        if self._folder is None:
            return
        noted = {"seconds": seconds}
        if isinstance(found, Run):
            found.save(self._folder / f"{key}.npz")
        else:
            noted |= {"mean_completion": found.mean_completion, "makespan": found.makespan}
        write_text(self._folder / f"{key}.json", json.dumps(noted))


def _numbers(path: Path) -> dict[str, float]:
    """The numbers of a JSON file by name; none where it is not there or damaged."""
    with suppress(OSError, ValueError, RecursionError):
        found = json.loads(path.read_text("utf-8"))
        if isinstance(found, dict):
            return {k: float(v) for k, v in found.items() if isinstance(v, int | float)}
    return {}
