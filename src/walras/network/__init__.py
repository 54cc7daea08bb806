"""Centres that share a CPU budget and train one model, from their neighbours' messages only.

Source: Doostmohammadian, Gabidullina and Rabiee, Machine Learning and CPU Scheduling
Co-Optimization over a Network of Computing Centers, arXiv 2510.25176.
"""

from walras.network.costs import CallableCPU, CPUCost, QuadraticCPU, ThroughputCPU
from walras.network.faults import Crash, Faults
from walras.network.graph import Network
from walras.network.links import Ideal, LogQuantizer, UniformQuantizer
from walras.network.losses import LeastSquares, Logistic, SmoothHinge, Softmax
from walras.network.optimum import Optimum
from walras.network.problem import Problem
from walras.network.quanta import AuditError
from walras.network.run import Run
from walras.network.shards import Shards, split
from walras.network.simulate import simulate
from walras.network.surplus import Surplus

__all__ = [
    "AuditError",
    "CPUCost",
    "CallableCPU",
    "Crash",
    "Faults",
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
    "ThroughputCPU",
    "UniformQuantizer",
    "simulate",
    "split",
]
