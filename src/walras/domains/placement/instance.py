"""Nodes and tasks as arrays: kinds of nodes, types of tasks, and what each task asks of one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from walras.kernels.packing.machines import Machines, Types
from walras.saving import saved_fields
from walras.types import Floats, Ints, Longs

SLACK = 1e-9  # relative room above a capacity, for sums that rounding pushes over it


@dataclass(frozen=True, eq=False)
class Instance:
    """Nodes, and tasks to be placed on them; immutable.

    Tasks that must be together are one item, any other task is one alone. Items that ask for the
    same are of one type.

    Attributes:
        nodes: (nodes,) names.
        tasks: (tasks,) names.
        resources: Names of the resources, such as cpu and memory.
        models: Names of the GPU models; nodes without one have the model "".
        capacity: (nodes, resources).
        gpus: (nodes,) number of GPUs.
        model: (nodes,) number of its model.
        types: What the items of each type need.
        kind: (items,) type of each item.
        was: (items,) node of each before, -1 for none.
        task_ptr: (items + 1,) places of an item's tasks.
        task: (tasks,) tasks, item by item, in the order of their requests.
        request_task: (requests,) of each request of a type, which of the item's tasks makes it.
        groups: Number of groups of tasks that must be apart.
        move_price: What it costs to place a task elsewhere than before; infinite if it must stay.

    Example:
        >>> import pandas as pd
        >>> from walras.domains import placement as pl
        >>> nodes = pd.DataFrame({"cpu": [8, 8]}, index=["a", "b"])
        >>> tasks = pd.DataFrame({"cpu": [3, 3, 6]}, index=["x", "y", "z"])
        >>> pl.make_instance(nodes, tasks).count  # two types: of 3 and of 6
        array([2, 1])
    """

    nodes: pd.Index
    tasks: pd.Index
    resources: tuple[str, ...]
    models: tuple[str, ...]
    capacity: Floats
    gpus: Ints
    model: Ints
    types: Types
    kind: Ints
    was: Ints
    task_ptr: Longs
    task: Longs
    request_task: Ints
    groups: int
    move_price: float

    @property
    def is_fixed(self) -> bool:
        """Whether tasks that were on a node must stay there."""
        return bool(np.isinf(self.move_price))

    @cached_property
    def count(self) -> Longs:
        """(types,) number of items."""
        return np.bincount(self.kind, minlength=len(self.types.value))

    @cached_property
    def devices(self) -> Floats:
        """(types,) GPUs that an item takes in all."""
        asked = np.add.reduceat(
            np.append(self.types.request, 0),
            np.minimum(self.types.ptr[:-1], len(self.types.request)),
        )
        return np.where(np.diff(self.types.ptr) > 0, asked, 0) / 1000.0

    def empty(self) -> Machines:
        """The nodes with nothing on them."""
        most = max(1, int(self.gpus.max(initial=0)))
        device = np.where(np.arange(most) < self.gpus[:, None], 1000, 0).astype(np.int32)
        words = (self.groups + 63) // 64
        return Machines(
            self.capacity * (1.0 + SLACK),
            device,
            np.zeros((len(self.nodes), max(1, words)), dtype=np.uint64),
            self.model,
        )

    def to_saved(self) -> dict[str, Any]:
        """Its parts by name, for :func:`walras.load`."""
        return saved_fields(self) | {"nodes": tuple(self.nodes), "tasks": tuple(self.tasks)}

    @classmethod
    def from_saved(cls, parts: Mapping[str, Any]) -> Instance:
        """The instance of these parts."""
        names = {key: pd.Index(parts[key], dtype=object) for key in ("nodes", "tasks")}
        return cls(**{**parts, **names, "types": Types(*parts["types"])})


def spread(ptr: Longs, kind: Ints) -> tuple[Longs, Longs]:
    """What the types of items list, item by item: the item, and the place in the types' list.

    ``ptr``: (types + 1,) places of each type's entries. ``kind``: (items,) type of each.
    """
    count = np.diff(ptr)[kind]
    item = np.repeat(np.arange(len(kind)), count)
    first = np.cumsum(count) - count
    return item, np.arange(len(item)) - first[item] + ptr[kind[item]]


@dataclass(frozen=True, eq=False)
class Kinds:
    """Machines that have the same left, as one kind.

    Attributes:
        machines: One machine of each kind.
        of: (machines,) kind of each.
        count: (kinds,) number of machines.
    """

    machines: Machines
    of: Longs
    count: Longs


def kinds_of(machines: Machines) -> Kinds:
    """Group machines that have the same left, in whatever order of their devices."""
    device = -np.sort(-machines.device, axis=1)
    table = pd.DataFrame(np.hstack([machines.left, device, machines.model[:, None]]))
    for word in range(machines.held.shape[1]):  # a float would drop bits
        table[f"held {word}"] = machines.held[:, word]
    of = table.groupby(list(table.columns), sort=False).ngroup().to_numpy(dtype=np.int64)
    first = np.unique(of, return_index=True)[1]
    return Kinds(
        Machines(
            machines.left[first],
            np.ascontiguousarray(device[first]),
            machines.held[first],
            machines.model[first],
        ),
        of.astype(np.int64),
        np.bincount(of).astype(np.int64, copy=False),
    )
