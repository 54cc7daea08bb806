"""Rounds of load balancing in the words of the domain: built, stated, and counted independently."""

from __future__ import annotations

from functools import partial

import numpy as np

from benchmarks.balancing import BalanceInstance, BalanceSpec
from benchmarks.judge import Verdict
from walras import data
from walras.domains import load_balancing as lb
from walras.types import Floats

WARM_UP = 20
PUBLISHED, STRICTER = 1e-6, 1e-3  # loads above which a shard counts as placed
BAND = 0.1


def round_loads(instance: BalanceInstance, k: int) -> Floats:
    """(shards,) loads of the ``k``-th round of an instance."""
    return lb.round_loads(instance.size[1], float(instance.numbers[k]))


def first_problem(instance: BalanceInstance) -> lb.Round:
    """The first round of an instance."""
    share = np.zeros(instance.shape)
    share[instance.held[:, 0].astype(int), instance.held[:, 1].astype(int)] = instance.held[:, 2]
    return lb.make_round(round_loads(instance, 0), share, band=BAND, memory=float(instance.size[2]))


def build_balance(spec: BalanceSpec) -> BalanceInstance:
    """The rounds of a spec."""
    numbers = data.load("lb_random")
    u = numbers.numbers[: spec.first + spec.rounds]
    first = lb.first_round(
        float(u[0]), servers=spec.servers, shards=spec.shards, memory=spec.memory
    )
    held = np.stack([first.server, first.shard, first.share], axis=1).astype(np.float64)
    if spec.first:
        policy = partial(lb.solve_round, options=lb.Options(keep=False))
        last = lb.play(first, u[: spec.first], policy).last
        if last is not None:
            share = last.load / last.problem.load[last.shard]
            held = np.stack([last.server, last.shard, share], axis=1).astype(np.float64)
    size = (spec.servers, spec.shards, spec.memory)
    return BalanceInstance(u[spec.first :], held, size, spec.first, numbers.source)


def judge_balance(instance: BalanceInstance, x: Floats) -> Verdict:
    """Mean moves a round from (replicas, 4) round, server, shard and load of every placement.

    Moves above 1e-6 are the value, those above 1e-3 and at 1e-6 by round follow as numbers. The
    violation is the largest of loads outside the band (relative to the mean) and of replicas beyond
    the memory, counted where a load is above 1e-6.
    """
    servers, shards, memory = instance.size
    before = instance.held[:, :3].copy()
    before[:, 2] *= round_loads(instance, 0)[before[:, 1].astype(int)]
    moves = np.zeros((2, len(instance.numbers)))
    worst = 0.0
    for k in range(len(instance.numbers)):
        after = x[x[:, 0] == k][:, 1:]
        load = round_loads(instance, k)
        mean = load.sum() / servers
        total = np.bincount(after[:, 0].astype(int), after[:, 2], servers)
        carried = np.bincount(after[:, 1].astype(int), after[:, 2], shards)
        placed = after[after[:, 2] > PUBLISHED]
        count = np.bincount(placed[:, 0].astype(int), minlength=servers).max()
        worst = max(
            worst,
            total.max() / mean - 1.0 - BAND,
            1.0 - BAND - total.min() / mean,
            float(np.abs(carried / load - 1.0).max()),
            float(count - memory),
        )
        for row, above in enumerate((PUBLISHED, STRICTER)):
            keys = [(h[:, 0] * shards + h[:, 1])[h[:, 2] > above] for h in (before, after)]
            moves[row, k] = len(np.setdiff1d(keys[1], keys[0]))
        before = after
    skip = WARM_UP if instance.first == 0 and len(instance.numbers) > WARM_UP else 0
    return Verdict(float(moves[0, skip:].mean()), float(worst), (float(moves[1, skip:].mean()),))
