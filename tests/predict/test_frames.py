"""Frames stand in for files and arrays: logs, features, and what is predicted."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from walras import learn, predict
from walras.errors import DataError, InputError
from walras.predict.tasks import Tasks


def runs(count: int = 40) -> pd.DataFrame:
    rng = np.random.default_rng(5)
    rows = [
        (f"t{k}", cluster, scale * (1 + k % 7) * rng.uniform(0.9, 1.1), "completed")
        for k in range(count)
        for cluster, scale in (("a", 1.0), ("b", 3.0))
    ]
    return pd.DataFrame(rows, columns=["task", "cluster", "seconds", "outcome"])


def features(count: int = 40) -> pd.DataFrame:
    size = np.arange(count) % 7
    return pd.DataFrame(
        {"size": size, "layers": (size - 3.0) ** 2}, index=[f"t{k}" for k in range(count)]
    )


def test_a_log_is_read_from_a_frame_as_from_its_file(tmp_path: Path) -> None:
    runs().to_csv(tmp_path / "log.csv", index=False)
    log, filed = predict.read_log(runs()), predict.read_log(tmp_path / "log.csv")
    pd.testing.assert_frame_equal(log.runs, filed.runs)
    tasks = log.tasks(features())
    assert tasks.feature_names == ("size", "layers")
    assert tasks.take(np.array([0, 1])).feature_names == ("size", "layers")
    with pytest.raises(DataError, match="has no column 'seconds'") as caught:
        predict.read_log(runs().drop(columns="seconds"))
    assert caught.value.where == "the frame"


def test_a_frame_of_features_is_predicted_by_the_names_of_its_columns(tmp_path: Path) -> None:
    tasks = predict.read_log(runs()).tasks(features())
    predictor = predict.fit(tasks)
    wanted = predictor.predict(tasks)
    turned = features().loc[list(tasks.names), ["layers", "size"]].assign(note="ignored")
    found = predictor.predict(turned)
    assert found.names == tasks.names
    np.testing.assert_array_equal(found.times, wanted.times)
    predictor.save(tmp_path / "p.npz")
    again = predict.Predictor.load(tmp_path / "p.npz")
    assert again.feature_names == ("size", "layers")
    np.testing.assert_array_equal(again.predict(turned).times, wanted.times)
    with pytest.raises(InputError, match="has no column 'size'"):
        predictor.predict(turned[["layers"]])
    with pytest.raises(InputError, match="'x'"):
        predictor.predict(features().astype(object).replace(0, "x"))


def test_without_names_the_columns_are_taken_in_order() -> None:
    tasks = predict.read_log(runs()).tasks(
        {str(name): tuple(row) for name, row in features().T.items()}
    )
    assert tasks.feature_names == ()
    predictor = predict.fit(tasks)
    table = features().loc[list(tasks.names)]
    np.testing.assert_array_equal(predictor.predict(table).times, predictor.predict(tasks).times)
    with pytest.raises(InputError, match="have 1 columns"):
        predictor.predict(table[["size"]])


def test_a_trained_model_predicts_frames_too() -> None:
    tasks: Tasks = predict.read_log(runs()).tasks(features())
    model = learn.fit("tsm", tasks, tasks_per_round=4, rounds=10)
    table = features().loc[list(tasks.names)]
    np.testing.assert_array_equal(model.times(table), model.times(tasks))
    assert model.predict(table).clusters == ("a", "b")
    assert list(model.frame().columns) == ["step", "regret"]
