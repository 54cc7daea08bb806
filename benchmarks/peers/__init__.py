"""The methods under measurement: Walras itself and its peers, one file a peer.

A method is a function ``solve(instance, objective, budget, **options) -> Outcome`` on plain
arrays, called in a process of its own.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from benchmarks.flow import AnyBuilt
from benchmarks.problem import Budget, Outcome


@dataclass(frozen=True)
class Method:
    """One row of the table.

    Attributes:
        label: Name in the table.
        target: ``module:function``, imported only in the process that runs it.
        options: Keyword arguments of the function.
        environment: ``project``, or the name of a folder in ``benchmarks/.environments``.
        packages: Distributions whose versions are recorded.
        device: ``cpu``, or what it needs besides, such as ``cuda``.
    """

    label: str
    target: str
    options: Mapping[str, object] = field(default_factory=dict)
    environment: str = "project"
    packages: tuple[str, ...] = ()
    device: str = "cpu"

    def run(self, instance: AnyBuilt, objective: str, budget: Budget) -> Outcome:
        """Import the function and call it."""
        module, name = self.target.split(":")
        function: Callable[..., Outcome] = getattr(importlib.import_module(module), name)
        return function(instance, objective, budget, **self.options)


def _highs(label: str, **options: object) -> Method:
    return Method(label, "benchmarks.peers.highs:solve", options, packages=("highspy",))


def _highs_match(label: str, **options: object) -> Method:
    return Method(label, "benchmarks.peers.highs_match:solve", options, packages=("highspy",))


def _pdlp(tolerance: float) -> Method:
    return Method(
        f"OR-tools PDLP {tolerance:.0e}",
        "benchmarks.peers.pdlp:solve",
        {"tolerance": tolerance},
        packages=("ortools",),
    )


def _dede(label: str, target: str) -> Method:
    return Method(label, target, environment="dede", packages=("dede", "cvxpy", "numpy", "scipy"))


def _walras(label: str, function: str, **options: object) -> Method:
    packages = ("walras", "numpy", "scipy", "numba", "highspy")
    device = str(options.get("device", "cpu"))
    return Method(label, f"benchmarks.peers.{function}", options, packages=packages, device=device)


def _highs_beside(label: str, function: str, **options: object) -> Method:
    """HiGHS on a program that a function of ours states."""
    packages = ("highspy", "walras", "numpy", "scipy")
    return Method(label, f"benchmarks.peers.{function}", options, packages=packages)


def _first_order(label: str, **options: object) -> Method:
    """The first-order engine, asked for 1 %."""
    return _walras(label, "walras_engine:solve", engine="admm", tolerance=1e-2, **options)


def _predict(label: str, packages: tuple[str, ...] = (), **options: object) -> Method:
    """One of our predictors of time."""
    packages = ("walras", "numpy", *packages)
    return Method(label, "benchmarks.peers.time_prediction:walras", options, packages=packages)


def _ablation(label: str, method: str, function: str, *packages: str) -> Method:
    """A loss of the linear ablation."""
    target = f"benchmarks.peers.linear_ablation:{function}"
    return Method(label, target, {"method": method}, packages=(*packages, "torch", "numpy"))


def _cvxpylayers(label: str, way: str, *packages: str) -> Method:
    packages = ("cvxpylayers", *packages, "cvxpy", "torch")
    return Method(
        label, "benchmarks.peers.gradient_step:cvxpylayers", {"way": way}, packages=packages
    )


METHODS: dict[str, Method] = {
    "walras": _walras("Walras", "walras_engine:solve"),
    "walras-warm": _walras("Walras, warm start", "walras_engine:solve_warm"),
    "walras-first-call": _walras("Walras, first call", "first_call:measure"),
    "walras-interior": _walras("Walras, interior", "walras_engine:solve", engine="interior"),
    "walras-exact": _walras("Walras, exact", "walras_engine:solve", engine="exact"),
    "walras-dede": _walras("Walras through `walras.dede`", "walras_dede:solve"),
    "walras-arrays": _walras("Walras from arrays", "walras_toy:solve"),
    "walras-admm": _first_order("Walras, first order to 1 %"),
    "walras-collapsed": _first_order("Walras, collapsed to 1 %", collapse=True),
    "walras-paper": _first_order("DeDe's published scheme, in our kernels", mode="paper", rho=1.0),
    "walras-ray-2": _first_order("Walras, two Ray actors", actors=2),
    "walras-ray-4": _first_order("Walras, four Ray actors", actors=4),
    "walras-interior-16": _walras(
        "Walras, interior, 16 threads", "walras_engine:solve", engine="interior"
    ),
    "walras-interior-cuda": _walras(
        "Walras, interior, GPU", "walras_engine:solve", engine="interior", device="cuda"
    ),
    "walras-admm-16": _first_order("Walras, first order to 1 %, 16 threads"),
    "walras-admm-cuda": _first_order("Walras, first order to 1 %, GPU", device="cuda"),
    "pop-4": _walras("POP-4", "pop:solve", parts=4),
    "pop-16": _walras("POP-16", "pop:solve", parts=16),
    "pop-64": _walras("POP-64", "pop:solve", parts=64),
    "pinning": _walras("Demand pinning", "routing:pinning"),
    "shortest-path": _walras("Shortest path", "routing:shortest_path"),
    # Where HiPO is installed, "ipm" is HiPO.
    "highs-ipm": _highs("HiGHS ipm, no crossover", algorithm="ipx", crossover="off"),
    "highs-hipo": Method(
        "HiGHS HiPO, no crossover",
        "benchmarks.peers.highs:solve",
        {"algorithm": "hipo", "crossover": "off"},
        environment="hipo",
        packages=("highspy", "highspy-extras"),
    ),
    "highs": _highs("HiGHS default", algorithm="choose", crossover="on"),
    "walras-match": _walras("Walras, branch and bound", "walras_match:exact"),
    "walras-match-large": _walras("Walras, matched to 1 %", "walras_match:large", tolerance=0.01),
    "walras-relaxed": _walras("Walras, Newton", "walras_match:relaxed", mode="newton"),
    "walras-mirror": _walras("Mirror descent, 3,000 steps", "walras_match:relaxed", mode="mirror"),
    "walras-gradient": _walras("Walras, implicit gradient", "gradient_step:walras"),
    "cvxpylayers": _cvxpylayers("cvxpylayers, SCS and LSQR", "lsqr", "diffcp", "scs"),
    "cvxpylayers-lpgd": _cvxpylayers(
        "cvxpylayers, Clarabel and LPGD", "lpgd", "diffcp", "clarabel"
    ),
    "cvxpylayers-moreau": _cvxpylayers("cvxpylayers, Moreau", "moreau", "moreau"),
    "walras-spo": _ablation("Walras, SPO+", "spo+", "walras", "walras"),
    "walras-black-box": _ablation("Walras, black-box", "black-box", "walras", "walras"),
    "pyepo-spo": _ablation("PyEPO, SPO+", "spo+", "pyepo", "pyepo"),
    "pyepo-dbb": _ablation("PyEPO, black-box", "black-box", "pyepo", "pyepo"),
    "highs-match": _highs_match("HiGHS, round by round", integer=True),
    "highs-match-lp": _highs_match("HiGHS, relaxation", integer=False),
    "highs-match-ipm": _highs_match(
        "HiGHS ipm, relaxation", integer=False, algorithm="ipm", crossover="off"
    ),
    "highs-leximin": Method(
        "HiGHS ipm, rounds", "benchmarks.peers.highs_leximin:solve", packages=("highspy",)
    ),
    "pdlp-1e-4": _pdlp(1e-4),
    "pdlp-1e-6": _pdlp(1e-6),
    "clarabel": Method("Clarabel", "benchmarks.peers.clarabel_conic:solve", packages=("clarabel",)),
    "scs": Method("SCS", "benchmarks.peers.scs_conic:solve", packages=("scs",)),
    "cvxpy": Method("cvxpy default", "benchmarks.peers.cvxpy_default:solve", packages=("cvxpy",)),
    "walras-two-stage": _walras("Walras, two-stage", "two_stage:solve"),
    "predict-linear-log": _predict("linear on one-hots, log loss", loss="log"),
    "predict-linear-raw": _predict("linear on one-hots, raw loss", loss="raw"),
    "predict-mlp": _predict(
        "fully connected", ("torch",), model="mlp", layers=2, hidden=64, learning_rate=3e-3
    ),
    "predict-gnn": _predict("graph network, end to end", ("torch",), model="gnn"),
    "predict-gnn-pretrained": _predict(
        "graph network, pretrained on other devices", ("torch",), model="gnn", pretrain=True
    ),
    "predict-trees": Method(
        "gradient-boosted trees",
        "benchmarks.peers.time_prediction:trees",
        packages=("scikit-learn", "numpy"),
    ),
    "walras-rebalance": _walras("Walras, replicas kept", "rebalancing:walras", keep=True),
    "walras-rebalance-drop": _walras("Walras, replicas dropped", "rebalancing:walras", keep=False),
    "estore": _walras("E-Store greedy", "rebalancing:estore"),
    "rebalance-pop-4": _walras("POP-4, plain program", "rebalancing:pop", parts=4),
    "rebalance-pop-16": _walras("POP-16, plain program", "rebalancing:pop", parts=16),
    "rebalance-plain": _highs_beside("HiGHS, plain program", "rebalancing:plain"),
    **{
        f"walras-assign-{seconds}": _walras(
            f"Walras, {seconds} s", "assigning:walras", seconds=float(seconds)
        )
        for seconds in (1, 10, 60)
    },
    **{
        f"highs-assign-{seconds}": _highs_beside(
            f"HiGHS, {seconds} s", "assigning:highs", seconds=float(seconds)
        )
        for seconds in (1, 10, 60)
    },
    **{
        f"cp-sat-assign-{seconds}": Method(
            f"CP-SAT, {seconds} s",
            "benchmarks.peers.cp_sat:cp_sat",
            {"seconds": float(seconds)},
            packages=("ortools",),
        )
        for seconds in (1, 10, 60)
    },
    "dede-library": _dede("dede library", "benchmarks.peers.dede_library:solve"),
    "dede-example": _dede("dede example's subproblems", "benchmarks.peers.dede_example:solve"),
}
