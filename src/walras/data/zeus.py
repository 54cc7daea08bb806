"""Measured seconds per training epoch on four GPUs, and runs that reached their target (Zeus)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from walras.data.dataset import Source
from walras.data.formats.csv_table import read_csv
from walras.data.store import unreadable
from walras.short_repr import short_repr

NAME = "zeus"
GPUS = ("v100", "a40", "p100", "rtx6000")
EPOCH_FILES = tuple(f"summary_power_{gpu}.csv" for gpu in GPUS)
RUNS_FILE = "summary_train.csv"
CONFIGURATION = ("dataset", "network", "batch_size", "optimizer")

TARGETS: Mapping[str, float] = {
    "cifar100": 0.60,
    "imagenet": 0.65,
    "librispeech": 40.0,
    "movielens-1m": 0.41,
    "squad": 84.0,
    "sentiment140": 0.84,
}
"""Metric to reach, by data set: accuracy, hit rate or F1; for librispeech word error rate."""

_EPOCHS = (*CONFIGURATION, "power_limit", "time_per_epoch", "average_power")
_RUNS = (*CONFIGURATION, "learning_rate", "run", "target_metric", "target_epoch")


@short_repr
@dataclass(frozen=True)
class ZeusTraces:
    """Times of epochs and the epochs that runs needed.

    Attributes:
        epochs: A frame with one row per GPU, configuration and power limit: ``gpu``, ``dataset``,
            ``network``, ``batch_size``, ``optimizer``, ``power_limit`` (W), ``time_per_epoch`` (s),
            ``average_power`` (W).
        runs: A frame with one row per run and target: the configuration, ``learning_rate``,
            ``run``, ``target_metric``, ``target_epoch`` (missing where the run never reached it).
        source: Whether the numbers are measured or synthetic.
        origin: Where they come from, in words.

    Example:
        >>> import walras as wl
        >>> found = wl.data.load("zeus", synthetic=True)
        >>> "time_per_epoch" in found.epochs.columns
        True
    """

    epochs: pd.DataFrame
    runs: pd.DataFrame
    source: Source
    origin: str

    def epoch_seconds(self) -> pd.DataFrame:
        """Seconds per epoch at full power: configurations by GPUs, missing where not measured."""
        full = self.epochs.groupby("gpu")["power_limit"].transform("max")
        table = self.epochs[self.epochs["power_limit"] == full]
        return table.pivot_table(
            index=list(CONFIGURATION), columns="gpu", values="time_per_epoch", aggfunc="mean"
        ).reindex(columns=list(GPUS))

    def reached(self) -> pd.DataFrame:
        """Columns ``runs``, ``reached`` and ``epochs`` (median of those that reached ``TARGETS``).

        One row a configuration.
        """
        wanted = self.runs["dataset"].map(TARGETS)
        runs = self.runs[(self.runs["target_metric"] - wanted).abs() < 1e-9]
        grouped = runs.groupby(list(CONFIGURATION))["target_epoch"]
        return pd.DataFrame(
            {"runs": grouped.size(), "reached": grouped.count(), "epochs": grouped.median()}
        )


def read(folder: Path) -> ZeusTraces:
    """Read the traces.

    Args:
        folder: Holds one ``summary_power_<gpu>.csv`` a GPU, and ``summary_train.csv``.

    Raises:
        DataError: A file is not what it should be.
    """
    tables = [
        _table(folder / file, _EPOCHS, "time_per_epoch").assign(gpu=gpu)
        for gpu, file in zip(GPUS, EPOCH_FILES, strict=True)
    ]
    runs = _table(folder / RUNS_FILE, _RUNS, "target_epoch")
    return ZeusTraces(pd.concat(tables, ignore_index=True), runs, "measured", str(folder))


def _table(path: Path, columns: tuple[str, ...], positive: str) -> pd.DataFrame:
    try:
        table = read_csv(path)[list(columns)]
        numbers = table[positive].astype(float)
    except (OSError, ValueError, KeyError) as error:
        raise unreadable(NAME, path, error) from error
    if not len(table) or (numbers <= 0).any():
        raise unreadable(NAME, path, f"{positive} is not positive everywhere")
    return table
