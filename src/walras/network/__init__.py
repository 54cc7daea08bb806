"""Centres that share a CPU budget and train one model, from their neighbours' messages only.

Source: Doostmohammadian, Gabidullina and Rabiee, Machine Learning and CPU Scheduling
Co-Optimization over a Network of Computing Centers, arXiv 2510.25176.

Names load when they are first used: a centre's own process needs few of them.
"""

from __future__ import annotations

import importlib
import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from walras.network.advise import Advice, advise
    from walras.network.costs import CallableCPU, CPUCost, QuadraticCPU, ThroughputCPU
    from walras.network.drivers.deploy import Deployment, deploy
    from walras.network.drivers.launch import Host
    from walras.network.drivers.replay import replay
    from walras.network.faults import Crash, Faults
    from walras.network.graph import Network
    from walras.network.links import Ideal, LogQuantizer, UniformQuantizer
    from walras.network.losses import LeastSquares, Logistic, SmoothHinge, Softmax
    from walras.network.losses_torch import TorchLoss
    from walras.network.optimum import Optimum
    from walras.network.problem import Problem
    from walras.network.quanta import AuditError
    from walras.network.run import Run
    from walras.network.shards import Shards, split
    from walras.network.simulate import simulate
    from walras.network.surplus import Surplus
    from walras.network.test_set import TestSet

_HOME = {
    "Deployment": "walras.network.drivers.deploy",
    "deploy": "walras.network.drivers.deploy",
    "Host": "walras.network.drivers.launch",
    "replay": "walras.network.drivers.replay",
    "CallableCPU": "walras.network.costs",
    "CPUCost": "walras.network.costs",
    "QuadraticCPU": "walras.network.costs",
    "ThroughputCPU": "walras.network.costs",
    "Crash": "walras.network.faults",
    "Faults": "walras.network.faults",
    "Network": "walras.network.graph",
    "Ideal": "walras.network.links",
    "LogQuantizer": "walras.network.links",
    "UniformQuantizer": "walras.network.links",
    "LeastSquares": "walras.network.losses",
    "Logistic": "walras.network.losses",
    "SmoothHinge": "walras.network.losses",
    "Softmax": "walras.network.losses",
    "Optimum": "walras.network.optimum",
    "Problem": "walras.network.problem",
    "AuditError": "walras.network.quanta",
    "Run": "walras.network.run",
    "Shards": "walras.network.shards",
    "split": "walras.network.shards",
    "simulate": "walras.network.simulate",
    "Surplus": "walras.network.surplus",
    "Advice": "walras.network.advise",
    "advise": "walras.network.advise",
    "TestSet": "walras.network.test_set",
    "TorchLoss": "walras.network.losses_torch",
}

__all__ = [
    "Advice",
    "AuditError",
    "CPUCost",
    "CallableCPU",
    "Crash",
    "Deployment",
    "Faults",
    "Host",
    "Ideal",
    "LeastSquares",
    "LogQuantizer",
    "Logistic",
    "Network",
    "Optimum",
    "Problem",
    "QuadraticCPU",
    "Run",
    "Shards",
    "SmoothHinge",
    "Softmax",
    "Surplus",
    "TestSet",
    "ThroughputCPU",
    "TorchLoss",
    "UniformQuantizer",
    "advise",
    "deploy",
    "replay",
    "simulate",
    "split",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'walras.network' has no attribute {name!r}")
    found = getattr(importlib.import_module(_HOME[name]), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted(__all__)


class _Package(ModuleType):
    """Keeps a function's name from its module: ``simulate`` is the function of that name."""

    def __setattr__(self, name: str, value: object) -> None:
        if not (name in _HOME and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package
