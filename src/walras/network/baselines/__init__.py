"""Methods of others, with the same interface: ``simulate(problem, network, method=HeavyBall())``.

Methods for the shares train the model as :class:`walras.network.Surplus` does. Methods for the
model share the CPU as it does. The former do not hold whole quanta; ``Run.held`` shows how well the
budget is met.
"""

from walras.network.baselines.learning import DIGing, Extra, Nids
from walras.network.baselines.reference import Centralised, FederatedAveraging
from walras.network.baselines.resource import (
    AdmmSharing,
    HeavyBall,
    LaplacianGradient,
    RatioConsensus,
    SignPower,
)

__all__ = [
    "AdmmSharing",
    "Centralised",
    "DIGing",
    "Extra",
    "FederatedAveraging",
    "HeavyBall",
    "LaplacianGradient",
    "Nids",
    "RatioConsensus",
    "SignPower",
]
