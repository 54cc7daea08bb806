"""The order of clusters, and what is said where there are no predictions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from walras.exchange.api.views import Prediction, Predictions
from walras.exchange.dispatch.ranking import LISTED, Ranker, ranked
from walras.exchange.errors import UnreachableError


def _predictions(**found: tuple[float, float] | None) -> Predictions:
    """Cluster -> seconds and chance; None for one that the predictor does not know."""
    items = []
    for name, pair in found.items():
        seconds, chance = pair or (60.0, 1.0)
        values: Any = {"seconds": seconds, "chance": chance, "known": pair is not None}
        ends: Any = {
            "seconds_low": 0.0,
            "seconds_high": None,
            "chance_low": 0.0,
            "chance_high": 1.0,
        }
        items.append(Prediction(cluster=name, **values, **ends))
    return Predictions(predictor="predictor 3", items=items)


def test_the_soonest_success_is_first() -> None:
    found = ranked("abc", _predictions(a=(100.0, 1.0), b=(60.0, 0.5), c=(90.0, 0.95)))
    assert found.order == ("c", "a", "b")
    assert (found.by, found.why) == ("predictor 3", "")
    assert found.predicted["c"].seconds == 90.0


def test_equal_ones_stay_as_they_are_listed_and_no_chance_is_last() -> None:
    found = ranked("abc", _predictions(a=(1.0, 0.0), b=(9.0, 0.9), c=(10.0, 1.0)))
    assert found.order == ("b", "c", "a")


def test_clusters_that_the_predictor_does_not_know_follow_as_they_are_listed() -> None:
    found = ranked("zyab", _predictions(z=None, a=(50.0, 1.0), b=(9.0, 1.0)))
    assert found.order == ("b", "a", "z", "y")
    assert set(found.predicted) == {"a", "b"}


def test_where_it_knows_none_the_list_is_the_order() -> None:
    found = ranked("ba", _predictions(a=None, b=None))
    assert (found.order, found.by) == (("b", "a"), LISTED)
    assert "no predictor for these features" in found.why


class Exchange:
    """Answers, or is away."""

    def __init__(self) -> None:
        self.away, self.asked = False, list[tuple[Any, Any]]()

    def predict(self, features: Mapping[str, float], clusters: Sequence[str]) -> Predictions:
        self.asked.append((dict(features), list(clusters)))
        if self.away:
            raise UnreachableError("does not answer", where="http://exchange")
        return _predictions(**dict.fromkeys(clusters, (9.0, 1.0)))


def test_an_exchange_that_fails_is_left_alone_for_a_while() -> None:
    exchange = Exchange()
    ranker = Ranker(exchange.predict)
    assert ranker.rank({"x": 1.0}, ("a", "b"), 0.0).by == "predictor 3"
    exchange.away = True
    found = ranker.rank({}, ("b", "a"), 1.0)
    assert (found.order, found.by) == (("b", "a"), LISTED)
    assert found.why == "the exchange gives no predictions: http://exchange does not answer"
    exchange.away = False
    assert ranker.rank({}, ("b", "a"), 30.0) == found
    assert len(exchange.asked) == 2
    assert ranker.rank({}, ("b", "a"), 31.0).by == "predictor 3"


def test_names_that_no_cluster_of_the_exchange_has_are_not_asked_for() -> None:
    exchange = Exchange()
    ranker = Ranker(exchange.predict)
    assert ranker.rank({}, ("east.example.org", "a"), 0.0).order == ("a", "east.example.org")
    assert exchange.asked == [({}, ["a"])]
    found = ranker.rank({}, ("east.example.org",), 0.0)
    assert (found.order, found.by) == (("east.example.org",), LISTED)


@pytest.mark.parametrize("clusters", [("b", "a"), ()])
def test_without_an_exchange_the_list_is_the_order(clusters: tuple[str, ...]) -> None:
    found = Ranker(None).rank({}, clusters, 0.0)
    assert (found.order, found.by, found.why) == (clusters, LISTED, "no exchange is named")
