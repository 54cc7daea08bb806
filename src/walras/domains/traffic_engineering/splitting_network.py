"""The network of a learned policy, in torch: paths that see their links, with shared weights."""

from __future__ import annotations

import math
import time

import numpy as np
import torch
from torch import Tensor, nn

from walras.domains.traffic_engineering.paths import Paths
from walras.progress import OnProgress, Progress
from walras.types import Floats

_FEATURES = 7  # of a path in a layer, beside its memory and its score
_TINY = 1e-12


class SplittingNetwork:
    """Moves the split of every pair a few times, by the loads that it makes.

    Args:
        paths: The candidate paths.
        layers: Times that the split is moved.
        width: Hidden units, and numbers that a path remembers between layers.
    """

    def __init__(self, paths: Paths, layers: int, width: int) -> None:
        self.layers, self.width = layers, width
        self.pairs, self.count = paths.pairs, paths.count
        self.capacity = torch.tensor(paths.network.capacity, dtype=torch.float64)
        self.pair = torch.tensor(paths.pair, dtype=torch.int64)
        self.links = torch.tensor(paths.links, dtype=torch.int64)
        self.place = torch.tensor(np.repeat(np.arange(paths.count), paths.hops))
        narrow = np.log(paths.bottleneck() / paths.network.capacity.mean())
        each = np.diff(paths.first)[paths.pair]
        self.fixed = torch.tensor(np.stack([np.log(paths.hops), narrow, 1.0 / each], axis=1))
        self.step = nn.Sequential(
            nn.Linear(_FEATURES + width + 1, width), nn.Tanh(), nn.Linear(width, width + 1)
        ).double()
        with torch.no_grad():  # the first splits are nearly equal ones
            self.step[2].weight.mul_(0.1)
            self.step[2].bias.zero_()

    def split(self, demand: Tensor) -> Tensor:
        """(matrices, paths) share of each pair's (matrices, pairs) traffic on each path."""
        many = len(demand)
        score = demand.new_zeros(many, self.count)
        memory = demand.new_zeros(many, self.count, self.width)
        for _ in range(self.layers):
            seen = self._seen(demand, self._softmax(score))
            moved = self.step(torch.cat([seen, score[..., None], memory], dim=2))
            score, memory = score + moved[..., 0], torch.tanh(moved[..., 1:])
        return self._softmax(score)

    def _seen(self, demand: Tensor, split: Tensor) -> Tensor:
        """(matrices, paths, features): what a path sees of its pair and its links."""
        flow = split * demand[:, self.pair]
        used = self.loads(flow) / self.capacity
        used = used / (used.amax(dim=1, keepdim=True) + _TINY)
        along = used[:, self.links]
        place = self.place.expand(len(demand), -1)
        zeros = demand.new_zeros(len(demand), self.count)
        most = zeros.scatter_reduce(1, place, along, "amax")
        mean = zeros.scatter_reduce(1, place, along, "mean", include_self=False)
        part = flow / (flow.amax(dim=1, keepdim=True) + _TINY)
        fixed = self.fixed.expand(len(demand), -1, -1)
        return torch.cat([torch.stack([most, mean, part, split], dim=2), fixed], dim=2)

    def _softmax(self, score: Tensor) -> Tensor:
        index = self.pair.expand(len(score), -1)
        top = score.new_full((len(score), self.pairs), -math.inf)
        top = top.scatter_reduce(1, index, score.detach(), "amax")
        grown = torch.exp(score - top.gather(1, index))
        whole = score.new_zeros(len(score), self.pairs).scatter_add(1, index, grown)
        return grown / whole.gather(1, index)

    def loads(self, flow: Tensor) -> Tensor:
        """(matrices, links) traffic on each link of (matrices, paths) flows."""
        zeros = flow.new_zeros(len(flow), len(self.capacity))
        return zeros.index_add(1, self.links, flow[:, self.place])

    def cut(self, flow: Tensor) -> Tensor:
        """The flows, each cut to the share that its worst link passes."""
        passes = torch.clamp(self.capacity / (self.loads(flow) + _TINY), max=1.0)
        ones = torch.ones_like(flow)
        place = self.place.expand(len(flow), -1)
        return flow * ones.scatter_reduce(1, place, passes[:, self.links], "amin")

    def flows(self, demand: Floats, *, cut: bool) -> Floats:
        """(matrices, paths) flows of (matrices, pairs) traffic, in NumPy."""
        with torch.no_grad():
            asked = torch.as_tensor(demand, dtype=torch.float64)
            flow = self.split(asked) * asked[:, self.pair]
            return np.asarray((self.cut(flow) if cut else flow).numpy(), np.float64)

    def loss(self, demand: Tensor, *, cut: bool) -> Tensor:
        """Less the share served, or the largest utilisation over that of an equal split."""
        flow = self.split(demand) * demand[:, self.pair]
        if cut:
            return -(self.cut(flow).sum(dim=1) / (demand.sum(dim=1) + _TINY)).mean()
        equal = self._softmax(flow.new_zeros(flow.shape)) * demand[:, self.pair]
        most, usual = ((self.loads(f) / self.capacity).amax(dim=1) for f in (flow, equal))
        return (most / (usual + _TINY)).mean()


def trained(
    paths: Paths,
    demand: Floats,
    cut: bool,
    layers: int,
    width: int,
    steps: int,
    batch: int,
    rate: float,
    seed: int,
    on_progress: OnProgress | None,
) -> tuple[SplittingNetwork, Floats, float]:
    """Train a network on (matrices, pairs) traffic; its losses by step, and the seconds."""
    began = time.perf_counter()
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        module = SplittingNetwork(paths, layers, width)
    optimiser = torch.optim.Adam(module.step.parameters(), rate)
    falling = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, steps)
    draws = np.random.default_rng(seed)
    every, losses = torch.as_tensor(demand, dtype=torch.float64), list[float]()
    for k in range(steps):
        chosen = every[draws.integers(0, len(every), min(batch, len(every)))]
        optimiser.zero_grad()
        loss = module.loss(chosen, cut=cut)
        loss.backward()
        nn.utils.clip_grad_norm_(module.step.parameters(), 1.0)
        optimiser.step()
        falling.step()
        losses.append(float(loss.detach()))
        done = Progress(k + 1, elapsed=time.perf_counter() - began, total=steps)
        if on_progress is not None and on_progress(done):
            break
    return module, np.array(losses), time.perf_counter() - began
