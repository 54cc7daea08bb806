"""Tasks that arrive one by one, and the policies that place each at once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from walras import checks
from walras.domains.placement.fragmentation import mix_of_types
from walras.domains.placement.instance import Instance
from walras.errors import InputError
from walras.kernels.local_search.random_numbers import seeded
from walras.kernels.packing import arrivals
from walras.kernels.packing.machines import Types
from walras.kernels.packing.measures import Mix
from walras.types import Ints, Longs

POLICIES = {
    "random": arrivals.RANDOM,
    "dot_product": arrivals.DOT_PRODUCT,
    "packing": arrivals.PACKING,
    "best_fit": arrivals.BEST_FIT,
    "fgd": arrivals.FGD,
    "fill": arrivals.FILL,
}
"""Number of each policy in the kernel."""

_POPULAR = 0.95  # share of the tasks that FGD's typical ones make up


def arrive(
    instance: Instance,
    arriving: Sequence[int] | Ints | Longs,
    policy: str = "fill",
    *,
    seed: int = 0,
) -> Ints:
    """Place items that arrive one by one, each for good, on the empty nodes.

    ``fill``, ours, takes the node where the sum of two losses falls most: what the next task could
    not use (FGD's measure), and what would stay idle if the node were filled with tasks like one
    that may come. ``fgd``, ``best_fit``, ``packing``, ``dot_product`` and ``random`` are as Weng et
    al. released them (USENIX ATC 2023). A task that fits is never refused.

    Args:
        instance: Nodes, and the tasks whose mix is expected; tasks of one affinity are one item.
        arriving: (arrivals,) numbers of the arriving items.
        policy: One of those named above.
        seed: Of the order of nodes that breaks ties, and of ``random``.

    Returns:
        (arrivals,) number of each arrival's node, -1 where none has room.

    Raises:
        InputError: There is no such policy or item, or tasks must be apart.

    Example:
        >>> import pandas as pd
        >>> from walras.domains import placement as pl
        >>> nodes = pd.DataFrame({"cpu": [8, 8], "gpus": [1, 1]}, index=["a", "b"])
        >>> tasks = pd.DataFrame({"cpu": [2, 2], "gpus": [0.6, 0.4]}, index=["x", "y"])
        >>> instance = pl.make_instance(nodes, tasks)
        >>> on = pl.arrive(instance, [0, 1, 0, 1, 0])
        >>> bool(on[0] == on[1]), bool(on[2] == on[3]), int(on[4])
        (True, True, -1)
    """
    checks.one_of(policy, "policy", POLICIES, "policy")
    items = np.asarray(arriving, dtype=np.int64)
    if items.ndim != 1 or np.any((items < 0) | (items >= len(instance.kind))):
        raise InputError(
            "names an item that is not there",
            where="arriving",
            allowed=f"whole numbers, 0 to {len(instance.kind) - 1}",
            remedy="number the items of the instance",
        )
    if instance.groups or np.any(np.diff(instance.task_ptr) > 1) or not instance.resources:
        raise InputError(
            "has tasks that must be together or apart, or no resource",
            where="instance",
            allowed="tasks without affinity and anti_affinity",
            remedy="place them with place()",
        )
    typical, coming = _mixes(instance)
    order = np.random.default_rng(seed).permutation(len(instance.nodes)).astype(np.int32)
    return np.asarray(
        arrivals.arrive(
            POLICIES[policy],
            instance.kind[items],
            order,
            instance.empty(),
            instance.gpus,
            instance.types,
            typical,
            coming,
            seeded(seed),
        )
    )


def _mixes(instance: Instance) -> tuple[Mix, Mix]:
    """FGD's typical tasks, which ask for the first resource alone, and all tasks with GPUs."""
    types = instance.types
    number = np.diff(types.ptr)
    table = pd.DataFrame({"need": types.need[:, 0], "number": number})
    table["amount"] = 0
    table.loc[number > 0, "amount"] = types.request[types.ptr[:-1][number > 0]]
    for m in range(types.allowed.shape[1]):
        table[f"allowed {m}"] = types.allowed[:, m]
    merged = table.groupby(list(table.columns), sort=False).ngroup().to_numpy(dtype=np.int64)
    count = np.bincount(merged, instance.count).astype(np.int64)
    first = np.unique(merged, return_index=True)[1].astype(np.int64)
    need = np.zeros((len(first), types.need.shape[1]))
    need[:, 0] = types.need[first, 0]
    typical = mix_of_types(_only(types, first)._replace(need=need), count, _POPULAR)
    with_gpus = np.where(number > 0, instance.count, 0)
    if not with_gpus.any():
        with_gpus = instance.count
    return typical, mix_of_types(types, with_gpus)


def _only(types: Types, kept: Longs) -> Types:
    """Some of the types."""
    at = [np.arange(types.ptr[j], types.ptr[j + 1]) for j in kept.tolist()]
    return types._replace(
        need=types.need[kept],
        ptr=np.concatenate([[0], np.cumsum([len(a) for a in at])]).astype(np.int64),
        request=types.request[np.concatenate([*at, np.zeros(0, dtype=np.int64)])],
        allowed=types.allowed[kept],
    )
