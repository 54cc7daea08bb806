"""The search for a placement: bound, patterns of nodes, rounding, and local search."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from walras.domains.placement.columns import Columns
from walras.domains.placement.instance import Instance, Kinds, kinds_of, spread
from walras.domains.placement.options import Options
from walras.domains.placement.relaxation import demand_bound
from walras.domains.placement.result import Placed
from walras.errors import InputError
from walras.kernels.local_search.random_numbers import seeded
from walras.kernels.packing.machines import fitting, largest_first, some
from walras.kernels.packing.search import Packing, fill, improve, put_running, restore
from walras.progress import Progress
from walras.status import Status
from walras.types import Bools, Floats, Ints, Longs

_ROUNDS = 60  # of column generation
_PROOFS = 20  # rounds in which programs, not searches, price the nodes
_BURST = 2000  # attempts of the local search between two looks at the clock
_PROVABLE = 20_000  # pairs of kinds and types up to which programs price the nodes
_ANY = np.int32(2**30)
_MET = 1e-9  # relative gap that counts as none


@dataclass(eq=False)
class _Best:
    """The best placement so far, in the items that are searched."""

    home: Ints
    chosen: Ints
    value: float


def search(instance: Instance, options: Options) -> Placed:
    """Place the tasks of an instance; see :func:`walras.domains.placement.place`.

    Args:
        instance: What to place on what.
        options: Settings.

    Returns:
        The placement.

    Raises:
        InputError: Running tasks that must stay do not fit.
    """
    return _Search(instance, options).run()


class _Search:
    """One search under way.

    Tasks that must stay are taken out: their nodes have less left, and they count as settled.
    """

    def __init__(self, instance: Instance, options: Options) -> None:
        self.instance, self.options, self.types = instance, options, instance.types
        self.began, self.steps, self.stopped = time.perf_counter(), 0, False
        self.state = seeded(options.seed)
        self.base = instance.empty()
        self.whole = _packing(instance, np.arange(len(instance.kind)), 0.0)
        running = instance.was >= 0
        order = np.argsort(-_size(instance).sum(axis=1)[instance.kind], kind="stable")
        self.items = np.flatnonzero(~running) if instance.is_fixed else np.arange(len(running))
        self.settled = 0.0
        started = some(self.base, slice(None))
        put_running(self.whole, started, self.types, order)
        if instance.is_fixed:
            self._check_running(running)
            self.base = started
            self.settled = float(self.types.value[instance.kind[running]].sum())
        price = 0.0 if instance.is_fixed else instance.move_price
        self.packing = _packing(instance, self.items, price)
        self.machines = some(self.base, slice(None))
        self._restored(self.whole.home[self.items], None)
        self.bound, self.best = np.inf, self._now()

    def _check_running(self, running: Bools) -> None:
        lost = np.flatnonzero(running & (self.whole.home < 0))
        if len(lost):
            instance, item = self.instance, int(lost[0])
            task = instance.tasks[instance.task[instance.task_ptr[item]]]
            raise InputError(
                f"task '{task}' does not fit node '{instance.nodes[instance.was[item]]}' beside "
                "the others there",
                where=f"previous['{task}'] (column node of the tasks)",
                allowed="tasks within the nodes' resources, models and GPUs",
                remedy="give a move_price, so that tasks may move, or leave the task out",
            )

    def run(self) -> Placed:
        kinds = kinds_of(self.base)
        fits = np.stack(
            [fitting(kinds.machines, self.types, j) for j in range(len(self.types.value))], axis=1
        ).astype(np.bool_)
        count = np.bincount(self.packing.kind, minlength=len(self.types.value))
        bound, price, _ = demand_bound(self.types, count, kinds, fits)
        self.bound = self.settled + bound
        self._fill()
        self._improve(_BURST)
        if not self._done():
            columns = Columns(self.types, count, kinds, fits, _size(self.instance), price, bound)
            columns.search(price, np.zeros(len(kinds.count)), self.state)
            self._combine(columns, kinds)
            self._prove(columns, kinds)
        self._restored(self.best.home, self.best.chosen)
        self._fill()
        return self._placed()

    def _prove(self, columns: Columns, kinds: Kinds) -> None:
        """Price the nodes exactly, while the gap is open and the bound is above the patterns'."""
        if columns.fits.size > _PROVABLE:
            return
        for _ in range(_PROOFS):
            if self._done():
                return
            known = len(columns.kind)
            self.bound = min(self.bound, self.settled + columns.bound())
            self._step("proof")
            if len(columns.kind) == known:
                return
            self._combine(columns, kinds)

    def _combine(self, columns: Columns, kinds: Kinds) -> None:
        """Generate patterns, beginning with those of the best placement, and round them."""
        columns.add_placement(kinds.of, self.best.home, self.packing.kind)
        columns.generate(_ROUNDS, self.state, lambda: not self._done())
        self._round(columns, kinds)
        self._step("patterns")
        self._improve(self.options.attempts * len(self.instance.nodes))

    def _round(self, columns: Columns, kinds: Kinds) -> None:
        """Give nodes the patterns of the program, whole numbers first, and fill what is left."""
        self._restored(np.full(len(self.items), -1, dtype=np.int32), None)
        order = largest_first(self.types)
        number, kind = np.floor(columns.number + 1e-9), np.array(columns.kind, dtype=np.int64)
        rest = columns.number - number
        for k in range(len(kinds.count)):
            nodes, at = np.flatnonzero(kinds.of == k), 0
            for c in np.flatnonzero((kind == k) & (number > 0)).tolist():
                which = nodes[at : at + int(number[c])]
                at += int(number[c])
                self._filled(which, order, columns.pattern[c])
            chosen = np.flatnonzero((kind == k) & (rest > 1e-6))
            for c in chosen[np.argsort(-rest[chosen], kind="stable")][: len(nodes) - at].tolist():
                self._filled(nodes[at : at + 1], order, columns.pattern[c])
                at += 1
        self._fill()
        self._keep()

    def _filled(self, which: Longs, order: Longs, most: Ints) -> None:
        used = order[most[order] > 0]
        fill(self.packing, self.machines, self.types, which, used, most)

    def _fill(self) -> None:
        """Fill all nodes, types of much value for their size first."""
        dense = self.types.value / (_size(self.instance).sum(axis=1) + 1e-12)
        most = np.full(len(dense), _ANY, dtype=np.int32)
        nodes = np.arange(len(self.instance.nodes))
        for j in np.argsort(-dense, kind="stable"):
            if self.packing.free[j] >= 0:
                fill(self.packing, self.machines, self.types, nodes, np.array([j]), most)
        self._keep()

    def _improve(self, attempts: int) -> None:
        size = _size(self.instance)
        while attempts > 0 and not self._done():
            burst = min(attempts, _BURST)
            improve(self.packing, self.machines, self.types, size, burst, self.state)
            attempts -= burst
            self._keep()
            self._step("search")

    def _done(self) -> bool:
        limit = self.options.time_limit
        late = limit is not None and time.perf_counter() - self.began > limit
        return self.stopped or late or self._gap() <= max(self.options.tolerance, _MET)

    def _gap(self) -> float:
        value = self.settled + self.best.value
        return max(0.0, self.bound - value) / max(abs(self.bound), 1e-300)

    def _step(self, note: str) -> None:
        self.steps += 1
        if self.options.on_progress is None:
            return
        step = Progress(
            self.steps,
            time.perf_counter() - self.began,
            self.settled + self.best.value,
            self.bound,
            self._gap(),
            note=note,
        )
        self.stopped |= self.options.on_progress(step) is True

    def _restored(self, home: Ints, chosen: Ints | None) -> None:
        """Go back to given homes of the items."""
        self.machines = some(self.base, slice(None))
        self.packing.home[:] = home
        if chosen is not None:
            self.packing.chosen[:] = chosen
        elif np.any(home >= 0):
            self.packing.chosen[:] = _requests_of(self.instance, self.whole, self.items)
        restore(self.packing, self.machines, self.types)

    def _now(self) -> _Best:
        packing = self.packing
        at, was = packing.home, packing.was
        moved = (at >= 0) & (was >= 0) & (at != was)
        value = float(self.types.value[packing.kind[at >= 0]].sum())
        value -= float(packing.move_price[moved].sum())
        return _Best(packing.home.copy(), packing.chosen.copy(), value)

    def _keep(self) -> None:
        now = self._now()
        if now.value >= self.best.value:
            self.best = now

    def _placed(self) -> Placed:
        instance = self.instance
        home, chosen = self.whole.home.copy(), self.whole.chosen.copy()
        home[self.items] = self.best.home
        _give(instance, self.whole, self.items, chosen, self.best.chosen)
        gap = self._gap()
        status = Status.OPTIMAL if gap <= max(self.options.tolerance, _MET) else Status.FEASIBLE
        return Placed(
            instance,
            home,
            chosen,
            min(self.bound, self._most()),
            Status.INTERRUPTED if self.stopped and status is Status.FEASIBLE else status,
            time.perf_counter() - self.began,
        )

    def _most(self) -> float:
        """What all tasks are worth together."""
        return float(self.types.value[self.instance.kind].sum())


def _size(instance: Instance) -> Floats:
    """(types, resources + 1) what an item takes of each resource and of the GPUs, of a node's."""
    taken = np.column_stack([instance.types.need, instance.devices])
    held = np.append(instance.capacity.mean(axis=0), instance.gpus.mean())
    return taken / np.where(held > 0, held, 1.0)


def _packing(instance: Instance, items: Longs, price: float) -> Packing:
    """The items as they are before anything is placed."""
    kind = instance.kind[items]
    asked = np.diff(instance.types.ptr)[kind]
    first = np.concatenate([[0], np.cumsum(asked)]).astype(np.int64)
    count, none = len(items), -1
    return Packing(
        kind,
        instance.was[items],
        np.full(count, none, dtype=np.int32),
        first[:-1].copy(),
        np.zeros(first[-1], dtype=np.int32),
        np.full(count, none, dtype=np.int32),
        np.full(len(instance.nodes), none, dtype=np.int32),
        np.full(len(instance.types.value), none, dtype=np.int32),
        price * np.diff(instance.task_ptr)[items],
    )


def _places(instance: Instance, whole: Packing, items: Longs) -> Longs:
    """Places of the requests of some items among those of all."""
    kind = whole.kind[items]
    one, at = spread(instance.types.ptr, kind)
    return whole.first[items][one] + at - instance.types.ptr[kind[one]]


def _requests_of(instance: Instance, whole: Packing, items: Longs) -> Ints:
    return whole.chosen[_places(instance, whole, items)]


def _give(instance: Instance, whole: Packing, items: Longs, chosen: Ints, own: Ints) -> None:
    chosen[_places(instance, whole, items)] = own
