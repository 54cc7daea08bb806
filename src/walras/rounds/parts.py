"""The parts of a snapshot: rules, tasks, clusters, tenants, features, and the tasks not listed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from walras.errors import InputError
from walras.rounds.fields import LARGEST, checked, count_of, take, take_labels, take_texts
from walras.types import Bools, Floats, Longs

Labels = Mapping[str, str]
_MOST_SLOTS = 2**20  # of a cluster

STATES = ("up", "cordoned", "draining", "down")
"""States of a cluster: ``cordoned`` takes nothing new, ``draining`` gives its offers back, too;
``down`` is one whose agents are not heard."""


def _fields(kind: type[Any], names: str) -> set[str]:
    """Fields of a part but its names."""
    return {item.name for item in fields(kind)} - {names}


def _rows(given: object) -> int:
    """Rows of what should be an array; 0 where it has none."""
    try:
        return len(given)  # type: ignore[arg-type]
    except TypeError:
        return 0


@dataclass(frozen=True)
class Rules:
    """What every plan must keep.

    Attributes:
        min_success: The floor: least mean chance of success of the tasks placed, 0 to 1.
        window: Slots that a plan may fill, as a multiple of the slots that are free. At 1 every
            task placed can start at once; more lets tasks queue on clusters.
        kappa: A provider that is not trusted gets at most ``ceil((1 + kappa) v n) + 1`` of n
            tasks placed, v its share of the work confirmed.

    Raises:
        InputError: A number is outside its range.

    Example:
        >>> from walras.rounds import Rules
        >>> Rules(min_success=0.9)
        Rules(min_success=0.9, window=1.0, kappa=0.25)
    """

    min_success: float = 0.8
    window: float = 1.0
    kappa: float = 0.25

    def __post_init__(self) -> None:
        for name, high in (("min_success", 1.0), ("window", 1e6), ("kappa", 1e6)):
            value = checked(getattr(self, name), f"Rules.{name}", np.float64, (), 0.0, high)
            object.__setattr__(self, name, float(value))


@dataclass(frozen=True, eq=False)
class Tasks:
    """The tasks that a round may place, one entry each in every array of length N.

    Attributes:
        key: (N,) number in the store.
        uid: (N,) names, distinct.
        tenant: (N,) which tenant of the snapshot.
        priority: (N,) higher goes first.
        submitted: (N,) time of submission, seconds.
        deadline: (N,) time by which it must be placed; infinite for none.
        slots: (N,) slots it takes on a cluster.
        min_success: (N,) least chance of success it accepts; 0 for none.
        requires: (N,) which of the snapshot's requirements.
        feature_set: (N,) which of the snapshot's feature sets.
        attempt: (N,) placements so far.
        version: (N,) version of its row; a task that changed since drops out of the plan.
        pin: (N,) the one cluster it may go to, or -1.
        previous: (N,) cluster of its last placement, or -1.
        ahead: (N,) waiting tasks that come before it, or -1 where it is not in line.

    Raises:
        InputError: A shape or a number cannot be used.

    Example:
        >>> from walras.rounds import Tasks
        >>> Tasks.of(["train", "test"], slots=[1, 2]).slots
        array([1, 2])
    """

    key: Longs
    uid: tuple[str, ...]
    tenant: Longs
    priority: Longs
    submitted: Floats
    deadline: Floats
    slots: Longs
    min_success: Floats
    requires: Longs
    feature_set: Longs
    attempt: Longs
    version: Longs
    pin: Longs
    previous: Longs
    ahead: Longs

    def __post_init__(self) -> None:
        n = take_texts(self, "uid", None, distinct=True)
        for name, low in _TASK_NUMBERS.items():
            take(self, name, np.int64, (n,), low, LARGEST)
        take(self, "submitted", np.float64, (n,))
        take(self, "deadline", np.float64, (n,))
        take(self, "min_success", np.float64, (n,), 0.0, 1.0)

    @classmethod
    def of(cls, uid: list[str] | tuple[str, ...], **given: npt.ArrayLike) -> Tasks:
        """Tasks with defaults for what is not given.

        Args:
            uid: (N,) names, distinct.
            given: Other fields, (N,) each. Their defaults: the first tenant, requirement and
                feature set; priority 0, one slot, no deadline, no least success, the order given.

        Returns:
            The tasks.

        Raises:
            InputError: A field is unknown, or a shape or a number cannot be used.
        """
        n = count_of(uid, "Tasks.of", _TASK_NUMBERS.keys() | _TASK_FLOATS, given)
        made: dict[str, Any] = {name: np.zeros(n, np.int64) for name in _TASK_NUMBERS}
        made |= {name: np.zeros(n) for name in _TASK_FLOATS}
        made |= {"key": np.arange(1, n + 1), "slots": np.ones(n, np.int64)}
        made |= {"pin": np.full(n, -1), "previous": np.full(n, -1), "ahead": np.arange(n)}
        made["deadline"] = np.full(n, np.inf)
        return cls(uid=tuple(uid), **made | given)

    def __len__(self) -> int:
        return len(self.uid)


_TASK_FLOATS = {"submitted", "deadline", "min_success"}
_TASK_NUMBERS = {
    "key": 0,
    "tenant": 0,
    "priority": -LARGEST,
    "slots": 1,
    "requires": 0,
    "feature_set": 0,
    "attempt": 0,
    "version": 0,
    "pin": -1,
    "previous": -1,
    "ahead": -1,
}


@dataclass(frozen=True, eq=False)
class Clusters:
    """The clusters, one entry each in every array of length M.

    Attributes:
        key: (M,) number in the store.
        uid: (M,) names, distinct.
        provider: (M,) who offers it.
        trusted: (M,) whether it is exempt from the bound on a provider's share.
        slots: (M,) slots that it has.
        offered: (M,) slots of offers that no agent has taken yet.
        ready: (slots of all clusters,) seconds until each slot is free, cluster after cluster: 0
            where it is free, infinite where nobody serves it.
        labels: (M,) labels of each.
        price: (M,) price of a slot-hour.
        state: (M,) one of ``up``, ``cordoned``, ``draining``, ``down``.
        confirmed: (M,) slot-seconds of confirmed work in the last rounds.

    Raises:
        InputError: A shape, number or state cannot be used.

    Example:
        >>> from walras.rounds import Clusters
        >>> Clusters.of(["east", "west"], slots=[2, 4]).free
        array([2, 4])
    """

    key: Longs
    uid: tuple[str, ...]
    provider: tuple[str, ...]
    trusted: Bools
    slots: Longs
    offered: Longs
    ready: Floats
    labels: tuple[Labels, ...]
    price: Floats
    state: tuple[str, ...]
    confirmed: Floats

    def __post_init__(self) -> None:
        m = take_texts(self, "uid", None, distinct=True)
        take_texts(self, "provider", m)
        take_texts(self, "state", m)
        take_labels(self, "labels", m)
        take(self, "key", np.int64, (m,), 0, LARGEST)
        take(self, "trusted", np.bool_, (m,))
        take(self, "slots", np.int64, (m,), 0, _MOST_SLOTS)
        take(self, "offered", np.int64, (m,), 0, LARGEST)
        take(self, "ready", np.float64, (int(self.slots.sum()),), 0.0)
        take(self, "price", np.float64, (m,), 0.0)
        take(self, "confirmed", np.float64, (m,), 0.0, 1e300)
        wrong = sorted(set(self.state) - set(STATES))
        if wrong:
            raise InputError(f"is '{wrong[0]}'", where="Clusters.state", allowed=", ".join(STATES))

    @classmethod
    def of(cls, uid: list[str] | tuple[str, ...], **given: Any) -> Clusters:
        """Clusters with defaults for what is not given.

        Args:
            uid: (M,) names, distinct.
            given: Other fields, (M,) each. Their defaults: a provider of the cluster's own name,
                one slot, all slots free, no labels, price 0, ``up``, no confirmed work.

        Returns:
            The clusters.

        Raises:
            InputError: A shape, number or state cannot be used.
        """
        m = count_of(uid, "Clusters.of", _fields(cls, "uid"), given)
        ones = np.ones(m, np.int64)
        slots = checked(given.pop("slots", ones), "Clusters.slots", np.int64, (m,), 0, _MOST_SLOTS)
        made: dict[str, Any] = {
            "key": np.arange(1, m + 1),
            "provider": tuple(uid),
            "trusted": np.zeros(m, np.bool_),
            "offered": np.zeros(m, np.int64),
            "ready": np.zeros(int(slots.sum())),
            "labels": ({},) * m,
            "price": np.zeros(m),
            "state": ("up",) * m,
            "confirmed": np.zeros(m),
        }
        return cls(uid=tuple(uid), slots=slots, **made | given)

    def __len__(self) -> int:
        return len(self.uid)

    @cached_property
    def start(self) -> Longs:
        """(M + 1,) where the slots of each cluster begin in ``ready``."""
        return np.concatenate([[0], np.cumsum(self.slots)])

    @cached_property
    def free(self) -> Longs:
        """(M,) slots that are free now."""
        owner = np.repeat(np.arange(len(self)), self.slots)
        return np.bincount(owner, self.ready == 0.0, len(self)).astype(np.int64)

    @cached_property
    def up(self) -> Bools:
        """(M,) whether it takes tasks."""
        return np.array([state == "up" for state in self.state], np.bool_)

    def ready_of(self, i: int) -> Floats:
        """Seconds until each slot of a cluster is free, ascending.

        Args:
            i: Which cluster.

        Returns:
            (slots of the cluster,) seconds.
        """
        return np.sort(self.ready[self.start[i] : self.start[i + 1]])


@dataclass(frozen=True, eq=False)
class Tenants:
    """The tenants, one entry each in every array of length T.

    Attributes:
        name: (T,) names, distinct.
        weight: (T,) weight in the fair share, > 0.
        quota: (T,) slots it may use at once, or -1 for no limit.
        in_use: (T,) slots that its runs and offers take now.
        used: (T,) slot-seconds granted, decayed to the time of the snapshot.

    Raises:
        InputError: A shape or a number cannot be used.

    Example:
        >>> from walras.rounds import Tenants
        >>> Tenants.of(["lab", "web"], weight=[1, 3]).weight
        array([1., 3.])
    """

    name: tuple[str, ...]
    weight: Floats
    quota: Longs
    in_use: Longs
    used: Floats

    def __post_init__(self) -> None:
        t = take_texts(self, "name", None, distinct=True)
        take(self, "weight", np.float64, (t,), np.finfo(float).tiny, 1e300)
        take(self, "quota", np.int64, (t,), -1, LARGEST)
        take(self, "in_use", np.int64, (t,), 0, LARGEST)
        take(self, "used", np.float64, (t,), 0.0, 1e300)

    @classmethod
    def of(cls, name: list[str] | tuple[str, ...], **given: npt.ArrayLike) -> Tenants:
        """Tenants with defaults for what is not given.

        Args:
            name: (T,) names, distinct.
            given: Other fields, (T,) each. Their defaults: weight 1, no quota, nothing used.

        Returns:
            The tenants.

        Raises:
            InputError: A shape or a number cannot be used.
        """
        t = count_of(name, "Tenants.of", _fields(cls, "name"), given)
        made: dict[str, Any] = {"weight": np.ones(t), "quota": np.full(t, -1)}
        made |= {"in_use": np.zeros(t, np.int64), "used": np.zeros(t)}
        return cls(name=tuple(name), **made | given)

    def __len__(self) -> int:
        return len(self.name)


@dataclass(frozen=True, eq=False)
class FeatureSet:
    """Features of the tasks that have the same ones.

    Attributes:
        names: (D,) names of the features.
        values: (tasks of the set, D) float32, a row a task in the order of the snapshot.

    Raises:
        InputError: A shape or a number cannot be used.

    Example:
        >>> import numpy as np
        >>> from walras.rounds import FeatureSet
        >>> FeatureSet(("layers",), np.array([[8], [16]], np.float32)).values.shape
        (2, 1)
    """

    names: tuple[str, ...]
    values: npt.NDArray[np.float32]

    def __post_init__(self) -> None:
        d = take_texts(self, "names", None, distinct=True)
        take(self, "values", np.float32, (_rows(self.values), d))


@dataclass(frozen=True, eq=False)
class Rest:
    """Waiting tasks that the snapshot counts and does not list, by what they have in common.

    Attributes:
        tenant: (R,) which tenant.
        priority: (R,) their priority.
        requires: (R,) which requirement.
        slots: (R,) slots that each takes.
        count: (R,) their number.

    Raises:
        InputError: A shape or a number cannot be used.

    Example:
        >>> from walras.rounds import Rest
        >>> Rest.none().count.sum()
        np.int64(0)
    """

    tenant: Longs
    priority: Longs
    requires: Longs
    slots: Longs
    count: Longs

    def __post_init__(self) -> None:
        r = (_rows(self.count),)
        for name, low in (("tenant", 0), ("requires", 0), ("slots", 1), ("count", 1)):
            take(self, name, np.int64, r, low, LARGEST)
        take(self, "priority", np.int64, r, -LARGEST, LARGEST)

    @classmethod
    def none(cls) -> Rest:
        """No such tasks.

        Returns:
            Arrays of no entries.
        """
        return cls(*(np.zeros(0, np.int64),) * 5)
