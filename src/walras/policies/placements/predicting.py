"""What a trained predictor says of tasks on clusters; the prior for what it does not know."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from walras.rounds.forecast import LEAST_SECONDS, MOST_SECONDS, Features, Forecast, Predict, prior

if TYPE_CHECKING:
    from walras.predict import Predictor


def predicting(predictor: Predictor, typical: float) -> Predict:
    """The predictions of a trained predictor; the prior for what it does not know.

    Args:
        predictor: It was trained on some clusters and some features.
        typical: Seconds of the prior.

    Returns:
        A function as :data:`Predict`: clusters that the predictor does not know have the prior, and
        so have tasks of other features, and all where it does not know the features' names.

    Example:
        >>> import numpy as np
        >>> from walras.policies.placements import predicting
        >>> from walras.predict import fit, recipe
        >>> jobs = recipe("gavel", train_tasks=12, synthetic=True)
        >>> predict = predicting(fit(jobs.train, jobs.validation), typical=60.0)
        >>> predict(np.zeros((1, 1), np.float32), ("layers",), ("k80",)).seconds
        array([[60.]])
    """
    import pandas as pd  # noqa: PLC0415 - a second to import, and the prior does without

    unknown = prior(typical)

    def predict(features: Features, names: tuple[str, ...], clusters: tuple[str, ...]) -> Forecast:
        if not clusters or not len(features) or set(predictor.feature_names) != set(names):
            return unknown(features, names, clusters)
        frame = pd.DataFrame(features.astype(np.float64), columns=list(names))
        found = predictor.predict(frame[list(predictor.feature_names)], clusters=clusters)
        return Forecast(
            seconds=np.clip(found.times, LEAST_SECONDS, MOST_SECONDS),
            chance=found.success,
            seconds_low=np.clip(found.low, 0.0, MOST_SECONDS),
            seconds_high=found.high,
            chance_low=found.success_low,
            chance_high=found.success_high,
        )

    return predict
