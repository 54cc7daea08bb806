"""Job outcomes of seven production GPU clusters (Helios, Acme, Philly)."""

from __future__ import annotations

import io
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from walras.data.dataset import Source
from walras.data.formats.csv_table import read_csv
from walras.data.store import unreadable
from walras.short_repr import short_repr

NAME = "cluster_reliability"
FILE = "derived_reliability.csv"
HELIOS, ACME = "helios_cluster_summary.csv", "acme_cluster_summary.csv"
HELIOS_SOURCE = f"analysis/1_compare with Philly trace/{HELIOS.removeprefix('helios_')}"
ACME_SOURCE = f"data/{ACME.removeprefix('acme_')}"
CLUSTERS = {
    "helios": ("Venus", "Earth", "Saturn", "Uranus"),
    "acme": ("Seren", "Kalos", "Philly"),
}
COLUMNS = (
    "cluster", "source", "gpu_jobs", "complete_rate", "cancel_rate", "fail_rate", "gpu_hours",
    "success_given_not_cancelled", "hazard_per_gpu_hour", "mean_gpu_hours_per_job",
)  # fmt: skip
_SECONDS = ("complete_gpu_time", "cancel_gpu_time", "fail_gpu_time")


@short_repr
@dataclass(frozen=True)
class ClusterReliability:
    """How the GPU jobs of production clusters ended.

    Attributes:
        clusters: A frame with one row per cluster, by name: ``gpu_jobs``; shares ``complete_rate``,
            ``cancel_rate``, ``fail_rate``; ``gpu_hours``; ``success_given_not_cancelled``;
            ``hazard_per_gpu_hour``; ``mean_gpu_hours_per_job``.
        source: Whether the numbers are measured or synthetic.
        origin: Where they come from, in words.

    Example:
        >>> import walras as wl
        >>> found = wl.data.load("cluster_reliability", synthetic=True)
        >>> "fail_rate" in found.clusters.columns
        True
    """

    clusters: pd.DataFrame
    source: Source
    origin: str

    def fail_rates(self) -> pd.Series:
        """Share of a cluster's GPU jobs that failed, by name, the worst first."""
        return self.clusters["fail_rate"].sort_values(ascending=False, kind="stable")


def read(folder: Path) -> ClusterReliability:
    """Read the outcomes.

    Args:
        folder: Holds ``derived_reliability.csv``.

    Raises:
        DataError: The file is not what it should be.
    """
    path = folder / FILE
    try:
        table = read_csv(path)[list(COLUMNS)].set_index("cluster").astype({"fail_rate": float})
    except (OSError, ValueError, KeyError) as error:
        raise unreadable(NAME, path, error) from error
    if not table["fail_rate"].between(0, 1).all():
        raise unreadable(NAME, path, "a fail_rate is not within 0..1")
    return ClusterReliability(table, "measured", str(folder))


def derive(sources: Sequence[bytes]) -> bytes:
    """The table as CSV, from the summaries of Helios and of Acme.

    The hazard is the maximum-likelihood rate of an exponential time to failure, with completed and
    cancelled jobs as censored exposure: failed jobs over all GPU-hours.
    """
    lines = [",".join(COLUMNS)]
    for (source, clusters), raw in zip(CLUSTERS.items(), sources, strict=True):
        table = read_csv(io.BytesIO(raw), index_col="id")
        rows = table.to_dict(orient="index")
        lines += [_line(name, source, rows[name]) for name in clusters]
    return ("\n".join(lines) + "\n").encode()


def _line(name: str, source: str, row: Mapping[Hashable, Any]) -> str:
    jobs, complete, fail = row["gpu_job_num"], row["complete_rate_gpu"], row["fail_rate_gpu"]
    hours = sum(row[column] for column in _SECONDS) / 3600.0
    cells = (
        name,
        source,
        f"{jobs:.0f}",
        f"{complete:g}",
        f"{row['cancel_rate_gpu']:g}",
        f"{fail:g}",
        f"{hours:.0f}",
        f"{round(complete / (complete + fail), 4)}",
        f"{round(jobs * fail / hours, 6)}",
        f"{round(hours / jobs, 3)}",
    )
    return ",".join(cells)
