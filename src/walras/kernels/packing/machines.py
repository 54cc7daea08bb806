"""Machines with several resources and devices, and the items that are packed into them.

An item needs an amount of each resource and asks for devices: each of its requests takes that many
thousandths of one device. Requests are tried in their order, the largest first, each on the fullest
device that still has room (best fit decreasing). Items come in types, since many are alike.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from walras.kernels.parallel import inner, jit
from walras.kernels.room import ints
from walras.types import Bools, Floats, Ints, Longs

WHOLE = 1000
"""Thousandths of a device."""


class Types(NamedTuple):
    """Types of items.

    Attributes:
        need: (types, resources).
        ptr: (types + 1,) places of a type's requests.
        request: (requests,) thousandths of a device, of each type the largest first.
        allowed: (types, models) whether a machine of that model may hold it.
        group_ptr: (types + 1,) places of a type's groups.
        group: groups of which a machine holds at most one item each.
        value: (types,) worth of an item.
    """

    need: Floats
    ptr: Longs
    request: Ints
    allowed: Bools
    group_ptr: Longs
    group: Ints
    value: Floats


class Machines(NamedTuple):
    """What is left of machines.

    Attributes:
        left: (machines, resources).
        device: (machines, devices) thousandths left; 0 where there is no device.
        held: (machines, words) bits of the groups that it holds an item of.
        model: (machines,).
    """

    left: Floats
    device: Ints
    held: npt.NDArray[np.uint64]
    model: Ints


def some(machines: Machines, which: slice | Longs) -> Machines:
    """Some of the machines, as copies."""
    return Machines(
        machines.left[which].copy(),
        machines.device[which].copy(),
        machines.held[which].copy(),
        machines.model[which].copy(),
    )


@inner
def tightest(device: Ints, amount: int) -> int:
    """The fullest device with room for an amount; -1 if none has."""
    best = -1
    for k in range(len(device)):
        if device[k] >= amount and (best < 0 or device[k] < device[best]):
            best = k
    return best


@inner
def fits(machines: Machines, i: int, types: Types, j: int, scratch: Ints) -> bool:
    """Whether machine i has room for an item of type j; ``scratch`` has room for its devices."""
    if not types.allowed[j, machines.model[i]]:
        return False
    for r in range(types.need.shape[1]):
        if types.need[j, r] > machines.left[i, r]:
            return False
    for at in range(types.group_ptr[j], types.group_ptr[j + 1]):
        group = types.group[at]
        if machines.held[i, group >> 6] >> np.uint64(group & 63) & np.uint64(1):
            return False
    first, last = types.ptr[j], types.ptr[j + 1]
    if first == last:
        return True
    if last == first + 1:
        for k in range(machines.device.shape[1]):
            if machines.device[i, k] >= types.request[first]:
                return True
        return False
    for k in range(machines.device.shape[1]):
        scratch[k] = machines.device[i, k]
    for at in range(first, last):
        k = tightest(scratch, types.request[at])
        if k < 0:
            return False
        scratch[k] -= types.request[at]
    return True


@inner
def put(machines: Machines, i: int, types: Types, j: int, chosen: Ints, first: int) -> None:
    """Put an item of type j on machine i, where it fits; its devices go to ``chosen[first:]``."""
    for r in range(types.need.shape[1]):
        machines.left[i, r] -= types.need[j, r]
    for at in range(types.group_ptr[j], types.group_ptr[j + 1]):
        group = types.group[at]
        machines.held[i, group >> 6] |= np.uint64(1) << np.uint64(group & 63)
    for at in range(types.ptr[j], types.ptr[j + 1]):
        k = tightest(machines.device[i], types.request[at])
        machines.device[i, k] -= types.request[at]
        chosen[first + at - types.ptr[j]] = k


@inner
def take_back(machines: Machines, i: int, types: Types, j: int, chosen: Ints, first: int) -> None:
    """Undo :func:`put`."""
    for r in range(types.need.shape[1]):
        machines.left[i, r] += types.need[j, r]
    for at in range(types.group_ptr[j], types.group_ptr[j + 1]):
        group = types.group[at]
        machines.held[i, group >> 6] &= ~(np.uint64(1) << np.uint64(group & 63))
    for at in range(types.ptr[j], types.ptr[j + 1]):
        k = chosen[first + at - types.ptr[j]]
        machines.device[i, k] += types.request[at]


@jit
def largest_first(types: Types) -> Longs:
    """(types,) in the order of their largest requests: best fit decreasing, for the devices.

    Resources are sums, so that no order matters for them.
    """
    largest = np.zeros(len(types.value), dtype=np.int64)
    for j in range(len(largest)):
        if types.ptr[j] < types.ptr[j + 1]:
            largest[j] = types.request[types.ptr[j]]
    return np.argsort(-largest)


@jit
def fitting(machines: Machines, types: Types, j: int) -> Longs:
    """(machines,) 1 where an item of type j fits."""
    scratch = ints(machines.device.shape[1])
    found = np.zeros(len(machines.model), dtype=np.int64)
    for i in range(len(machines.model)):
        found[i] = fits(machines, i, types, j, scratch)
    return found
