"""A snapshot: all that a round decides from, as arrays and names."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from walras.errors import DataError, InputError
from walras.files import replacing
from walras.rounds.canonical import digest, pack, unpack
from walras.rounds.fields import LARGEST, part, split, take, take_labels
from walras.rounds.parts import Clusters, FeatureSet, Labels, Rest, Rules, Tasks, Tenants
from walras.types import Bools, Longs

FORMAT = 1  # of a snapshot's bytes


@dataclass(frozen=True, eq=False)
class Snapshot:
    """All that a round decides from; the same snapshot and seed give the same decision.

    Attributes:
        at: The time it was taken, seconds of the service's clock.
        rules: What every plan must keep.
        tasks: N tasks that may be placed.
        clusters: M clusters.
        tenants: T tenants.
        requirements: Sets of labels; tasks name them by number. The first is of no labels.
        features: Feature sets; tasks name them by number.
        tried: (pairs, 2) task and cluster of each pair that failed before.
        typical: Seconds that a task takes as long as nothing better is known.
        rest: Waiting tasks that are not listed.

    Raises:
        InputError: A shape, number or reference cannot be used.

    Example:
        >>> from walras.rounds import Clusters, Snapshot, Tasks, Tenants
        >>> snapshot = Snapshot.of(
        ...     Tasks.of(["train", "test"]), Clusters.of(["east", "west"]), Tenants.of(["lab"])
        ... )
        >>> snapshot == Snapshot.from_bytes(snapshot.to_bytes()), snapshot.hash[:8]
        (True, '...')
    """

    at: float
    rules: Rules
    tasks: Tasks
    clusters: Clusters
    tenants: Tenants
    requirements: tuple[Labels, ...]
    features: tuple[FeatureSet, ...]
    tried: Longs
    typical: float
    rest: Rest

    def __post_init__(self) -> None:
        take_labels(self, "requirements", None)
        object.__setattr__(self, "features", tuple(self.features))
        for name, low in (("at", -1e300), ("typical", 1e-9)):
            value = float(getattr(self, name))
            if not low <= value <= 1e300:
                raise InputError(f"is {value}", where=f"Snapshot.{name}", allowed="finite")
            object.__setattr__(self, name, value)
        take(self, "tried", np.int64, (len(np.atleast_1d(self.tried)), 2), 0, LARGEST)
        self._check_references()

    @classmethod
    def of(cls, tasks: Tasks, clusters: Clusters, tenants: Tenants, **given: Any) -> Snapshot:
        """A snapshot with defaults for what is not given.

        Args:
            tasks: The tasks.
            clusters: The clusters.
            tenants: The tenants.
            given: Other fields. Their defaults: time 0, the default rules, a requirement of no
                labels, one feature set of no features, nothing tried, 60 s a task, no rest.

        Returns:
            The snapshot.

        Raises:
            InputError: A shape, number or reference cannot be used.
        """
        made: dict[str, Any] = {
            "at": 0.0,
            "rules": Rules(),
            "requirements": ({},),
            "features": (FeatureSet((), np.zeros((len(tasks), 0), np.float32)),),
            "tried": np.zeros((0, 2), np.int64),
            "typical": 60.0,
            "rest": Rest.none(),
        }
        return cls(tasks=tasks, clusters=clusters, tenants=tenants, **made | given)

    def _check_references(self) -> None:
        """Every number that names another thing names one that there is."""
        tasks, rest = self.tasks, self.rest
        m = len(self.clusters)
        for where, found, count in (
            ("tasks.tenant", tasks.tenant, len(self.tenants)),
            ("tasks.requires", tasks.requires, len(self.requirements)),
            ("tasks.feature_set", tasks.feature_set, len(self.features)),
            ("tasks.pin", tasks.pin, m),
            ("tasks.previous", tasks.previous, m),
            ("tried[:, 0]", self.tried[:, 0], len(tasks)),
            ("tried[:, 1]", self.tried[:, 1], m),
            ("rest.tenant", rest.tenant, len(self.tenants)),
            ("rest.requires", rest.requires, len(self.requirements)),
        ):
            if found.size and int(found.max()) >= count:
                raise InputError(
                    f"names number {int(found.max())}", where=where, allowed=f"below {count}"
                )
        for k, features in enumerate(self.features):
            rows, wanted = len(features.values), int((tasks.feature_set == k).sum())
            if rows != wanted:
                raise InputError(f"has {rows} rows", where=f"features[{k}]", allowed=f"{wanted}")

    @cached_property
    def room(self) -> Longs:
        """(M,) slots that a plan may fill on each cluster."""
        room = np.floor(self.rules.window * self.clusters.free + 1e-9).astype(np.int64)
        return np.where(self.clusters.up, room, 0)

    @cached_property
    def matches(self) -> Bools:
        """(requirements, M) whether a cluster has the labels that are required."""
        return np.array(
            [
                [required.items() <= has.items() for has in self.clusters.labels]
                for required in self.requirements
            ],
            np.bool_,
        ).reshape(len(self.requirements), len(self.clusters))

    @property
    def waiting(self) -> int:
        """Waiting tasks, listed or not."""
        return len(self.tasks) + int(self.rest.count.sum())

    def to_bytes(self) -> bytes:
        """The canonical bytes; equal snapshots have equal bytes on every machine.

        Returns:
            The bytes.
        """
        words, arrays = split(self)
        words["features"] = [list(features.names) for features in self.features]
        arrays |= {f"features.{k}": features.values for k, features in enumerate(self.features)}
        return pack("snapshot", FORMAT, words, arrays)

    @classmethod
    def from_bytes(cls, data: bytes) -> Snapshot:
        """The snapshot of canonical bytes.

        Args:
            data: What :meth:`to_bytes` gave.

        Returns:
            The snapshot.

        Raises:
            DataError: The bytes are of something else, or damaged.
        """
        words, arrays = unpack("snapshot", FORMAT, data)
        given = words | arrays
        try:
            names = words["features"]
            features = tuple(
                FeatureSet(names[k], arrays[f"features.{k}"]) for k in range(len(names))
            )
            return cls(
                at=given["at"],
                rules=Rules(**part(given, "rules.")),
                tasks=Tasks(**part(given, "tasks.")),
                clusters=Clusters(**part(given, "clusters.")),
                tenants=Tenants(**part(given, "tenants.")),
                requirements=given["requirements"],
                features=features,
                tried=given["tried"],
                typical=given["typical"],
                rest=Rest(**part(given, "rest.")),
            )
        except (KeyError, TypeError, ValueError, AttributeError, InputError) as error:
            raise DataError(
                f"the bytes hold no snapshot: {error}",
                where="snapshot",
                allowed="the canonical bytes of a snapshot",
                remedy="read it again from where it was stored",
            ) from error

    @cached_property
    def hash(self) -> str:
        """SHA-256 of the canonical bytes, hexadecimal."""
        return digest(self.to_bytes())

    def save(self, path: str | Path) -> None:
        """Write the canonical bytes to a file, which :func:`walras.rounds.load` reads.

        Args:
            path: The file.

        Raises:
            DataError: The file cannot be written.
        """
        with replacing(path) as fresh:
            fresh.write_bytes(self.to_bytes())

    def with_rules(self, **changed: float) -> Snapshot:
        """The snapshot under other rules.

        Args:
            changed: Fields of :class:`Rules`.

        Returns:
            A new snapshot.

        Raises:
            InputError: A number is outside its range.
        """
        return replace(self, rules=replace(self.rules, **changed))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Snapshot) and self.to_bytes() == other.to_bytes()

    def __hash__(self) -> int:
        return hash(self.hash)

    def __repr__(self) -> str:
        n, m = len(self.tasks), len(self.clusters)
        free = int(self.clusters.free[self.clusters.up].sum())
        return f"Snapshot({n} of {self.waiting} waiting tasks, {m} clusters, {free} slots free)"
