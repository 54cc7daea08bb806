"""Objects, not their classes or names, are what the API takes."""

from __future__ import annotations

import pytest
from tests.network.instances import net, quadratic

from walras import network as wn
from walras.errors import InputError
from walras.network import baselines


def test_a_class_in_place_of_its_object_is_told_everywhere() -> None:
    with pytest.raises(InputError, match=r"method: is <class .*remedy: method=Surplus"):
        wn.advise(quadratic(), net(), method=wn.Surplus)  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"method: is <class .*allowed: an object of Surplus"):
        wn.deploy(quadratic(), net(), method=wn.Surplus)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="method: is LaplacianGradient"):
        wn.deploy(quadratic(), net(), method=baselines.HeavyBall())  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"faults: is <class .*an object of Faults"):
        wn.simulate(quadratic(), net(), faults=wn.Faults)  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"cpu\[1\]: is the class QuadraticCPU; allowed: Quad"):
        wn.NetworkProblem([wn.QuadraticCPU(1.0, 1.0), wn.QuadraticCPU], 4.0)  # type: ignore[list-item]
    with pytest.raises(InputError, match=r"loss: is <class .*such as Logistic\(\)"):
        quadratic(2, loss=wn.Logistic, shards=[([[1.0]], [1.0])] * 2)
    with pytest.raises(InputError, match="network: is <class"):
        wn.deploy(quadratic(), wn.Network)  # type: ignore[arg-type]
