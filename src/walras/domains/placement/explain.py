"""Why a task is where it is: what the nodes lack for it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from walras.domains.placement.instance import Instance
from walras.kernels.packing.machines import Machines, fitting
from walras.types import Bools, Ints


@dataclass(frozen=True)
class Explanation:
    """What keeps a task from the nodes, or where it is.

    Attributes:
        task: Its name.
        node: Its node; empty where it is not placed.
        fits_now: Nodes that have room for it as they are.
        fits_empty: Nodes that would have room if they were empty.
        lacking: What is lacking -> number of nodes that lack it; a node may lack several things.
        nodes: Number of nodes.

    Example:
        >>> import pandas as pd
        >>> from walras.domains import placement as pl
        >>> nodes = pd.DataFrame({"cpu": [8, 4]}, index=["a", "b"])
        >>> tasks = pd.DataFrame({"cpu": [6, 6]}, index=["x", "y"])
        >>> print(pl.place(nodes, tasks).explain("y"))
        y is not placed: of 2 nodes, 0 have room now, 1 would if empty; short of cpu: 2
    """

    task: str
    node: str
    fits_now: int
    fits_empty: int
    lacking: dict[str, int]
    nodes: int

    def __str__(self) -> str:
        if self.node:
            return (
                f"{self.task} is on {self.node}: of {self.nodes} nodes, "
                f"{self.fits_now} others have room now, {self.fits_empty} would if empty"
            )
        short = "; ".join(f"short of {what}: {count}" for what, count in self.lacking.items())
        return (
            f"{self.task} is not placed: of {self.nodes} nodes, {self.fits_now} have room now, "
            f"{self.fits_empty} would if empty" + (f"; {short}" if short else "")
        )


def explain(instance: Instance, left: Machines, node: Ints, task: int) -> Explanation:
    """Compare what a task's item needs with what is left of each node.

    Args:
        instance: The instance.
        left: What is left of the nodes.
        node: (tasks,) node of each task, or -1.
        task: Number of the task.

    Returns:
        The explanation.
    """
    item = int(
        np.searchsorted(instance.task_ptr, np.flatnonzero(instance.task == task)[0], "right")
    )
    j = int(instance.kind[item - 1])
    own = int(node[task])
    now, empty = (fitting(m, instance.types, j).astype(np.bool_) for m in (left, instance.empty()))
    if own >= 0:
        now[own] = False
    names = instance.nodes
    return Explanation(
        str(instance.tasks[task]),
        str(names[own]) if own >= 0 else "",
        int(now.sum()),
        int(empty.sum()),
        {} if own >= 0 else _lacking(instance, left, j),
        len(names),
    )


def _lacking(instance: Instance, left: Machines, j: int) -> dict[str, int]:
    """Numbers of nodes that lack something for an item of type j."""
    types = instance.types
    out: dict[str, int] = {}
    right = types.allowed[j][instance.model]
    if not right.all():
        out["a GPU of the right model"] = int((~right).sum())
    for r, name in enumerate(instance.resources):
        short = types.need[j, r] > left.left[:, r]
        if short.any():
            out[name] = int(short.sum())
    if types.ptr[j] < types.ptr[j + 1]:
        short = ~_has_gpus(left, types.request[types.ptr[j] : types.ptr[j + 1]])
        if short.any():
            out["GPUs"] = int(short.sum())
    held = np.zeros(len(instance.nodes), dtype=np.bool_)
    for group in types.group[types.group_ptr[j] : types.group_ptr[j + 1]].tolist():
        held |= (left.held[:, group // 64] >> np.uint64(group % 64) & np.uint64(1)).astype(np.bool_)
    if held.any():
        out["nodes without a task of its anti-affinity"] = int(held.sum())
    return out


def _has_gpus(left: Machines, request: Ints) -> Bools:
    """(nodes,) whether enough GPUs have room for the largest requests, counted one by one."""
    fullest = -np.sort(-left.device, axis=1)
    most = min(len(request), fullest.shape[1])
    enough = np.all(fullest[:, :most] >= request[:most], axis=1)
    enough &= left.device.sum(axis=1) >= request.sum()
    return np.asarray(enough)
