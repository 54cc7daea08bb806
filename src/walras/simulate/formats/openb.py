"""Alibaba's GPU cluster of 2023: lists of pods and of nodes named ``openb``.

Pods share GPUs, so that a worker is a thousandth of a GPU here. Source: the README of
hkust-adsl/kubernetes-scheduler-simulator; Weng et al., USENIX ATC 2023.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from walras.simulate.formats.raw import Raw
from walras.simulate.formats.table import read_lines

COLUMNS = {
    "name": "name",
    "qos": "kind",
    "gpu_thousandths": "size",
    "seconds": "seconds",
    "creation_time": "arrival",
    "gpu_spec": "type",
}
THOUSANDTHS = 1000
"""Workers of a GPU."""

_NEEDED = (
    "name",
    "num_gpu",
    "gpu_milli",
    "gpu_spec",
    "qos",
    "creation_time",
    "deletion_time",
    "scheduled_time",
)


def read(path: Path) -> Raw:
    """Read the list of pods; those without GPU, never scheduled or of 0 s are left out.

    A pod runs from when it was scheduled until it was deleted, on GPUs of the models that it names,
    or of any model.

    Raises:
        DataError: The file cannot be read, or lacks a column: some lists have no times.
    """
    raw = read_lines(path, _NEEDED)
    raw = raw.without(raw.number("num_gpu") == 0.0, "takes no GPU")
    raw = raw.without((raw.table["scheduled_time"] == "").to_numpy(np.bool_), "never scheduled")
    raw.table["gpu_thousandths"] = raw.number("num_gpu") * raw.number("gpu_milli")
    raw.table["seconds"] = raw.number("deletion_time") - raw.number("scheduled_time")
    return raw.without(raw.number("seconds") == 0.0, "ran for 0 s")
