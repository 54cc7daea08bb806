"""Local search for a matching: moves and swaps that lower the makespan and the missing success.

A placement puts task j on cluster x_j. With t_ji its time there, a_ji its chance of success, n_i
the number of tasks on cluster i and z_i(n_i) the factor on their time when they run together,

    F(x) = max_i z_i(n_i) sum_{j on i} t_ji  +  P max(0, G - sum_j a_{j, x_j}).

Only a change on the slowest cluster can lower the first term, and any move may lower the second. A
step takes the best of these changes.
"""

from __future__ import annotations

from walras.kernels.parallel import copy, inner, jit
from walras.kernels.room import floats, ints
from walras.types import Floats, Ints

_LEAST = 1e-12  # least gain of a step, as a share of F


@jit
def tally(t: Floats, a: Floats, x: Ints, total: Floats, count: Ints) -> float:
    """Sum times and numbers of tasks for each cluster, in place; return the sum of success."""
    for i in range(len(total)):
        total[i], count[i] = 0.0, 0
    reached = 0.0
    for j in range(len(x)):
        total[x[j]] += t[j, x[j]]
        count[x[j]] += 1
        reached += a[j, x[j]]
    return float(reached)


@jit
def cost_of(
    zeta: Floats, total: Floats, count: Ints, reached: float, goal: float, price: float
) -> float:
    """F of a placement that :func:`tally` has summed."""
    longest = 0.0
    for i in range(len(total)):
        longest = max(longest, zeta[i, count[i]] * total[i])
    missing = goal - reached
    if missing > 0:
        longest += price * missing
    return float(longest)


@inner
def _three_slowest(zeta: Floats, total: Floats, count: Ints, who: Ints, load: Floats) -> None:
    """The three largest loads in descending order; -1 and 0 if there are fewer clusters."""
    for k in range(3):
        who[k], load[k] = -1, 0.0
    for i in range(len(total)):
        value = zeta[i, count[i]] * total[i]
        for k in range(3):
            if who[k] < 0 or value > load[k]:
                for q in range(2, k, -1):
                    who[q], load[q] = who[q - 1], load[q - 1]
                who[k], load[k] = i, value
                break


@inner
def _longest_but(who: Ints, load: Floats, first: int, second: int) -> float:
    for k in range(3):
        if who[k] != first and who[k] != second:
            return float(load[k])
    return 0.0


@inner
def _best_move(
    t: Floats,
    a: Floats,
    zeta: Floats,
    goal: float,
    price: float,
    x: Ints,
    total: Floats,
    count: Ints,
    reached: float,
    who: Ints,
    load: Floats,
    best: float,
) -> tuple[float, int, int]:
    """The best move with F below ``best``: its F, task and cluster; task -1 if there is none."""
    task, place = -1, -1
    short = goal - reached > 0
    for j in range(len(x)):
        o = x[j]
        if o != who[0] and not short:
            continue
        left = zeta[o, count[o] - 1] * (total[o] - t[j, o])
        for i in range(len(total)):
            if i == o:
                continue
            there = zeta[i, count[i] + 1] * (total[i] + t[j, i])
            value = max(max(left, there), _longest_but(who, load, o, i))
            missing = goal - (reached - a[j, o] + a[j, i])
            if missing > 0:
                value += price * missing
            if value < best:
                best, task, place = value, j, i
    return best, task, place


@inner
def _best_swap(
    t: Floats,
    a: Floats,
    zeta: Floats,
    goal: float,
    price: float,
    x: Ints,
    total: Floats,
    count: Ints,
    reached: float,
    who: Ints,
    load: Floats,
    best: float,
) -> tuple[float, int, int]:
    """The best swap with the slowest cluster with F below ``best``: its F and the two tasks."""
    one, other = -1, -1
    o = who[0]
    for j in range(len(x)):
        if x[j] != o:
            continue
        for k in range(len(x)):
            p = x[k]
            if p == o:
                continue
            here = zeta[o, count[o]] * (total[o] - t[j, o] + t[k, o])
            if here >= best:
                continue
            there = zeta[p, count[p]] * (total[p] - t[k, p] + t[j, p])
            value = max(max(here, there), _longest_but(who, load, o, p))
            missing = goal - (reached - a[j, o] - a[k, p] + a[j, p] + a[k, o])
            if missing > 0:
                value += price * missing
            if value < best:
                best, one, other = value, j, k
    return best, one, other


@jit
def improve(
    t: Floats, a: Floats, zeta: Floats, goal: float, price: float, x: Ints, steps: int
) -> float:
    """Improve a placement in place until no move or swap helps, or ``steps`` are made.

    Args:
        t: (tasks, clusters) times.
        a: (tasks, clusters) chances of success.
        zeta: (clusters, tasks + 1) factor on the time of tasks that run together, by their number.
        goal: G, total wanted success.
        price: P, price of a unit of missing success, finite.
        x: (tasks,) cluster of each task.
        steps: Largest number of steps.

    Returns:
        F at the end.
    """
    m = t.shape[1]
    total, count = floats(m), ints(m)
    who, load = ints(3), floats(3)
    reached = tally(t, a, x, total, count)
    value = cost_of(zeta, total, count, reached, goal, price)
    for _ in range(steps):
        _three_slowest(zeta, total, count, who, load)
        best = value * (1.0 - _LEAST)
        best, task, place = _best_move(
            t, a, zeta, goal, price, x, total, count, reached, who, load, best
        )
        _, one, other = _best_swap(
            t, a, zeta, goal, price, x, total, count, reached, who, load, best
        )
        if one >= 0:
            x[one], x[other] = x[other], x[one]
        elif task >= 0:
            x[task] = place
        else:
            break
        reached = tally(t, a, x, total, count)
        value = cost_of(zeta, total, count, reached, goal, price)
    return float(value)


@jit
def search(
    t: Floats,
    a: Floats,
    zeta: Floats,
    goal: float,
    price: float,
    x: Ints,
    steps: int,
    rounds: int,
    target: float,
    seed: int,
) -> float:
    """Iterated local search in place: shake a few tasks, improve, keep the better result.

    Args:
        t: As in :func:`improve`, and so the next five.
        a: See there.
        zeta: See there.
        goal: See there.
        price: See there.
        x: See there.
        steps: Largest number of steps of each local search.
        rounds: Number of shakes.
        target: F at which to stop.
        seed: Seed of the shakes.

    Returns:
        F at the end.
    """
    n, m = t.shape
    value = improve(t, a, zeta, goal, price, x, steps)
    trial = ints(len(x))
    state = (seed * 2654435761 + 12345) % 2147483648
    for k in range(rounds):
        if value <= target:
            break
        copy(x, trial)
        for _ in range(2 + k % 3):
            # A linear congruential generator; its high bits are random enough.
            state = (state * 1103515245 + 12345) % 2147483648
            j = (state >> 8) % n
            state = (state * 1103515245 + 12345) % 2147483648
            trial[j] = (state >> 8) % m
        found = improve(t, a, zeta, goal, price, trial, steps)
        if found < value:
            value = found
            copy(trial, x)
    return float(value)
