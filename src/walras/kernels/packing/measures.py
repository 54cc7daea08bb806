"""How much of the devices of a machine tasks of a mix cannot use.

``unusable`` is the measure of FGD (Weng et al., USENIX ATC 2023, section 3): the idle amount that
the next item, drawn from the mix, could not use. ``unfilled`` looks further: what stays idle when
the machine is filled with items of one type, drawn from the mix. A machine whose devices outlast
its other resources counts there long before the next item is refused.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from walras.kernels.packing.machines import WHOLE
from walras.kernels.parallel import inner, jit
from walras.types import Bools, Floats, Ints


class Mix(NamedTuple):
    """What may come: kinds of items, each with how often it does.

    Attributes:
        need: (kinds, resources).
        amount: (kinds,) thousandths that an item takes of each of its devices; 0 for none.
        number: (kinds,) how many devices.
        allowed: (kinds, models).
        weight: (kinds,) how often, summing to 1.
    """

    need: Floats
    amount: Ints
    number: Ints
    allowed: Bools
    weight: Floats


@inner
def unusable(left: Floats, device: Ints, model: int, mix: Mix) -> float:
    """Thousandths of a machine's devices that the next item could not use, expected."""
    idle = 0
    for k in range(len(device)):
        idle += device[k]
    if idle == 0:
        return 0.0
    out = 0.0
    for q in range(len(mix.weight)):
        amount = mix.amount[q]
        has_room = amount > 0 and mix.allowed[q, model]
        for r in range(len(left)):
            has_room = has_room and mix.need[q, r] <= left[r]
        if not has_room:
            out += mix.weight[q] * idle
            continue
        count, below = 0, 0
        for k in range(len(device)):
            if device[k] >= amount:
                count += 1
            else:
                below += device[k]
        out += mix.weight[q] * (below if count >= mix.number[q] else idle)
    return out


@inner
def unfilled(left: Floats, device: Ints, model: int, mix: Mix) -> float:
    """Thousandths that stay idle when the machine is filled with one kind of item, expected."""
    idle, whole = 0, 0
    for k in range(len(device)):
        idle += device[k]
        whole += device[k] == WHOLE
    if idle == 0:
        return 0.0
    out = 0.0
    for q in range(len(mix.weight)):
        amount = mix.amount[q]
        if amount == 0:
            continue
        if not mix.allowed[q, model]:
            out += mix.weight[q] * idle
            continue
        count = 0
        if amount == WHOLE:
            count = whole // mix.number[q]
        else:
            for k in range(len(device)):
                count += device[k] // amount
            count //= mix.number[q]
        for r in range(len(left)):
            if mix.need[q, r] > 0.0:
                count = min(count, int(left[r] / mix.need[q, r]))
        out += mix.weight[q] * (idle - count * amount * mix.number[q])
    return out


@jit
def unusable_each(left: Floats, device: Ints, model: Ints, mix: Mix) -> Floats:
    """(machines,) :func:`unusable` of each."""
    out = np.zeros(len(model))
    for i in range(len(model)):
        out[i] = unusable(left[i], device[i], model[i], mix)
    return out
