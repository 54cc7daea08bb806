"""A learned policy: a small network that splits each pair's traffic over its paths."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from walras import checks
from walras.domains.traffic_engineering import matrices as checked
from walras.domains.traffic_engineering.matrices import Demand
from walras.domains.traffic_engineering.network import of_kind
from walras.domains.traffic_engineering.paths import Paths
from walras.errors import InputError
from walras.extras import need_torch
from walras.progress import OnProgress
from walras.short_repr import short_repr
from walras.types import Floats

if TYPE_CHECKING:
    from walras.domains.traffic_engineering.splitting_network import SplittingNetwork

Objective = Literal["utilisation", "flow"]
OBJECTIVES: tuple[Objective, ...] = ("utilisation", "flow")


@short_repr
@dataclass(frozen=True, eq=False)
class LearnedPolicy:
    """A trained policy; it decides without a solver, and proves nothing.

    Attributes:
        paths: The candidate paths that it was trained on.
        objective: ``utilisation`` or ``flow``, as it was trained.
        network: Its network, in torch.
        losses: (steps,) loss of each training step.
        seconds: Time of the training.

    Example:
        >>> from walras.domains import traffic_engineering as te
        >>> import torch
        >>> net = te.Network(("a", "b", "c"), [0, 1, 0], [1, 2, 2], [10.0, 10.0, 5.0])
        >>> paths = te.candidate_paths(net, k=2, cache=False)
        >>> policy = te.learned_policy(paths, [[[0, 4, 8], [0, 0, 3], [0, 0, 0]]], steps=5)
        >>> policy.losses.shape, policy.flow([[0, 4, 8], [0, 0, 3], [0, 0, 0]]).sum().round(6)
        ((5,), np.float64(15.0))
    """

    paths: Paths
    objective: Objective
    network: SplittingNetwork
    losses: Floats
    seconds: float

    def flow(self, demand: Demand) -> Floats:
        """The flow for a traffic matrix.

        Args:
            demand: (nodes, nodes) traffic; frames are matched by the nodes' names.

        Returns:
            (paths,) traffic on each path: all of it for ``utilisation``; for ``flow`` what fits,
            since each path is cut to the share that its worst link passes. It can be the start of a
            solve, ``wl.solve(problem, start=policy.flow(demand))``.

        Raises:
            InputError: The matrix does not fit, or has traffic between nodes without a path.
        """
        own = _demands(self.paths, [demand])
        flows = self.network.flows(own, cut=self.objective == "flow")
        return np.asarray(flows[0], np.float64)


def learned_policy(
    paths: Paths,
    matrices: Sequence[Demand] | Floats,
    *,
    objective: Objective = "utilisation",
    layers: int = 4,
    width: int = 24,
    steps: int = 400,
    batch: int = 16,
    rate: float = 3e-3,
    seed: int = 0,
    on_progress: OnProgress | None = None,
) -> LearnedPolicy:
    """Train a policy on past traffic matrices, through the flow that it makes.

    Every path has the same network. A layer loads the links with the present split, tells each
    path the utilisation of its links beside its pair's demand, and moves the split; the weights are
    shared by all paths and layers. A split is a softmax over the paths of a pair. The loss is the
    largest utilisation over that of an equal split (``utilisation``), or less the share of the
    traffic that is served once each path is cut to what its worst link passes (``flow``). It is
    differentiated through loads and cuts. In the manner of Teal (Xu et al., SIGCOMM 2023), whose
    policy is trained by reinforcement learning, and of DOTE (Perry et al., NSDI 2023).

    Args:
        paths: Candidate paths.
        matrices: (matrices, nodes, nodes) traffic to learn from.
        objective: ``utilisation`` carries all traffic; ``flow`` serves as much as fits.
        layers: Times that a split is moved.
        width: Hidden units of the network of a path.
        steps: Training steps.
        batch: Matrices a step, drawn at random.
        rate: Learning rate of Adam, which falls to zero along a cosine.
        seed: Seed of weights and draws.
        on_progress: Called after each step; True stops there.

    Returns:
        The policy.

    Raises:
        InputError: A matrix does not fit, or a number is out of range.
        EngineError: torch is not installed.

    Example:
        >>> from walras.domains import traffic_engineering as te
        >>> import torch
        >>> net = te.Network(("a", "b", "c"), [0, 1, 0], [1, 2, 2], [10.0, 10.0, 5.0])
        >>> paths = te.candidate_paths(net, k=2, cache=False)
        >>> demand = [[0, 4, 12], [0, 0, 3], [0, 0, 0]]
        >>> policy = te.learned_policy(paths, [demand], steps=200, rate=0.02)
        >>> load = paths.loads(policy.flow(demand)) / net.capacity
        >>> bool(load.max() < 1.1)  # 16/15 is the least that can be; an equal split has 1.2
        True
    """
    of_kind(paths, Paths, "paths")
    checks.one_of(objective, "objective", OBJECTIVES)
    for value, name in ((layers, "layers"), (width, "width"), (steps, "steps"), (batch, "batch")):
        checks.whole(value, name, 1)
    checks.number(rate, "rate", above=0.0)
    checks.whole(seed, "seed", 0, 2**63 - 1)
    need_torch("learned_policy", "an engine of walras.solve")
    if not len(matrices):
        raise InputError(
            "holds none",
            where="matrices",
            allowed="at least one traffic matrix",
            remedy="give the matrices of past rounds",
        )
    from walras.domains.traffic_engineering.splitting_network import (  # noqa: PLC0415 (torch)
        trained,
    )

    own = _demands(paths, matrices)
    module, losses, seconds = trained(
        paths, own, objective == "flow", layers, width, steps, batch, rate, seed, on_progress
    )
    return LearnedPolicy(paths, objective, module, losses, seconds)


def _demands(paths: Paths, matrices: Sequence[Demand] | Floats) -> Floats:
    """(matrices, pairs) traffic of each pair."""
    found = []
    for demand in matrices:
        traffic = checked.traffic(demand, paths.network)
        checked.check_joined(traffic, paths)
        found.append(paths.demands(traffic))
    return np.array(found)
