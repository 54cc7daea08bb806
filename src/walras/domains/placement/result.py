"""A placement: the node and the GPUs of each task, and the bound beside its value."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import pandas as pd

from walras import checks
from walras.domains.placement.explain import Explanation, explain
from walras.domains.placement.fragmentation import mix_of_types
from walras.domains.placement.instance import SLACK, Instance, spread
from walras.kernels.packing.machines import Machines
from walras.kernels.packing.measures import unusable_each
from walras.saving import save
from walras.status import Status
from walras.types import Ints, Longs


@dataclass(frozen=True, eq=False)
class Placed:
    """A placement of tasks, with a bound that none exceeds; immutable.

    Value, moves and what is left are computed from the items' nodes and the instance alone.

    Attributes:
        instance: The nodes and tasks.
        home: (items,) node of each item, -1 where it is not placed.
        chosen: (requests,) GPU of each request of each item, item by item.
        bound: An upper bound on the value of any placement.
        status: ``optimal`` when the gap is within the tolerance.
        seconds: Wall time.

    Example:
        >>> import pandas as pd
        >>> from walras.domains import placement as pl
        >>> nodes = pd.DataFrame({"cpu": [8, 8]}, index=["a", "b"])
        >>> tasks = pd.DataFrame({"cpu": [3, 3, 6, 8]}, index=["x", "y", "z", "big"])
        >>> p = pl.place(nodes, tasks)
        >>> p.value, round(p.bound, 6), p.placed
        (3.0, 3.0, 3)
    """

    instance: Instance
    home: Ints
    chosen: Ints
    bound: float
    status: Status
    seconds: float

    def __post_init__(self) -> None:
        for name in ("home", "chosen"):
            object.__setattr__(self, name, checks.read_only(getattr(self, name)))

    @cached_property
    def node_number(self) -> Ints:
        """(tasks,) number of each task's node, -1 where it is not placed."""
        out = np.empty(len(self.instance.tasks), dtype=np.int32)
        out[self.instance.task] = np.repeat(self.home, np.diff(self.instance.task_ptr))
        return checks.read_only(out)

    @cached_property
    def node(self) -> pd.Series:
        """Name of each task's node; empty where the task is not placed."""
        names = np.append(self.instance.nodes.to_numpy(dtype=object), "")
        return pd.Series(names[self.node_number], index=self.instance.tasks, name="node")

    @cached_property
    def gpus(self) -> pd.Series:
        """Numbers of each task's GPUs on its node, as a tuple."""
        instance = self.instance
        out: list[list[int]] = [[] for _ in range(len(instance.tasks))]
        owner, item, _ = self._owners
        for task, gpu, home in zip(
            owner.tolist(), self.chosen.tolist(), self.home[item].tolist(), strict=True
        ):
            if home >= 0:
                out[task].append(gpu)
        return pd.Series([tuple(sorted(g)) for g in out], index=instance.tasks, name="gpus")

    @cached_property
    def _owners(self) -> tuple[Longs, Longs, Longs]:
        """Task, item, and place in the type's list, of each request."""
        instance = self.instance
        item, at = spread(instance.types.ptr, instance.kind)
        task = instance.task[instance.task_ptr[item] + instance.request_task[at]]
        return task, item, at

    @property
    def placed(self) -> int:
        """Number of tasks that are placed."""
        return int((self.node_number >= 0).sum())

    @property
    def moves(self) -> int:
        """Number of tasks that ran on another node before."""
        was, home = self.instance.was, self.home
        moved = (was >= 0) & (home >= 0) & (was != home)
        return int(np.diff(self.instance.task_ptr)[moved].sum())

    @property
    def value(self) -> float:
        """Worth of what is placed, less the price of the moves."""
        total = float(self.instance.types.value[self.instance.kind[self.home >= 0]].sum())
        return total - (self.instance.move_price * self.moves if self.moves else 0.0)

    @property
    def gap(self) -> float:
        """The possible distance of the value from the greatest, relative to the bound."""
        return max(0.0, self.bound - self.value) / max(self.bound, 1e-300)

    @cached_property
    def left(self) -> Machines:
        """What is left of each node: resources, thousandths of each GPU, groups."""
        instance = self.instance
        machines, types, kind = instance.empty(), instance.types, instance.kind
        placed = np.flatnonzero(self.home >= 0)
        np.subtract.at(machines.left, self.home[placed], types.need[kind[placed]])
        _, item, at = self._owners
        on = self.home[item] >= 0
        where = self.home[item[on]], self.chosen[on]
        np.subtract.at(machines.device, where, types.request[at[on]])
        one, at = spread(types.group_ptr, kind[placed])
        group = types.group[at].astype(np.uint64)
        words = self.home[placed[one]], (group >> np.uint64(6)).astype(np.int64)
        np.bitwise_or.at(machines.held, words, np.uint64(1) << (group & np.uint64(63)))
        return machines

    @cached_property
    def violation(self) -> float:
        """Largest violation of a node's resources or of a GPU, relative to what there is."""
        instance, left = self.instance, self.left
        over = -(left.left - instance.capacity * SLACK) / np.maximum(instance.capacity, 1.0)
        return float(max(0.0, over.max(initial=0.0), -left.device.min(initial=0) / 1000.0))

    @cached_property
    def fragmentation(self) -> float:
        """GPUs that are idle and that a task, drawn from those given, could not use, expected.

        Source: Weng et al., USENIX ATC 2023, section 3.
        """
        mix = mix_of_types(self.instance.types, self.instance.count)
        left = self.left
        return float(unusable_each(left.left, left.device, left.model, mix).sum()) / 1000.0

    @property
    def idle_gpus(self) -> float:
        """GPUs that nothing uses."""
        return float(self.left.device.sum()) / 1000.0

    def explain(self, task: str) -> Explanation:
        """Say where a task is, or what keeps it from each node.

        Args:
            task: Its name.

        Returns:
            What the nodes lack; as text by ``print``.

        Raises:
            InputError: There is no such task.
        """
        checks.one_of(task, "task", self.instance.tasks, "task")
        number = int(self.instance.tasks.get_indexer(pd.Index([task]))[0])
        return explain(self.instance, self.left, self.node_number, number)

    def frame(self) -> pd.DataFrame:
        """The placement as a table: columns ``task``, ``node``, ``gpus``, ``moved_from``."""
        instance = self.instance
        was = np.empty(len(instance.tasks), dtype=np.int64)
        was[instance.task] = np.repeat(instance.was, np.diff(instance.task_ptr))
        moved = (was >= 0) & (was != self.node_number)
        names = np.append(instance.nodes.to_numpy(dtype=object), "")
        return pd.DataFrame(
            {
                "task": instance.tasks,
                "node": self.node.to_numpy(),
                "gpus": [" ".join(map(str, g)) for g in self.gpus],
                "moved_from": names[np.where(moved, was, -1)],
            }
        )

    def save(self, path: str | Path) -> None:
        """Write the result to one file, which :func:`walras.load` reads.

        Args:
            path: The file, such as ``placed.npz``.

        Raises:
            DataError: The file cannot be written.
        """
        save(self, path)

    def __repr__(self) -> str:
        words = f"{self.placed} of {len(self.instance.tasks)} tasks, value {self.value:.6g}"
        return f"Placed({self.status}, {words}, gap {self.gap:.1e})"
