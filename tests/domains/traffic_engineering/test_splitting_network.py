"""The parts of a learned policy's network, against NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from walras.domains import traffic_engineering as te

torch = pytest.importorskip("torch")


@pytest.fixture
def paths() -> te.Paths:
    source, target = np.array([[0, 1], [1, 2], [0, 2]], np.int32).T
    net = te.Network(("a", "b", "c"), source, target, np.array([10.0, 10.0, 5.0]))
    return te.candidate_paths(net, k=2, cache=False)


def test_loads_and_cuts_are_those_of_the_paths(paths: te.Paths) -> None:
    from walras.domains.traffic_engineering.splitting_network import SplittingNetwork

    module = SplittingNetwork(paths, 1, 4)
    flow = np.array([9.0, 4.0, 4.0, 3.0])
    given = torch.tensor(flow)[None, :]
    loads = paths.loads(flow)
    assert module.loads(given)[0].numpy() == pytest.approx(loads)
    passes = np.minimum(1.0, paths.network.capacity / loads)
    worst = np.minimum.reduceat(passes[paths.links], paths.pointer[:-1])
    assert module.cut(given)[0].numpy() == pytest.approx(flow * worst)


def test_a_split_sums_to_one_for_each_pair_and_has_a_gradient(paths: te.Paths) -> None:
    from walras.domains.traffic_engineering.splitting_network import SplittingNetwork

    torch.manual_seed(0)
    module = SplittingNetwork(paths, 3, 4)
    demand = torch.tensor([[4.0, 8.0, 3.0], [0.0, 0.0, 0.0]])
    split = module.split(demand.double())
    for row in split.detach().numpy():
        assert np.add.reduceat(row, paths.first[:-1]) == pytest.approx(1.0)
    for cut in (False, True):
        loss = module.loss(demand[:1].double(), cut=cut)
        weight = module.step[2].weight
        (slope,) = torch.autograd.grad(loss, weight)
        step = 1e-6 * torch.sign(slope)
        with torch.no_grad():
            weight += step
            up = module.loss(demand[:1].double(), cut=cut)
            weight -= 2.0 * step
            down = module.loss(demand[:1].double(), cut=cut)
            weight += step
        wanted = float((slope * step).sum())
        assert float(up - down) / 2.0 == pytest.approx(wanted, rel=1e-4, abs=1e-12)
