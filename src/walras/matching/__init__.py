"""Matching: which task goes to which cluster, so that all end soonest and enough of them succeed.

``match`` places the tasks of one round and explains it; ``match_rounds`` solves many small rounds
at once; ``relaxed_match`` is the smoothed problem that predictors are trained through (needs torch,
the extra ``torch``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from walras.lazy import lazy_names
from walras.matching.exact import Matches, decode, match_rounds
from walras.matching.explain import Reason
from walras.matching.match import MatchSettings, match, match_round
from walras.matching.metrics import Outcome, Scores, elastic_regret, evaluate, scores
from walras.matching.plan import Placement, Plan
from walras.matching.round import Round
from walras.matching.speedup import Decay, Speedup, pair_ratio

if TYPE_CHECKING:
    from walras.matching.relaxed import Relaxed, Smoothing, relaxed_match

__all__ = [
    "Decay",
    "MatchSettings",
    "Matches",
    "Outcome",
    "Placement",
    "Plan",
    "Reason",
    "Relaxed",
    "Round",
    "Scores",
    "Smoothing",
    "Speedup",
    "decode",
    "elastic_regret",
    "evaluate",
    "match",
    "match_round",
    "match_rounds",
    "pair_ratio",
    "relaxed_match",
    "scores",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {},
    __all__,
    renamed={"round_of": "Round.of"},
    torch=dict.fromkeys(("Relaxed", "Smoothing", "relaxed_match"), "walras.matching.relaxed"),
)
