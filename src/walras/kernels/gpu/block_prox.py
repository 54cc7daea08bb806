""":mod:`walras.kernels.block_prox.newton` in torch: all subproblems step together.

Solved groups leave the batch. When few are left, the CPU solves them: the launches of a step cost
a GPU as much for one group as for thousands.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import cached_property

import numpy as np
import torch

from walras.kernels.block_prox.newton import ENDLESS, ROUNDED
from walras.kernels.block_prox.newton import solve_groups as on_host
from walras.kernels.block_prox.rows import CONVEX_POWER, ENTROPY, LOG, NONE, POWER, QUADRATIC
from walras.kernels.gpu.segments import Segments

_STEPS = 60
_FEW_COLUMNS = 2**15  # of groups that are quicker on the CPU, the transfer included
_FEW_GROUPS = 1 / 16  # of all groups, at most so many go there
_SINGULAR = 1e-10  # least share of a pivot that must remain after elimination
_BLEND = 1e-6  # share of the Hessian of all columns that makes a singular one regular
_LEAST = 1e-300
_LARGEST = 1e100
_LEAST_SHARE = 1e-12
_OVERSHOT = 0.5  # largest slope at the end of a step, relative to that at its start
_STEEPEST = 700.0  # exp() of larger numbers overflows


@dataclass(frozen=True, eq=False)
class Groups:
    """Subproblems of :mod:`walras.kernels.block_prox.newton` on a device.

    Attributes:
        blocks: Segments of the columns, one a group.
        local: (K, n) coefficients of the rows.
        v: (n,) centres.
        s: (n,) inverse weights 1/d.
        x_lower: (n,) bounds.
        x_upper: (n,) bounds.
        kind: (groups, K) codes of the rows' costs.
        weight: (groups, K) of a cost.
        parameter: (groups, K) of a cost.
        lower: (groups, K) bounds of a constraint.
        upper: (groups, K) bounds of a constraint.
        softness: Move of a constraint's bound for each unit of its price.
    """

    blocks: Segments
    local: torch.Tensor
    v: torch.Tensor
    s: torch.Tensor
    x_lower: torch.Tensor
    x_upper: torch.Tensor
    kind: torch.Tensor
    weight: torch.Tensor
    parameter: torch.Tensor
    lower: torch.Tensor
    upper: torch.Tensor
    softness: float = 0.0

    def take(self, chosen: torch.Tensor) -> Groups:
        """Some of the groups."""
        blocks, q = self.blocks.take(chosen)
        return Groups(
            blocks,
            self.local[:, q],
            self.v[q],
            self.s[q],
            self.x_lower[q],
            self.x_upper[q],
            self.kind[chosen],
            self.weight[chosen],
            self.parameter[chosen],
            self.lower[chosen],
            self.upper[chosen],
            self.softness,
        )

    @cached_property
    def costs(self) -> list[int]:
        """The kinds of cost that occur."""
        return [int(kind) for kind in torch.unique(self.kind) if kind != NONE]

    @cached_property
    def hessian(self) -> torch.Tensor:
        """(groups, K, K) Hessian of all columns, and its diagonal again.

        The diagonal is for rows that are parallel on all columns.
        """
        whole = self.curvature(self.s)
        return whole + torch.diag_embed(torch.diagonal(whole, dim1=1, dim2=2))

    def curvature(self, s: torch.Tensor) -> torch.Tensor:
        """``A diag(s) A'`` of each group, (groups, K, K)."""
        rows = len(self.local)
        out = self.v.new_zeros((len(self.blocks), rows, rows))
        for k in range(rows):
            for m in range(k + 1):
                out[:, k, m] = self.blocks.sums(self.local[k] * self.local[m] * s)
                out[:, m, k] = out[:, k, m]
        return out

    def unclipped(self, price: torch.Tensor) -> torch.Tensor:
        """``v - A'p / d``, (n,)."""
        pulled = torch.zeros_like(self.v)
        for k in range(len(self.local)):
            pulled += self.local[k] * self.blocks.spread(price[:, k])
        return self.v - pulled * self.s

    def columns(self, price: torch.Tensor) -> torch.Tensor:
        """x(p), (n,)."""
        return torch.clamp(self.unclipped(price), self.x_lower, self.x_upper)


@dataclass(frozen=True, eq=False)
class _State:
    """The state of a batch of prices: gradient, regimes, Hessian and error of every group.

    If no column is free, steps double; ``stretch`` is the factor of the next step.
    """

    g: torch.Tensor
    sense: torch.Tensor
    h: torch.Tensor
    error: torch.Tensor
    stretch: torch.Tensor

    def take(self, chosen: torch.Tensor) -> _State:
        return _State(*(getattr(self, field.name)[chosen] for field in fields(self)))

    def put(self, chosen: torch.Tensor, other: _State) -> None:
        for field in fields(self):
            getattr(self, field.name)[chosen] = getattr(other, field.name)


def solve_groups(
    groups: Groups, shift: torch.Tensor, price: torch.Tensor, tolerance: float
) -> tuple[torch.Tensor, torch.Tensor, float, float]:
    """Solve all subproblems from given prices.

    Args:
        groups: The subproblems.
        shift: (groups, K) decrease of the bounds with the shared scalar.
        price: (groups, K) first prices.
        tolerance: Largest allowed error of a row, relative to its terms.

    Returns:
        Prices (groups, K), columns (n,), ``sum shift p`` and its slope in the scalar.
    """
    falling = (groups.kind == LOG) | (groups.kind == POWER)
    price = torch.where(torch.abs(price) > ENDLESS, torch.where(falling, -1.0, 0.0), price)
    state = _evaluated(groups, price)
    lost = (state.error > tolerance)[:, None] & (torch.abs(price) > ENDLESS)
    lost = torch.any(lost, dim=1)[:, None]  # left over from an infeasible bound
    if bool(torch.any(lost)):
        falling = (groups.kind == LOG) | (groups.kind == POWER)
        price = torch.where(lost, torch.where(falling, -1.0, 0.0), price)
        state = _evaluated(groups, price)
    todo = torch.nonzero(state.error > tolerance)[:, 0]
    batch, now = groups.take(todo), state.take(todo)
    few = int(len(price) * min(_FEW_GROUPS, _FEW_COLUMNS / max(len(groups.v), 1)))
    for _ in range(_STEPS):
        if len(todo) <= few:
            break
        price[todo], now = _stepped(batch, price[todo], now, few)
        state.put(todo, now)
        left = torch.nonzero(now.error > tolerance)[:, 0]
        if len(left) < len(todo):
            batch, now, todo = batch.take(left), now.take(left), todo[left]
    _solve_the_rest(groups, price, state, tolerance)
    free = state.sense != 0
    held = torch.where(free, shift, 0.0)
    slope = torch.sum(held * _solved(_factored(state.h, free)[0], held))
    return price, groups.columns(price), float(torch.sum(shift * price)), float(slope)


def _solve_the_rest(groups: Groups, price: torch.Tensor, state: _State, tolerance: float) -> None:
    """Solve the groups that are left, few or those in which Newton's method cycles, on the CPU.

    Prices and state are changed in place.
    """
    wrong = (state.error > max(tolerance, ROUNDED)) & torch.all(torch.abs(price) < ENDLESS, dim=1)
    left = torch.nonzero(wrong)[:, 0]
    if not len(left):
        return
    batch = groups.take(left)
    found = price[left].cpu().numpy()
    local, v, s, x_lower, x_upper, kind, weight, parameter, lower, upper = (
        np.ascontiguousarray(part.cpu().numpy())
        for part in (
            batch.local,
            batch.v,
            batch.s,
            batch.x_lower,
            batch.x_upper,
            batch.kind,
            batch.weight,
            batch.parameter,
            batch.lower,
            batch.upper,
        )
    )
    on_host(
        batch.blocks.offsets.cpu().numpy(),
        local,
        v,
        s,
        x_lower,
        x_upper,
        kind,
        weight,
        parameter,
        lower,
        upper,
        batch.softness,
        tolerance,
        np.zeros_like(found),
        found,
        np.empty_like(v),
    )
    price[left] = torch.as_tensor(found, device=price.device)
    state.put(left, _evaluated(batch, price[left]))


def _evaluated(groups: Groups, price: torch.Tensor) -> _State:
    """Compute g = F minus the wanted activities, and -dg/dp; errors are relative to g's terms."""
    unclipped = groups.unclipped(price)
    x = torch.clamp(unclipped, groups.x_lower, groups.x_upper)
    h = groups.curvature(torch.where(x == unclipped, groups.s, 0.0))
    f = torch.stack([groups.blocks.sums(row * x) for row in groups.local], dim=1)
    at_upper = (price > 0) | ((price == 0) & (f > groups.upper))
    at_lower = (price < 0) | ((price == 0) & (f < groups.lower))
    sense = at_upper.to(torch.int8) - (at_lower & ~at_upper).to(torch.int8)
    sense = torch.where(groups.kind == NONE, sense, 2)
    target, slope = _wanted(groups, price, sense)
    free = sense != 0
    g = torch.where(free, f - target, 0.0)
    diagonal = torch.diagonal(h, dim1=1, dim2=2)
    diagonal += torch.where(free, slope, 0.0)
    # The joint movement of all prices counts: large moves of nearly parallel rows cancel.
    pull = torch.sum(h * price[:, None, :], dim=2)
    size = torch.abs(f) + torch.abs(target) + torch.abs(pull) + _LEAST
    error = torch.amax(torch.where(free, torch.abs(g) / size, 0.0), dim=1)
    return _State(g, sense, h, error, torch.ones_like(error))


def _wanted(
    groups: Groups, price: torch.Tensor, sense: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """Wanted activities and their slopes; see :func:`walras.kernels.block_prox.rows.wanted`."""
    w, a = groups.weight, groups.parameter
    target = torch.where(sense > 0, groups.upper, groups.lower) + groups.softness * price
    slope = torch.full_like(price, groups.softness)
    negative, positive = torch.clamp(price, max=-_LEAST), torch.clamp(price, min=0.0)
    for kind in groups.costs:
        if kind == LOG:
            y = -w / negative
            rise = y * y / w
        elif kind == POWER:
            y = (-w / negative) ** (1.0 / a)
            rise = y / (a * -negative)
        elif kind == QUADRATIC:
            y, rise = a + price / w, 1.0 / w
        elif kind == CONVEX_POWER:
            y = (positive / (w * a)) ** (1.0 / (a - 1.0))
            rise = torch.where(positive > 0, y / ((a - 1.0) * positive), 0.0)
        elif kind == ENTROPY:
            y = torch.exp(torch.clamp(price / w - 1.0, max=_STEEPEST))
            rise = y / w
        here = groups.kind == kind
        target, slope = torch.where(here, y, target), torch.where(here, rise, slope)
    return target, slope


def _stepped(
    groups: Groups, old: torch.Tensor, now: _State, few: int
) -> tuple[torch.Tensor, _State]:
    """Prices after one Newton step of every group, each shortened where it went too far.

    Once it is too long for ``few`` groups at most, these stay where they were.
    """
    step, stretch = _direction(groups, old, now)
    share = torch.ones_like(step[:, 0])
    while True:
        price = _moved(groups, old, share[:, None] * step, now.sense)
        new = _evaluated(groups, price)
        before = torch.sum(now.g * (price - old), dim=1)
        after = torch.sum(new.g * (price - old), dim=1)
        again = (after < -_OVERSHOT * before) & (share >= _LEAST_SHARE)
        left = int(torch.count_nonzero(again))
        if not left:
            return price, replace(new, stretch=stretch)
        cut = 0.0 if left <= few else torch.clamp(before / (before - after), min=0.1)
        share = torch.where(again, share * cut, share)


def _direction(
    groups: Groups, price: torch.Tensor, now: _State
) -> tuple[torch.Tensor, torch.Tensor]:
    """The Newton step, with all columns' Hessian where it is singular; and the next stretch."""
    free = now.sense != 0
    factor, regular = _factored(now.h, free)
    if bool(torch.all(regular)):
        step = torch.clamp(_solved(factor, now.g), -_LARGEST, _LARGEST)
        return step, torch.ones_like(now.stretch)
    weightless = ~regular & torch.all(torch.diagonal(now.h, dim1=1, dim2=2) == 0, dim=1)
    share = torch.where(regular, 0.0, torch.where(weightless, 1.0, _BLEND))
    factor, _ = _factored(now.h + share[:, None, None] * groups.hessian, free)
    stretch = torch.where(weightless, 2.0 * now.stretch, 1.0)
    step = torch.clamp(stretch[:, None] * _solved(factor, now.g), -_LARGEST, _LARGEST)
    # Too high for every column: take half at most.
    half = torch.where(price > 0, torch.minimum(step, -0.5 * price), step)
    half = torch.where(price < 0, torch.maximum(step, -0.5 * price), half)
    return torch.where(weightless[:, None] & (step * price < 0), half, step), stretch


def _moved(
    groups: Groups, price: torch.Tensor, step: torch.Tensor, sense: torch.Tensor
) -> torch.Tensor:
    """Prices after a step: in their orthant, and inside the domain of a cost."""
    new = price + step
    falling = (groups.kind == LOG) | (groups.kind == POWER)
    signed = (groups.kind == NONE) & (groups.lower != groups.upper)
    kept = torch.where(sense > 0, torch.clamp(new, min=0.0), torch.clamp(new, max=0.0))
    new = torch.where(signed, kept, new)
    new = torch.where(falling, torch.minimum(new, 0.1 * price), new)
    return torch.where(sense != 0, new, price)


def _factored(h: torch.Tensor, free: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """The Cholesky factor of H's free part, with pivots ``inf`` and a flag where singular."""
    c = torch.zeros_like(h)
    regular = torch.ones_like(free[:, 0])
    for k in range(h.shape[1]):
        for m in range(k):
            total = torch.where(free[:, k] & free[:, m], h[:, k, m], 0.0)
            for i in range(m):
                total = total - c[:, k, i] * c[:, m, i]
            c[:, k, m] = total / c[:, m, m]
        pivot = h[:, k, k] - torch.sum(c[:, k, :k] ** 2, dim=1)
        singular = ~(pivot > _SINGULAR * h[:, k, k])
        regular &= ~(singular & free[:, k])
        root = torch.sqrt(torch.clamp(pivot, min=0.0))
        c[:, k, k] = torch.where(singular | ~free[:, k], torch.inf, root)
    return c, regular


def _solved(c: torch.Tensor, g: torch.Tensor) -> torch.Tensor:
    """x = (C C')^-1 g; zero where the pivot is ``inf``."""
    x = torch.zeros_like(g)
    rows = g.shape[1]
    for k in range(rows):
        x[:, k] = (g[:, k] - torch.sum(c[:, k, :k] * x[:, :k], dim=1)) / c[:, k, k]
    for k in reversed(range(rows)):
        x[:, k] = (x[:, k] - torch.sum(c[:, k + 1 :, k] * x[:, k + 1 :], dim=1)) / c[:, k, k]
    return x
