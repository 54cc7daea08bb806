"""Engines, each with its options: ``wl.solve(problem, engine=wl.engines.ADMM(mode="paper"))``.

Each takes a :class:`~walras.separable.Separable` and settings and returns an iterate.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from walras.lazy import lazy_names

if TYPE_CHECKING:
    from walras.engines.admm.engine import ADMM
    from walras.engines.admm.option_groups import (
        JointMinimisation,
        LargestFirst,
        PenaltyUpdate,
        ProofSchedule,
        RestartRule,
        StartPrices,
    )
    from walras.engines.base import Engine
    from walras.engines.exact.engine import Exact
    from walras.engines.integer.engine import Integer
    from walras.engines.integer.options import AssignmentSearch, FeasibilityPump
    from walras.engines.interior.engine import Interior
    from walras.engines.interior.options import BlockGeneration, ColumnGeneration, WarmStart
    from walras.engines.pop.engine import POP
    from walras.engines.prices.engine import Prices

__all__ = [
    "ADMM",
    "POP",
    "AssignmentSearch",
    "BlockGeneration",
    "ColumnGeneration",
    "Engine",
    "Exact",
    "FeasibilityPump",
    "Integer",
    "Interior",
    "JointMinimisation",
    "LargestFirst",
    "PenaltyUpdate",
    "Prices",
    "ProofSchedule",
    "RestartRule",
    "StartPrices",
    "WarmStart",
]

_HOME = {
    "ADMM": "walras.engines.admm.engine",
    "AssignmentSearch": "walras.engines.integer.options",
    "BlockGeneration": "walras.engines.interior.options",
    "ColumnGeneration": "walras.engines.interior.options",
    "Engine": "walras.engines.base",
    "Exact": "walras.engines.exact.engine",
    "FeasibilityPump": "walras.engines.integer.options",
    "Integer": "walras.engines.integer.engine",
    "Interior": "walras.engines.interior.engine",
    "JointMinimisation": "walras.engines.admm.option_groups",
    "LargestFirst": "walras.engines.admm.option_groups",
    "PenaltyUpdate": "walras.engines.admm.option_groups",
    "POP": "walras.engines.pop.engine",
    "Prices": "walras.engines.prices.engine",
    "ProofSchedule": "walras.engines.admm.option_groups",
    "RestartRule": "walras.engines.admm.option_groups",
    "StartPrices": "walras.engines.admm.option_groups",
    "WarmStart": "walras.engines.interior.options",
}

__getattr__, __dir__ = lazy_names(__name__, _HOME, __all__)
