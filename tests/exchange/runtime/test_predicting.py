"""Predictions of a task that is not submitted."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, cast

import pytest
from tests.exchange.runtime.test_deciding import _model

from walras.errors import WalrasError
from walras.exchange.runtime import predicting
from walras.exchange.runtime.compute import Compute
from walras.exchange.runtime.exchange import Exchange
from walras.exchange.runtime.predicting import predicted, predictions


def _asked(model: bytes, *clusters: str, forget: tuple[str, ...] = (), **features: float) -> Any:
    head = {"features": features, "clusters": clusters, "typical": 60.0, "forget": forget}
    return json.loads(predicted(json.dumps(head).encode() + b"\n" + model))


def test_known_clusters_have_intervals_and_unknown_ones_a_prior() -> None:
    east, north, west = _asked(_model(), "east", "north", "west", rows=2.0)
    assert [one["known"] for one in (east, north, west)] == [True, False, True]
    assert east["seconds"] < north["seconds"] < west["seconds"]
    assert east["seconds_low"] <= east["seconds"] <= east["seconds_high"] < west["seconds_low"]


def test_features_that_the_predictor_does_not_read_are_left_out() -> None:
    few = _asked(_model(), "east", "west", rows=2.0)
    assert _asked(_model(), "east", "west", rows=2.0, depth=9.0) == few


def test_without_one_of_its_features_all_have_the_prior() -> None:
    found = _asked(_model(), "east", "west", depth=9.0)
    assert [one["known"] for one in found] == [False, False]
    assert [one["seconds"] for one in found] == [60.0, 60.0]
    assert [one["seconds_high"] for one in found] == [None, None]


def test_a_cluster_that_lied_is_not_known() -> None:
    east, west = _asked(_model(), "east", "west", forget=("east",), rows=2.0)
    assert (east["known"], west["known"]) == (False, True)


def test_a_file_that_is_no_predictor_is_refused() -> None:
    with pytest.raises(WalrasError):
        _asked(b"no predictor", "east", rows=1.0)


class Inside:
    """A process that is none, and an exchange that has one predictor."""

    def __init__(self, name: str, model: bytes) -> None:
        self.taken = name, model, {"typical": 30.0, "forget": ()}
        self.calls = 0

    def read(self, work: Callable[..., Any]) -> Any:
        assert work is predicting._taken
        return self.taken

    def call(self, name: str, data: bytes, seconds: float) -> bytes:
        assert name == "predict"
        self.calls += 1
        return predicted(data)


def _predictions(inside: Inside, features: dict[str, float], *clusters: str) -> Any:
    both = cast(Exchange, inside), cast(Compute, inside)
    return predictions(*both, features, clusters)


def test_a_cluster_may_be_named_twice_and_the_predictor_is_named() -> None:
    inside = Inside("predictor 3", _model())
    found = _predictions(inside, {"rows": 2.0}, "west", "east", "west")
    assert found["predictor"] == "predictor 3"
    assert [one["cluster"] for one in found["items"]] == ["west", "east", "west"]
    assert found["items"][0] == found["items"][2]
    assert _predictions(inside, {}, "west")["predictor"] == "prior"


def test_without_a_predictor_no_process_is_asked() -> None:
    inside = Inside("prior", b"")
    found = _predictions(inside, {"rows": 2.0}, "east")
    assert (found["predictor"], inside.calls) == ("prior", 0)
    assert found["items"][0]["seconds"] == 30.0
