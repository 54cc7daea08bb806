"""Place tasks on nodes such that what is placed is worth most."""

from __future__ import annotations

import pandas as pd

from walras.domains.placement.inputs import Previous, make_instance
from walras.domains.placement.instance import Instance
from walras.domains.placement.options import Options
from walras.domains.placement.result import Placed
from walras.domains.placement.search import search
from walras.progress import OnProgress


def place(
    nodes: pd.DataFrame,
    tasks: pd.DataFrame,
    previous: Previous = None,
    move_price: float | None = None,
    *,
    tolerance: float = 1e-3,
    attempts: int = 40,
    time_limit: float | None = None,
    seed: int = 0,
    on_progress: OnProgress | None = None,
) -> Placed:
    """Place tasks on nodes such that what is placed is worth most, with a proved bound.

    A task needs an amount of each resource, and GPUs: a whole number of them, or a share of one. A
    node holds tasks up to its amounts; a GPU is shared by tasks up to 1, and its owners of a whole
    one have it alone. Shares count in thousandths, rounded up.

    Args:
        nodes: One row a node, by name (the index, or a column ``node``). Columns: ``gpus``, a whole
            number; ``model`` of the GPUs; every other column is a resource, such as ``cpu``.
        tasks: One row a task, by name (the index, or a column ``task``). Columns: the resources of
            the nodes; ``gpus``, a share below 1 or a whole number; ``model``, the GPU models that
            it can use, joined by bars, any if empty; ``affinity``: tasks of one label are placed on
            one node, all or none; ``anti_affinity``: a node holds one task of a label; ``value``, a
            task's worth: by default its GPUs, or 1 where no task has GPUs. Tasks that are worth
            nothing are placed where room is left.
        previous: Node of each task that runs already, by the task's name. Names that are not among
            the tasks are left out: over rounds, those of tasks that have ended.
        move_price: What it costs to move a running task to another node, in the unit of ``value``;
            None if they all stay.
        tolerance: Certified relative gap at which the search ends.
        attempts: Most attempts of the local search, for each node.
        time_limit: Seconds, or None for no limit.
        seed: Seed of the random choices.
        on_progress: Called with a :class:`walras.progress.Progress`; returning True stops.

    Returns:
        The placement, and a bound that none exceeds.

    Raises:
        InputError: Something in the tables cannot be used, or running tasks that must stay do not
            fit.

    Example:
        >>> import pandas as pd
        >>> import walras as wl
        >>> nodes = pd.DataFrame(
        ...     {"cpu": [32, 32], "gpus": [2, 2], "model": ["T4", "A10"]}, index=["a", "b"]
        ... )
        >>> tasks = pd.DataFrame(
        ...     {"cpu": [8, 8, 8, 4], "gpus": [2, 0.5, 0.7, 0.3], "model": ["", "T4", "A10", ""]},
        ...     index=["train", "serve", "tune", "try"],
        ... )
        >>> p = wl.domains.placement.place(nodes, tasks)
        >>> p.node.to_dict()
        {'train': 'a', 'serve': '', 'tune': 'b', 'try': 'b'}
        >>> round(p.value, 6), p.status
        (3.0, <Status.OPTIMAL: 'optimal'>)
    """
    how = Options(
        tolerance=tolerance,
        attempts=attempts,
        time_limit=time_limit,
        seed=seed,
        on_progress=on_progress,
    )
    return solve_instance(make_instance(nodes, tasks, previous, move_price), how)


def solve_instance(instance: Instance, options: Options | None = None) -> Placed:
    """Place the tasks of an instance; see :func:`place`.

    Args:
        instance: Of :func:`make_instance`.
        options: Settings; the defaults if None.

    Returns:
        The placement.

    Raises:
        InputError: Running tasks that must stay do not fit.

    Example:
        >>> import pandas as pd
        >>> from walras.domains import placement as pl
        >>> nodes = pd.DataFrame({"cpu": [8, 8]}, index=["a", "b"])
        >>> tasks = pd.DataFrame({"cpu": [3, 3, 6]}, index=["x", "y", "z"])
        >>> print(pl.solve_instance(pl.make_instance(nodes, tasks)).gap)
        0.0
    """
    return search(instance, options or Options())
