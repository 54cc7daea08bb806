"""Run times for SkyPilot: of a file, a predictor, an exchange; of what nobody knows."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx2
import numpy as np
import pandas as pd
import pytest
from starlette.testclient import TestClient
from tests.exchange.api.serving import Served
from tests.exchange.runtime.test_deciding import _model

from walras.errors import DataError, InaccuracyWarning, InputError
from walras.exchange.client import Client
from walras.exchange.dispatch.skypilot import Estimator, estimator
from walras.exchange.service import learning, predictors
from walras.exchange.store.statements import Transaction
from walras.predict import Predictor

LABELS: dict[str, dict[str, str]] = {
    "east": {"cloud": "aws", "region": "us-east-1", "gpu": "A100", "gpus": "8", "spot": "no"},
    "west": {"cloud": "gcp", "region": "us-west1", "gpu": "A100", "gpus": "8", "spot": "no"},
    "north": {"cloud": "aws", "region": "eu-north-1", "gpu": "T4", "gpus": "1", "spot": "no"},
}
ROWS = {"rows": 3.0}


@pytest.fixture(scope="module")
def predictor() -> Predictor:
    """Of east (fast) and west; nobody has run on north."""
    return Predictor.from_bytes(_model())


def _asks(**given: Any) -> SimpleNamespace:
    return SimpleNamespace(**given)


def _times(predictor: Predictor, *clusters: str) -> Any:
    return predictor.predict(pd.DataFrame([ROWS]), clusters).times[:, 0]


def test_seconds_are_those_of_the_predictor(predictor: Predictor) -> None:
    estimate = estimator(predictor, ROWS, LABELS)
    east, west = _times(predictor, "east", "west")
    assert estimate(_asks(accelerators={"A100": 8}, cloud="aws")) == max(round(east), 1)
    assert estimate(_asks(accelerators={"A100": 8}, region="us-west1")) == round(west)
    # The user lists no cloud: SkyPilot takes one answer for both machines.
    assert estimate(_asks(accelerators={"A100": 8})) == round((east + west) / 2.0)
    found = estimate(_asks(accelerators={"A100": 8}))
    assert type(found) is int


def test_a_file_and_a_predictor_give_the_same(predictor: Predictor, tmp_path: Path) -> None:
    predictor.save(tmp_path / "p.npz")
    for path in (tmp_path / "p.npz", str(tmp_path / "p.npz")):
        assert estimator(path, ROWS, LABELS) == estimator(predictor, ROWS, LABELS)
    with pytest.raises(DataError, match="cannot be read as a predictor"):
        estimator(tmp_path / "none.npz", ROWS, LABELS)


def test_features_beyond_those_it_reads_do_no_harm(predictor: Predictor) -> None:
    more = {"depth": 9.0, **ROWS}
    assert estimator(predictor, more, LABELS) == estimator(predictor, ROWS, LABELS)


def test_unknown_resources_have_the_mean_of_the_others_and_a_warning(predictor: Predictor) -> None:
    estimate = estimator(predictor, ROWS, LABELS)
    mean = np.exp(np.log(_times(predictor, "east", "west")).mean())
    t4 = _asks(accelerators={"T4": 1})
    with pytest.warns(InaccuracyWarning, match="no cluster of the predictor matches gpu=t4"):
        assert estimate(t4) == round(mean)
    assert estimate(t4) == round(mean)  # without a second warning


def test_unknown_resources_are_refused_where_that_is_asked_for(predictor: Predictor) -> None:
    estimate = estimator(predictor, ROWS, LABELS, unknown="refuse")
    with pytest.raises(InputError, match="no cluster of the predictor matches gpu=t4 gpus=1"):
        estimate(_asks(accelerators={"T4": 1}))


def test_retries_divide_by_the_chance_of_success(predictor: Predictor) -> None:
    found = predictor.predict(pd.DataFrame([ROWS]), ("east", "west"))
    retried = estimator(predictor, ROWS, LABELS, retries=True)
    expected = found.times[:, 0] / found.success[:, 0]
    assert list(retried.seconds.values()) == pytest.approx(expected.tolist())
    assert retried.seconds["west"] > estimator(predictor, ROWS, LABELS).seconds["west"]


def test_an_answer_is_a_whole_number_of_at_least_one() -> None:
    for seconds, whole in ((1e-9, 1), (0.4, 1), (2.6, 3), (float("inf"), 10**9)):
        assert Estimator({"a": {}}, {"a": seconds}, 1.0)(_asks()) == whole


@pytest.mark.parametrize(
    ("features", "clusters", "what"),
    [
        (ROWS, None, "clusters: are missing"),
        (ROWS, {"nowhere": {}}, r"the predictor knows none of them with these features \(nowhere"),
        (ROWS, {}, "there is none"),
        ({"depth": 1.0}, LABELS, "feature 'rows' is missing"),
        ({"rows": float("nan")}, LABELS, "feature rows: is NaN"),
    ],
)
def test_what_cannot_be_predicted_is_refused_when_it_is_made(
    predictor: Predictor, features: Mapping[str, float], clusters: Any, what: str
) -> None:
    with pytest.raises(InputError, match=what):
        estimator(predictor, features, clusters)
    with pytest.raises(InputError, match="unknown: is 'guess'"):
        estimator(predictor, ROWS, LABELS, unknown="guess")  # type: ignore[arg-type]


class Documented:
    """An exchange that answers as its routes are documented."""

    def __init__(self, known: Sequence[str], names: Sequence[str]) -> None:
        self.known, self.names = known, names
        self.asked: list[list[str]] = []

    def __call__(self, request: httpx2.Request) -> httpx2.Response:
        if request.url.path == "/v1/clusters":
            return httpx2.Response(200, json={"items": self._clusters(), "next_cursor": None})
        assert request.url.path == "/v1/predictors:predict"
        body = json.loads(request.content)
        assert body["features"] == ROWS
        self.asked.append(body["clusters"])
        items = [
            {
                "cluster": name,
                "known": name in self.known,
                "seconds": 100.0 * (1 + self.known.index(name)) if name in self.known else 70.0,
                "seconds_low": 1.0,
                "seconds_high": None,
                "chance": 0.5,
                "chance_low": 0.0,
                "chance_high": 1.0,
            }
            for name in body["clusters"]
        ]
        return httpx2.Response(200, json={"predictor": "predictor 1", "items": items})

    def _clusters(self) -> list[dict[str, Any]]:
        return [
            {
                "uid": name,
                "provider": name,
                "labels": LABELS.get(name, {"region": name}),
                "slots": 1,
                "free": 1,
                "price": 0.0,
                "state": "up",
                "heard": True,
                "seen": None,
                "trusted": False,
                "version": 1,
            }
            for name in self.names
        ]

    def client(self) -> Client:
        transport = httpx2.Client(base_url="http://exchange", transport=httpx2.MockTransport(self))
        return Client("http://exchange", "", transport=transport)


def test_an_exchange_is_asked_for_its_own_clusters() -> None:
    documented = Documented(["east", "west"], list(LABELS))
    estimate = estimator(documented.client(), ROWS)
    assert estimate(_asks(accelerators={"A100": 8}, cloud="gcp")) == 200
    assert estimate(_asks(accelerators={"A100": 8})) == 150
    with pytest.warns(InaccuracyWarning):
        assert estimate(_asks(accelerators={"T4": 1})) == 70
    assert estimator(documented.client(), ROWS, retries=True).prior == 70 * 2


def test_many_clusters_are_asked_for_in_parts() -> None:
    names = [f"c{k}" for k in range(450)]
    documented = Documented(names, names)
    estimate = estimator(documented.client(), ROWS)
    assert [len(one) for one in documented.asked] == [200, 200, 53]
    assert max(map(len, documented.asked)) <= 200  # as many as the route takes
    assert estimate(_asks(region="c449")) == 45000


def test_an_exchange_that_knows_nothing_is_refused() -> None:
    with pytest.raises(InputError, match="knows none of them with these features"):
        estimator(Documented([], ["east"]).client(), ROWS)
    with pytest.raises(InputError, match="there is none"):
        estimator(Documented([], []).client(), ROWS)


def test_a_service_answers_by_its_own_predictor(predictor: Predictor, tmp_path: Path) -> None:
    served = Served(tmp_path / "home")
    transport: Any = TestClient(served.app, raise_server_exceptions=False)
    transport.headers["Authorization"] = f"Bearer {served.tokens['admin']}"
    client = Client("http://testserver", "", transport=transport)
    for name, labels in LABELS.items():
        client.clusters.put(name, 1, labels=labels)
    with pytest.raises(InputError, match="knows none of them"):
        estimator(client, ROWS)

    def promoted(tx: Transaction, now: float) -> None:
        version = learning.store(tx, now, _model(), ("east", "west"), 5, {})
        predictors.promote(tx, now, version, "admin")

    served.exchange.write(promoted)
    found, own = estimator(client, ROWS), estimator(predictor, ROWS, LABELS)
    served.close()
    assert found.clusters == own.clusters
    assert found.seconds == pytest.approx(own.seconds)
    assert found.prior == pytest.approx(own.prior)


def test_nothing_of_skypilot_is_imported() -> None:
    code = (
        "import sys, walras.exchange.dispatch.skypilot as made; made.estimator, made.read_catalog;"
        "sys.exit('sky' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
