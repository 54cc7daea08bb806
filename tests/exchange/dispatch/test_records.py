"""What the dispatcher prints."""

from __future__ import annotations

from tests.exchange.dispatch.fake_kueue import FakeKueue
from tests.exchange.dispatch.virtual import predicted

from walras.exchange.dispatch import records
from walras.exchange.dispatch.dispatcher import Dispatcher
from walras.exchange.dispatch.follow import Change
from walras.exchange.dispatch.nominations import Nomination
from walras.exchange.dispatch.ranking import LISTED, Ranked, ranked
from walras.exchange.dispatch.requests import KINDS
from walras.exchange.dispatch.workloads import Workload

MADE = Nomination(Workload("lab", "w", "u", "1"), ("x", "b", "a"), ("b", "a"))


def test_a_write_with_predictions() -> None:
    found = records.nominated(MADE, ranked("ab", predicted({}, "ab")), 5.0)
    assert records.line(found) == (
        "lab/w: nominated b (99 s, chance 0.9), a (100 s, chance 0.9), by predictor 3"
    )
    assert found.model_dump(mode="json") == {
        "at": 5.0,
        "namespace": "lab",
        "workload": "w",
        "added": [
            {"cluster": "b", "seconds": 99.0, "chance": 0.9},
            {"cluster": "a", "seconds": 100.0, "chance": 0.9},
        ],
        "nominated": ["x", "b", "a"],
        "by": "predictor 3",
        "why": "",
    }


def test_a_write_without_predictions() -> None:
    found = records.nominated(MADE, Ranked(("b", "a"), LISTED, "no exchange is named"), 5.0)
    assert records.line(found) == "lab/w: nominated b, a, by order of the MultiKueueConfig"
    assert found.why == "no exchange is named"


def test_where_workloads_stand() -> None:
    fake = FakeKueue()
    fake.chain("a")
    fake.workload("b")
    fake.workload("a", "none")
    made = Dispatcher()
    for kind in KINDS:
        made.change(Change(kind, "replace", tuple(fake.objects[kind].values())), 0.0)
    assert [one.model_dump() for one in records.places(made, 0.0)] == [
        {
            "namespace": "lab",
            "workload": "a",
            "state": "blocked",
            "nominated": [],
            "text": "its ClusterQueue 'none' is not there",
        },
        {
            "namespace": "lab",
            "workload": "b",
            "state": "due",
            "nominated": [],
            "text": "no cluster is nominated",
        },
    ]
