"""A solve on a GPU: :class:`walras.engines.admm.worker.Worker` in torch, and proofs on the host.

All demands are one slice on the device, which is parallel in itself. Their proofs are made by
threads of the host, each for a part of the demands.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import cast
from weakref import proxy

import numpy as np
import torch

from walras.engines.admm.passes import Answer, Pass, Passes
from walras.engines.admm.slices.bound import Bound
from walras.engines.admm.slices.repair import Repair
from walras.engines.admm.slices.slice import Slice, parts
from walras.engines.admm.worker_pool import Executor, LocalPool, WorkerPool
from walras.kernels.gpu.block_prox import Groups, solve_groups
from walras.kernels.gpu.consensus_copies import Copies
from walras.kernels.gpu.segments import Segments, floats
from walras.types import Floats

_ALL = slice(None)


class TorchWorker(Passes):
    """The state of a slice on a torch device, and the passes over it.

    The device adds up its sums itself, as one subtree.

    Args:
        data: The slice.
        device: Where it lives.
    """

    def __init__(self, data: Slice, device: torch.device) -> None:
        entries, rows = data.entries, data.groups
        self._device = device
        row, w = entries.row, entries.w
        if entries.place is not None:
            row, w = entries.place[row], np.ones(len(row))
        self._copies = Copies.of(entries.copies, row, entries.a, w, data.narrow, device)
        self._blocks = Segments.of(entries.ptr, device)
        self._local, self._cost = floats(entries.local, device), floats(entries.cost, device)
        self._quadratic = floats(entries.quadratic, device)
        self._lower, self._upper = floats(entries.lower, device), floats(entries.upper, device)
        self._kind = torch.as_tensor(rows.kind, device=device)
        self._weight, self._parameter = floats(rows.weight, device), floats(rows.parameter, device)
        self._row_lower, self._row_upper = floats(rows.lower, device), floats(rows.upper, device)
        self._shift = floats(rows.shift, device)
        self._total = floats(entries.weight, device)
        self._x, self._price = floats(data.x, device), floats(data.price, device)
        self._seen = self._x
        self._state = self._copies.w.new_zeros(0)
        self._anchor: torch.Tensor | None = None
        self._held: torch.Tensor | float = 0.0
        self._centre, self._step = torch.zeros_like(self._x), torch.zeros_like(self._x)
        self._excess = torch.zeros_like(self._price)
        here = proxy(self)  # without a cycle, so that a solve's arrays are freed when it ends
        self.repair, self.bound = Repair(data, here), Bound(data, here)  # on the host

    def init_at_prices(self, rho: float, price: Floats) -> None:
        """See :class:`walras.engines.admm.passes.Passes`, as for all other passes."""
        copies, priced = self._copies, floats(price, self._device)
        self._state = self._wide() - priced[copies.row] * copies.a / (rho * copies.w)

    def set_prox_centre(self, rho: float) -> None:
        """Set the centres of the demands' block for the present state."""
        self._step = 1.0 / (self._quadratic + rho * self._total)
        self._centre = self._copies.centres(self._state, rho, self._cost, self._step)

    def init_without_copies(self) -> None:
        """Set the state of schemes without copies to x."""
        self._state = self._x

    def relax(self, relaxation: float) -> Floats:
        """Move the state of schemes without copies towards x; return the squared distance, in W."""
        way = self._x - self._state
        self._state = self._state + relaxation * way
        return _sums(torch.sum(self._total * way * way)[None])

    def set_anchor(self) -> None:
        """Remember the state as the anchor of an epoch."""
        self._anchor = self._state

    def restart(self, share: float) -> None:
        """Move the state towards the anchor, keeping the share ``share`` of the state."""
        if self._anchor is not None:
            self._state = self._anchor + share * (self._state - self._anchor)

    def set_prox_centre_at_prices(self, rho: float, price: Floats) -> None:
        """Set the centres of a primal-dual step from the state, at prices of the narrow rows."""
        self._step = 1.0 / (self._quadratic + rho * self._total)
        self._centre = self._copies.priced_centres(
            floats(price, self._device), self._state, rho * self._total, self._cost, self._step
        )

    def solve_demands(self, t: float, tolerance: float, softness: float) -> Floats:
        """Solve the demands' block; return the rows' payment for the scalar, and its slope."""
        moved = t * self._shift + (self._excess if softness > 0.0 else 0.0)
        groups = Groups(
            self._blocks,
            self._local,
            self._centre,
            self._step,
            self._lower,
            self._upper,
            self._kind,
            self._weight,
            self._parameter,
            self._row_lower - moved,
            self._row_upper - moved,
            softness,
        )
        self._price, self._x, value, slope = solve_groups(
            groups, self._shift, self._price, tolerance
        )
        return np.array([[value, slope]])

    def row_usage(self, price: Floats) -> Floats:
        """(2, narrow) the copies' use of each row at its price over rho, and the slope."""
        prices = floats(price, self._device)
        used = self._copies.row_sums(self._state, self._x, self._lower, self._upper, prices)
        return _sums(used)

    def activities(self) -> Floats:
        """(narrow,) the use of each row by x."""
        copies = self._copies
        return _sums(copies.row_totals(copies.a * self._wide()))

    def capacities(self) -> Floats:
        """(narrow,) sum of a^2 / w over each row."""
        copies = self._copies
        return _sums(copies.row_totals(copies.a * copies.a / copies.w))

    def advance(self, price: Floats, relaxation: float) -> Floats:
        """Move the state; return squares of (y - x), x and (z - x) in the metric."""
        prices = floats(price, self._device)
        self._state, sums = self._copies.advanced(
            self._state, self._x, self._lower, self._upper, prices, relaxation
        )
        return _sums(sums)

    def load_multipliers(self) -> None:
        """Set the state to ``x + u``, for multipliers u that stay."""
        self._state = self._wide() + self._held

    def update_multipliers(self) -> None:
        """Update the multipliers that stayed: ``u += y - x``."""
        self._held = self._state - self._wide()

    def _wide(self) -> torch.Tensor:
        """(copies,) x of each copy's entry."""
        return self._copies.by_entry.spread(self._x)

    def change(self) -> Floats:
        """Squares, in the metric, of x and of its change since the last call."""
        change, self._seen = self._x - self._seen, self._x
        squares = [torch.sum(self._total * part * part) for part in (self._x, change)]
        return _sums(torch.stack(squares))

    def rescale(self, factor: float) -> None:
        """Keep the multipliers ``rho w (z - x)`` while rho is divided by ``factor``."""
        wide = self._wide()
        self._state = wide + factor * (self._state - wide)

    def absorb_excess(self, rho: float) -> None:
        """Move the excess of soft rows into their scaled multipliers ``p / rho``."""
        self._excess = self._price / rho

    def entries(self, part: slice = _ALL) -> Floats:
        """(n,) the allocation, or a part of it."""
        return _host(self._x[part])

    def prices(self, part: slice = _ALL) -> Floats:
        """(groups, K) the prices of the slice's rows, or of a part of its groups."""
        return _host(self._price[part])

    def own_prices(self) -> Floats:
        """Empty, since here all rows beyond the blocks' are among those of :meth:`row_usage`."""
        return np.zeros(0)


def _host(values: torch.Tensor) -> Floats:
    return np.asarray(values.cpu().numpy(), dtype=np.float64)


def _sums(values: torch.Tensor) -> Floats:
    """(1, ...) sums of one subtree."""
    return _host(values[None])


class Part:
    """A part of a device's demands, in proofs: a thread of the host has it.

    Args:
        data: The part.
        groups: Its groups among those of the device.
        entries: Its entries there.
        worker: Who knows the iterates.
    """

    def __init__(self, data: Slice, groups: slice, entries: slice, worker: TorchWorker) -> None:
        self._groups, self._entries, self._worker = groups, entries, worker
        here = proxy(self)
        self.repair, self.bound = Repair(data, here), Bound(data, here)

    def entries(self) -> Floats:
        """(n,) the allocation."""
        return self._worker.entries(self._entries)

    def prices(self) -> Floats:
        """(groups, K) the prices of the part's rows."""
        return self._worker.prices(self._groups)

    def own_prices(self) -> Floats:
        """Empty, as those of :class:`TorchWorker`."""
        return self._worker.own_prices()


class DevicePool(LocalPool):
    """A worker on a device, and threads that make the proofs.

    Args:
        whole: All demands.
        device: Where the worker lives.
        threads: Largest number of threads.
    """

    def __init__(self, whole: Slice, device: torch.device, threads: int) -> None:
        worker = TorchWorker(whole, device)
        super().__init__([whole], [worker], timed=False)
        found = parts(whole, threads)
        held = [Part(*part, worker) for part in found]
        slices = [data for data, _, _ in found]
        self._proofs = LocalPool(slices, cast(list[Passes], held), timed=False)  # get no others

    def _run(self, one: Pass, *args: object) -> Answer:
        return one.run(self._proofs.passes, *args) if one.proves else super()._run(one, *args)

    def close(self) -> None:
        """Close both."""
        self._proofs.close()
        super().close()


@dataclass(frozen=True)
class OnDevice:
    """An executor that keeps the whole problem on one torch device.

    Attributes:
        device: Its name: ``cuda``, ``cuda:1``, or ``cpu`` for tests.
        threads: Largest number of threads of the host that make proofs.
    """

    device: str
    threads: int = 1

    def slices(self, workers: int) -> int:
        """One slice: the device is parallel in itself."""
        return 1

    def open(self, slices: Sequence[Slice]) -> WorkerPool:
        """A pool that holds the slice on the device."""
        return DevicePool(slices[0], torch.device(self.device), self.threads)

    def persistent(self) -> AbstractContextManager[Executor]:
        """This executor itself, since nothing has to start."""
        return nullcontext(self)
