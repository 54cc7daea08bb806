"""Clusters with slots: what each offers, to whom, and when it is away."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import takewhile
from typing import NamedTuple

import numpy as np

from walras import checks
from walras.errors import InputError
from walras.rounds import STATES, Rules
from walras.rounds.parts import Labels
from walras.types import Longs

_MOST = 2**20  # slots
_MOST_OUTAGES = 1_000_000


class Outage(NamedTuple):
    """A time in which a cluster does not take tasks as usual.

    Attributes:
        cluster: Its name.
        begin: Seconds.
        end: Seconds; infinite where it does not return.
        state: ``down``: its runs are lost and begin again elsewhere; ``draining``: its runs go on,
            and tasks that wait on it are given back; ``cordoned``: it takes nothing new.

    Example:
        >>> from walras.simulate import Outage
        >>> Outage("east", 600.0, 1200.0).state
        'down'
    """

    cluster: str
    begin: float
    end: float = float("inf")
    state: str = "down"


@dataclass(frozen=True, eq=False)
class Slots:
    """Clusters with slots: a task takes some slots of one cluster until it ends.

    Attributes:
        counts: Cluster -> number of slots.
        labels: Cluster -> its labels; tasks may require some.
        price: Cluster -> price of a slot-hour; 0 if not named.
        provider: Cluster -> who offers it; a provider that is named is bounded by
            ``rules.kappa``, and clusters without one are trusted.
        weights: Tenant -> weight in the fair share; 1 if not named.
        quotas: Tenant -> slots that it may use at once; no limit if not named.
        rules: What every plan must keep.
        outages: Times in which clusters are away.
        half_life: Seconds in which slot-seconds that a tenant used count half.
        listed: Tasks that a snapshot lists beside twice those that the free slots can hold.

    Raises:
        InputError: There is no cluster, a name is unknown, or a number is out of range.

    Example:
        >>> import walras as wl
        >>> wl.simulate.Slots({"east": 8, "west": 4})
        Slots(8 east, 4 west)
    """

    counts: Mapping[str, int]
    labels: Mapping[str, Labels] = field(default_factory=dict)
    price: Mapping[str, float] = field(default_factory=dict)
    provider: Mapping[str, str] = field(default_factory=dict)
    weights: Mapping[str, float] = field(default_factory=dict)
    quotas: Mapping[str, int] = field(default_factory=dict)
    rules: Rules = field(default_factory=Rules)
    outages: Sequence[Outage] = ()
    half_life: float = 3600.0
    listed: int = 500

    def __post_init__(self) -> None:
        given: object = self.counts
        if not isinstance(given, Mapping) or not given:
            raise InputError(
                f"is {checks.shown(given)}",
                where="Slots",
                allowed="cluster -> number of slots, at least one cluster",
                remedy='write Slots({"east": 8, "west": 4})',
            )
        counts = {
            checks.text(name, "name of a cluster", blank=False): checks.whole(
                count, f"Slots[{name!r}]", 1, _MOST, remedy="leave out a cluster without slots"
            )
            for name, count in given.items()
        }
        object.__setattr__(self, "counts", counts)
        self._check_tables(counts)
        for name, price in self.price.items():
            checks.number(price, f"Slots.price[{name!r}]", 0.0)
        for name, weight in self.weights.items():
            checks.number(weight, f"Slots.weights[{name!r}]", above=0.0)
        for name, quota in self.quotas.items():
            checks.whole(quota, f"Slots.quotas[{name!r}]", 0)
        checks.of_kind(self.rules, Rules, "Slots.rules", remedy="rules=Rules(min_success=0.8)")
        checks.number(self.half_life, "Slots.half_life", above=0.0)
        checks.whole(self.listed, "Slots.listed", 1)
        object.__setattr__(self, "outages", self._outages())

    def _check_tables(self, counts: Mapping[str, int]) -> None:
        """Refuse tables by cluster or tenant that are none, and labels and providers of no text."""
        for name in ("labels", "price", "provider", "weights", "quotas"):
            table: object = getattr(self, name)
            if not isinstance(table, Mapping):
                raise InputError(
                    f"is {checks.shown(table)}",
                    where=f"Slots.{name}",
                    allowed="a mapping of names to values",
                    remedy="leave it out, or name those that it is of",
                )
            if name in ("labels", "price", "provider"):
                checks.known_keys(table, counts, f"Slots.{name}")
        for name, provider in self.provider.items():
            checks.text(provider, f"Slots.provider[{name!r}]", blank=False)
        for name, labels in self.labels.items():
            where = f"Slots.labels[{name!r}]"
            checks.of_kind(labels, dict, where, "label -> value", remedy='write {"gpu": "yes"}')
            for key, value in labels.items():
                checks.text(value, f"{where}[{checks.text(key, f'a label of {where}')!r}]")

    def _outages(self) -> tuple[Outage, ...]:
        """The outages in order of time, checked: those of one cluster must not overlap."""
        listed = checks.of_kind(self.outages, (list, tuple), "Slots.outages", "a list of outages")
        given = [_checked(row, f"Slots.outages[{k}]", self.counts) for k, row in enumerate(listed)]
        made = sorted(given, key=lambda o: (o.begin, o.cluster))
        ends: dict[str, float] = {}
        for k, outage in enumerate(made):
            where = f"Slots.outages[{k}]"
            if outage.begin < ends.get(outage.cluster, 0.0):
                raise InputError(
                    f"begins at {outage.begin:g}, before the last one of {outage.cluster!r} ends "
                    f"at {ends[outage.cluster]:g}",
                    where=where,
                    allowed="outages of a cluster that do not overlap",
                    remedy="join them",
                )
            ends[outage.cluster] = outage.end
        return tuple(made)

    @property
    def names(self) -> tuple[str, ...]:
        """(M,) names of the clusters, in order."""
        return tuple(self.counts)

    @property
    def slots(self) -> Longs:
        """(M,) slots of each cluster."""
        return np.array(list(self.counts.values()), np.int64)

    def with_failures(
        self, mean_up: float, mean_down: float, until: float, *, seed: int = 0
    ) -> Slots:
        """The clusters with failures drawn: each fails and returns after exponential times.

        Args:
            mean_up: Mean seconds from a return to the next failure.
            mean_down: Mean seconds until it returns.
            until: Seconds in which failures begin.
            seed: Of the draws.

        Returns:
            The clusters; outages given before are replaced.

        Raises:
            InputError: A number is out of range, or there would be too many failures.

        Example:
            >>> import walras as wl
            >>> slots = wl.simulate.Slots({"east": 8}).with_failures(3600, 600, 86400)
            >>> slots.outages[0].cluster, slots.outages[0].state
            ('east', 'down')
        """
        up = checks.number(mean_up, "mean_up", above=0.0)
        down = checks.number(mean_down, "mean_down", above=0.0)
        last = checks.number(until, "until", 0.0)
        if last / (up + down) * len(self.counts) > _MOST_OUTAGES:
            raise InputError(
                f"would make over {_MOST_OUTAGES:g} failures",
                where="with_failures",
                allowed="fewer",
                remedy="take longer times between them, or an earlier end",
            )
        checks.whole(seed, "seed")
        drawn = [draw_outages(name, i, up, down, seed) for i, name in enumerate(self.counts)]
        made = [o for of in drawn for o in takewhile(lambda outage: outage.begin < last, of)]
        return replace(self, outages=made)

    def __repr__(self) -> str:
        return f"Slots({', '.join(f'{count} {name}' for name, count in self.counts.items())})"


def draw_outages(name: str, number: int, up: float, down: float, seed: int) -> Iterator[Outage]:
    """The outages of a cluster without an end: it fails and returns after exponential times.

    Args:
        name: Of the cluster.
        number: Of its stream: apart from other streams of the seed.
        up: Mean seconds from a return to the next failure.
        down: Mean seconds until it returns.
        seed: Of the draws.
    """
    rng, at = np.random.default_rng([seed, 19, number]), 0.0
    while True:
        begin = at + rng.exponential(up)
        at = begin + max(rng.exponential(down), 1e-6)
        yield Outage(name, begin, at)


def _checked(row: object, where: str, counts: Mapping[str, int]) -> Outage:
    """An outage of its parts."""
    if not isinstance(row, tuple | list) or not 2 <= len(row) <= 4:
        raise InputError(
            f"is {checks.shown(row)}",
            where=where,
            allowed="an Outage, or its parts: cluster, begin, end, state",
            remedy='write Outage("east", 600.0, 1200.0)',
        )
    outage = Outage(*row)
    checks.one_of(outage.cluster, f"{where}.cluster", counts, "cluster")
    checks.one_of(outage.state, f"{where}.state", STATES[1:], "state")
    begin = checks.number(outage.begin, f"{where}.begin", 0.0)
    checks.number(outage.end, f"{where}.end", high=float("inf"), above=begin)
    return outage
