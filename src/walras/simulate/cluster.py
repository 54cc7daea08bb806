"""A cluster of the simulator: how many workers it has of each type."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from walras import checks
from walras.errors import InputError
from walras.types import Longs

_MOST = 2**31


@dataclass(frozen=True, eq=False)
class Cluster:
    """Types of workers, such as GPUs, and the number of workers of each.

    The order of the types matters where a rule goes through them in turn, as FIFO does.

    Attributes:
        counts: Type -> number of workers, at least one.

    Raises:
        InputError: There is no type, a name is blank or no text, or a number is no whole number
            above 0.

    Example:
        >>> import walras as wl
        >>> cluster = wl.simulate.Cluster({"v100": 36, "p100": 36, "k80": 36})
        >>> cluster.types, cluster.workers
        (('v100', 'p100', 'k80'), array([36, 36, 36]))
    """

    counts: Mapping[str, int]

    def __post_init__(self) -> None:
        given: object = self.counts
        if not isinstance(given, Mapping) or not given:
            raise InputError(
                f"is {checks.shown(given)}",
                where="Cluster",
                allowed="type -> number of workers, at least one type",
                remedy='write Cluster({"v100": 36, "k80": 12})',
            )
        made = {
            checks.text(name, "name of a type", blank=False): checks.whole(
                count, f"Cluster[{name!r}]", 1, _MOST, remedy="leave out a type without workers"
            )
            for name, count in given.items()
        }
        object.__setattr__(self, "counts", made)

    @property
    def types(self) -> tuple[str, ...]:
        """(T,) names of the types, in order."""
        return tuple(self.counts)

    @property
    def workers(self) -> Longs:
        """(T,) number of workers of each type."""
        return np.array(list(self.counts.values()), np.int64)

    def __repr__(self) -> str:
        return f"Cluster({', '.join(f'{count} {name}' for name, count in self.counts.items())})"
