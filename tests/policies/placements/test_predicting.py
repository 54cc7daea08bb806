"""What a trained predictor says, and the prior for what it does not know."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from walras.policies.placements import predicting
from walras.predict import fit, recipe


def test_a_trained_predictor_and_the_prior_for_what_it_does_not_know() -> None:
    jobs = recipe("gavel", train_tasks=20, synthetic=True)
    names = tuple(f"f{k}" for k in range(jobs.train.features.shape[1]))
    predictor = fit(
        replace(jobs.train, feature_names=names), replace(jobs.validation, feature_names=names)
    )
    assert predictor.feature_names == names
    values = jobs.test.features.astype(np.float32)[:5]
    direct = predictor.predict(jobs.test)
    predict = predicting(predictor, typical=77.0)
    found = predict(values, names, ("new", "k80", "v100"))
    prior_from_others = predictor.predict(jobs.test, clusters=["new"])
    np.testing.assert_allclose(found.seconds[0], prior_from_others.times[0, :5], rtol=1e-4)
    assert (found.seconds_high[0] > 2.0 * found.seconds[0]).all()
    rows = [predictor.clusters.index(name) for name in ("k80", "v100")]
    np.testing.assert_allclose(found.seconds[1:], direct.times[rows, :5], rtol=1e-4)
    np.testing.assert_allclose(found.chance[1:], direct.success[rows, :5], rtol=1e-4)
    # Columns are taken by name.
    turned = predict(values[:, ::-1], names[::-1], ("k80",))
    np.testing.assert_allclose(turned.seconds[0], found.seconds[1])
    # Other features: the prior. Other clusters alone: that of the known ones.
    assert (predict(values[:, :1], ("other",), ("k80",)).seconds == 77.0).all()
    np.testing.assert_array_equal(predict(values, names, ("new",)).seconds[0], found.seconds[0])
