"""The policy of the exchange: predict the window, match it under the rules, check, explain."""

from __future__ import annotations

from walras.policies.exchange.decide import decide
from walras.policies.exchange.forecast import Forecast, Predict, predicting, prior
from walras.policies.exchange.order import eligible, fair_order
from walras.policies.exchange.policy import Policy, decayed

__all__ = [
    "Forecast",
    "Policy",
    "Predict",
    "decayed",
    "decide",
    "eligible",
    "fair_order",
    "predicting",
    "prior",
]
