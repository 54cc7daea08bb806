"""Items that arrive one by one, each put at once on a machine that a policy chooses.

The policies but the last are those that Weng et al. compare (USENIX ATC 2023), with their scores as
released: whole numbers, the greatest wins, ties go to the machine first in a given order. Only the
first resource (CPU) and the devices enter the released scores. The last one goes down in what the
next item cannot use and in what would stay idle if the machine were filled.
"""

from __future__ import annotations

import numpy as np

from walras.kernels.local_search.random_numbers import State, draw
from walras.kernels.packing.machines import WHOLE, Machines, Types, fits, tightest
from walras.kernels.packing.measures import Mix, unfilled, unusable
from walras.kernels.parallel import inner, jit
from walras.kernels.room import filled_floats, filled_ints, float_table, floats, int_table, ints
from walras.types import Floats, Ints

RANDOM, DOT_PRODUCT, PACKING, BEST_FIT, FGD, FILL = range(6)
_TOP = 100  # of the scores
_STEP = 20.0  # thousandths of a device by which losses must differ to count as different


@inner
def _packing(device: Ints, devices: int, amount: int, number: int) -> float:
    """Prefer devices in use, then machines in use."""
    if amount == 0:
        return 0.0
    full = 0
    for k in range(len(device)):
        full += device[k] == WHOLE
    if full == devices:
        return float(max(_TOP // 3 - full, full))
    if amount == WHOLE:
        return float(max(_TOP // 2 - number, _TOP // 3))
    left = device[tightest(device, amount)]
    if left == WHOLE:
        return float(max(_TOP // 2 - 1, _TOP // 3))
    return float(max(_TOP - left * 100 // WHOLE // 10, _TOP // 2))


@inner
def _loss(left: Floats, device: Ints, model: int, typical: Mix, coming: Mix, policy: int) -> float:
    """What a machine's state wastes: FGD's measure, and for the last policy both."""
    if policy < FGD:
        return 0.0
    loss = unusable(left, device, model, typical)
    if policy == FILL:
        loss += unfilled(left, device, model, coming)
    return float(loss)


@inner
def _descent(
    before: float,
    left: Floats,
    device: Ints,
    model: int,
    amount: int,
    number: int,
    typical: Mix,
    coming: Mix,
    policy: int,
) -> tuple[float, int]:
    """The score of the best way to take the devices, and the device of a share.

    ``left`` is what is left after the item is put, ``device`` before.
    """
    taken = device.copy()
    if amount == 0 or amount == WHOLE:
        rest = number
        for k in range(len(device)):
            if rest > 0 and taken[k] == WHOLE:
                taken[k] = 0
                rest -= 1
        return _score(before - _loss(left, taken, model, typical, coming, policy), policy), -1
    best, chosen = -np.inf, -1
    for k in range(len(device)):
        known = device[k] < amount
        for other in range(k):
            known = known or device[other] == device[k]
        if known:
            continue
        taken[k] -= amount
        gain = before - _loss(left, taken, model, typical, coming, policy)
        taken[k] += amount
        if policy == FGD:
            gain = _score(gain, policy)
        if gain > best:
            best, chosen = gain, k
    return best if policy == FGD else _score(best, policy), chosen


@inner
def _score(gain: float, policy: int) -> float:
    """FGD's whole number of a sigmoid; for the last policy the gain in steps."""
    if policy == FGD:
        return float(np.floor(_TOP / (1.0 + np.exp(-gain / WHOLE))))
    return float(np.floor(gain / _STEP))


@inner
def _scored(
    policy: int,
    before: float,
    machines: Machines,
    i: int,
    devices: int,
    types: Types,
    j: int,
    top: Floats,
    typical: Mix,
    coming: Mix,
) -> tuple[float, int]:
    """The score of machine i for an item of type j that fits, and the device of a share or -1.

    ``top``: As :func:`_most` finds it.
    """
    first, number = types.ptr[j], types.ptr[j + 1] - types.ptr[j]
    amount = types.request[first] if number > 0 else 0
    idle = 0
    for k in range(machines.device.shape[1]):
        idle += machines.device[i, k]
    if policy == DOT_PRODUCT:
        product = machines.left[i, 0] / top[0] * types.need[j, 0] / top[0]
        product += idle / top[1] * (amount * number / top[1])
        return float(np.floor(_TOP * (1.0 - product / 2.0))), -1
    if policy == PACKING:
        return _packing(machines.device[i], devices, amount, number), -1
    if policy == BEST_FIT:
        rest = (machines.left[i, 0] - types.need[j, 0]) / top[0]
        rest += (idle - amount * number) / top[1]
        return float(np.floor(_TOP * (1.0 - rest / 2.0))), -1
    if policy == RANDOM:
        return 0.0, -1
    left = machines.left[i] - types.need[j]
    model, device = machines.model[i], machines.device[i]
    best, on = _descent(before, left, device, model, amount, number, typical, coming, policy)
    return best, on


@inner
def _any_device(device: Ints, amount: int, state: State) -> int:
    """A device with room, drawn."""
    chosen, count = -1, 0
    for k in range(len(device)):
        if device[k] >= amount:
            count += 1
            if draw(state) * count < 1.0:
                chosen = k
    return chosen


@inner
def _taken(machines: Machines, i: int, types: Types, j: int, share_on: int) -> None:
    """Put an item of type j on machine i; a share goes to device ``share_on``, if it is one."""
    for r in range(types.need.shape[1]):
        machines.left[i, r] -= types.need[j, r]
    for at in range(types.ptr[j], types.ptr[j + 1]):
        amount = types.request[at]
        k = share_on if share_on >= 0 else tightest(machines.device[i], amount)
        machines.device[i, k] -= amount


@inner
def _most(machines: Machines, devices: Ints) -> Floats:
    """(2,) most that a machine has of the first resource and of thousandths of devices, or 1."""
    top: Floats = filled_floats(2, 0.0)
    for i in range(len(devices)):
        top[0] = max(top[0], machines.left[i, 0])
        top[1] = max(top[1], devices[i] * float(WHOLE))
    for k in range(2):
        if top[k] <= 0.0:
            top[k] = 1.0  # what no machine has is no share of it
    return top


@jit
def arrive(
    policy: int,
    arriving: Ints,
    order: Ints,
    machines: Machines,
    devices: Ints,
    types: Types,
    typical: Mix,
    coming: Mix,
    state: State,
) -> Ints:
    """(arrivals,) the machine of each arrival, -1 where none has room; ``machines`` is changed.

    ``arriving``: (arrivals,) types. ``order``: (machines,) rank that breaks ties. Scores are kept
    for each type and machine until the machine changes. Groups of items are not looked at.
    """
    count = len(machines.model)
    kinds = len(types.value)
    version, seen = filled_ints(count, 1), int_table(kinds, count)
    score, share = float_table(kinds, count), int_table(kinds, count)
    out: Ints = filled_ints(len(arriving), -1)
    loss, scratch = floats(count), ints(machines.device.shape[1])
    top = _most(machines, devices)
    for i in range(count):
        for j in range(kinds):
            seen[j, i] = 0
        loss[i] = _loss(
            machines.left[i], machines.device[i], machines.model[i], typical, coming, policy
        )
    for a in range(len(arriving)):
        j = arriving[a]
        best, best_score, fitting = -1, -np.inf, 0
        for i in range(count):
            if seen[j, i] != version[i]:
                seen[j, i] = version[i]
                score[j, i] = -np.inf
                if fits(machines, i, types, j, scratch):
                    score[j, i], share[j, i] = _scored(
                        policy, loss[i], machines, i, devices[i], types, j, top, typical, coming
                    )
            now = score[j, i]
            if now == -np.inf:
                continue
            if policy == RANDOM:
                fitting += 1
                if draw(state) * fitting < 1.0:
                    best = i
            elif now > best_score or (now == best_score and order[i] < order[best]):
                best, best_score = i, now
        if best < 0:
            continue
        on = share[j, best]
        first = types.ptr[j]
        if policy == RANDOM and types.ptr[j + 1] > first and types.request[first] < WHOLE:
            on = _any_device(machines.device[best], types.request[first], state)
        _taken(machines, best, types, j, on)
        version[best] += 1
        loss[best] = _loss(
            machines.left[best],
            machines.device[best],
            machines.model[best],
            typical,
            coming,
            policy,
        )
        out[a] = best
    return out
