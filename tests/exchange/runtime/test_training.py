"""What the process beside the service does for predictors: rows in, a model or a verdict out."""

from __future__ import annotations

import json

import numpy as np
import pytest

from walras.exchange.runtime import training
from walras.exchange.service.learning import Rows
from walras.predict import Predictor


def _rows(count: int, seed: int, clusters: int = 3) -> Rows:
    """Drawn runs; of the last cluster no time was measured."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(count, 1)).astype(np.float32)
    cluster = np.arange(count) % clusters
    seconds = np.exp(2.0 + x[:, 0] + 0.7 * cluster + 0.2 * rng.normal(size=count))
    seconds[cluster == clusters - 1] = np.nan
    return Rows(
        last=count,
        names=tuple(f"t{k}" for k in range(count)),
        feature_names=("x",),
        clusters=tuple("abc"[:clusters]),
        features=x,
        cluster=cluster,
        seconds=seconds,
        success=(rng.random(count) < 0.8).astype(float),
        propensity=np.full(count, np.nan),
        round=np.arange(count) % 25,
        size=np.ones(count),
        slots=np.ones(count),
    )


def test_rows_and_models_come_back_as_they_were_packed() -> None:
    rows = _rows(6, 0)
    found, more = training.unpack(training.pack(rows, start=b"\0model"))
    assert more == {"start": b"\0model"}
    for name in ("last", "names", "feature_names", "clusters"):
        assert getattr(found, name) == getattr(rows, name)
    for name in ("features", "cluster", "seconds", "success", "round", "slots"):
        np.testing.assert_array_equal(getattr(found, name), getattr(rows, name))


@pytest.fixture(scope="module")
def trained() -> bytes:
    return training.train(training.pack(_rows(90, 1)))


def test_clusters_without_a_measured_time_are_left_out(trained: bytes) -> None:
    header, _, data = trained.partition(b"\n")
    assert json.loads(header) == ["a", "b"]
    predictor = Predictor.from_bytes(data)
    assert predictor.clusters == ("a", "b")
    assert predictor.trained_on == 60
    rows = _rows(30, 2, 2)
    found = training.predicted(rows, predictor)
    assert found.seconds.shape == (2, 30)
    ratio = found.seconds[1].mean() / found.seconds[0].mean()
    assert ratio == pytest.approx(np.exp(0.7), rel=0.3)
    assert (found.low < found.high).all()


def test_a_model_of_other_features_is_not_begun_from(trained: bytes) -> None:
    rows = _rows(90, 1)
    other = Rows(**{**vars(rows), "feature_names": ("y",)})
    start = trained.partition(b"\n")[2]
    made = training.train(training.pack(other, start=start))
    assert Predictor.from_bytes(made.partition(b"\n")[2]).feature_names == ("y",)
    assert made == training.train(training.pack(other))


def test_a_verdict_is_json_without_numbers_that_json_lacks(trained: bytes) -> None:
    prior = json.dumps({"seconds": 10.0, "success": 0.8, "age": 5.0}).encode()
    rows = _rows(60, 3, 2)
    model = trained.partition(b"\n")[2]
    decision, why, scores = json.loads(
        training.score(training.pack(rows, candidate=model, prior=prior)),
        parse_constant=pytest.fail,
    )
    assert decision in ("wait", "promote", "reject")
    assert why
    assert isinstance(scores, dict)
    assert training._plain({1: float("nan"), "b": {"c": float("inf")}, "d": 2.0}) == {
        "1": None,
        "b": {"c": None},
        "d": 2.0,
    }
