"""The order of clusters for a workload: by the exchange's predictions, else as they are listed."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from walras.exchange.api.views import Prediction, Predictions
from walras.exchange.errors import ExchangeError

Predict = Callable[[Mapping[str, float], Sequence[str]], Predictions]
"""``(features, clusters) -> Predictions``; :meth:`walras.exchange.client.Predictors.predict`."""

LISTED = "order of the MultiKueueConfig"
_NAME = re.compile(r"[a-z0-9-]{1,63}")  # of a cluster of the exchange
_QUIET = 30.0  # seconds for which an exchange that failed is not asked


@dataclass(frozen=True)
class Ranked:
    """Clusters in order.

    Attributes:
        order: The best first.
        by: What they are ordered by.
        why: Why not by predictions; empty where they are.
        predicted: Cluster -> what is predicted, of those that the predictor knows.
    """

    order: tuple[str, ...]
    by: str
    why: str = ""
    predicted: Mapping[str, Prediction] = field(default_factory=dict)


def ranked(clusters: Sequence[str], found: Predictions) -> Ranked:
    """Order clusters by the time until a run succeeds, as it is predicted: seconds over chance.

    Args:
        clusters: As they are listed.
        found: What the exchange predicts.

    Returns:
        Clusters that the predictor knows, the soonest first; then the others as they are listed.
    """
    known = {one.cluster: one for one in found.items if one.known}
    if not known:
        why = "the exchange has no predictor for these features and clusters"
        return Ranked(tuple(clusters), LISTED, why)
    listed = [name for name in clusters if name in known]
    rest = [name for name in clusters if name not in known]
    first = sorted(listed, key=lambda name: _expected(known[name]))
    return Ranked((*first, *rest), found.predictor, predicted=known)


def _expected(found: Prediction) -> float:
    return found.seconds / found.chance if found.chance > 0.0 else math.inf


class Ranker:
    """Asks the exchange for the order of clusters; one that fails is left alone for a while.

    Args:
        predict: Asks the exchange; None where there is none.
    """

    def __init__(self, predict: Predict | None) -> None:
        self._predict = predict
        self._quiet_until, self._why = -math.inf, "no exchange is named"

    def rank(self, features: Mapping[str, float], clusters: Sequence[str], now: float) -> Ranked:
        """Order clusters for a workload.

        Args:
            features: Of the workload.
            clusters: As they are listed.
            now: The time.

        Returns:
            The order; that of the list where the exchange has none.
        """
        if self._predict is None or now < self._quiet_until:
            return Ranked(tuple(clusters), LISTED, self._why)
        named = [name for name in clusters if _NAME.fullmatch(name)]
        if not named:
            why = "the exchange has no clusters of such names"
            return Ranked(tuple(clusters), LISTED, why)
        try:
            return ranked(clusters, self._predict(features, named))
        except ExchangeError as error:
            self._quiet_until = now + _QUIET
            self._why = f"the exchange gives no predictions: {error.where or 'it'} {error.what}"
            return Ranked(tuple(clusters), LISTED, self._why)
