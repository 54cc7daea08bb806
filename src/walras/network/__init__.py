"""Centres that share a CPU budget and train one model, from their neighbours' messages only.

Source: Doostmohammadian, Gabidullina and Rabiee, Machine Learning and CPU Scheduling
Co-Optimization over a Network of Computing Centers, arXiv 2510.25176.

Names load when they are first used, since a centre's own process needs few of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from walras.lazy import lazy_names

if TYPE_CHECKING:
    from walras.network._advise import Advice, advise
    from walras.network._deploy import Deployment, deploy
    from walras.network._replay import replay
    from walras.network._simulate import simulate
    from walras.network.drivers.launch import Host
    from walras.network.graph.network import Network
    from walras.network.links.faults import Crash, Cut, Faults
    from walras.network.links.quantizers import Ideal, LogQuantizer, UniformQuantizer
    from walras.network.methods.surplus import Surplus
    from walras.network.problem.cpu_costs import CallableCPU, CPUCost, QuadraticCPU, ThroughputCPU
    from walras.network.problem.losses import LeastSquares, Logistic, SmoothHinge, Softmax
    from walras.network.problem.network_problem import NetworkProblem
    from walras.network.problem.optimum import Optimum
    from walras.network.problem.quanta import AuditError
    from walras.network.problem.shards import Shards, split
    from walras.network.problem.test_set import TestSet
    from walras.network.problem.torch_losses import TorchLoss
    from walras.network.run import Run

_HOME = {
    "baselines": "walras.network.baselines",
    "Deployment": "walras.network._deploy",
    "deploy": "walras.network._deploy",
    "Host": "walras.network.drivers.launch",
    "replay": "walras.network._replay",
    "CallableCPU": "walras.network.problem.cpu_costs",
    "CPUCost": "walras.network.problem.cpu_costs",
    "QuadraticCPU": "walras.network.problem.cpu_costs",
    "ThroughputCPU": "walras.network.problem.cpu_costs",
    "Crash": "walras.network.links.faults",
    "Cut": "walras.network.links.faults",
    "Faults": "walras.network.links.faults",
    "Network": "walras.network.graph.network",
    "Ideal": "walras.network.links.quantizers",
    "LogQuantizer": "walras.network.links.quantizers",
    "UniformQuantizer": "walras.network.links.quantizers",
    "LeastSquares": "walras.network.problem.losses",
    "Logistic": "walras.network.problem.losses",
    "SmoothHinge": "walras.network.problem.losses",
    "Softmax": "walras.network.problem.losses",
    "Optimum": "walras.network.problem.optimum",
    "NetworkProblem": "walras.network.problem.network_problem",
    "AuditError": "walras.network.problem.quanta",
    "Run": "walras.network.run",
    "Shards": "walras.network.problem.shards",
    "split": "walras.network.problem.shards",
    "simulate": "walras.network._simulate",
    "Surplus": "walras.network.methods.surplus",
    "Advice": "walras.network._advise",
    "advise": "walras.network._advise",
    "TestSet": "walras.network.problem.test_set",
    "TorchLoss": "walras.network.problem.torch_losses",
}

__all__ = [
    "Advice",
    "AuditError",
    "CPUCost",
    "CallableCPU",
    "Crash",
    "Cut",
    "Deployment",
    "Faults",
    "Host",
    "Ideal",
    "LeastSquares",
    "LogQuantizer",
    "Logistic",
    "Network",
    "NetworkProblem",
    "Optimum",
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

__getattr__, __dir__ = lazy_names(
    __name__, _HOME, __all__, renamed={"rivals": "baselines", "Problem": "NetworkProblem"}
)
