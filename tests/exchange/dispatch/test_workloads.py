"""What is read of a Workload."""

from __future__ import annotations

import math
from typing import Any

import pytest

from walras.exchange.dispatch.workloads import features_of, quantity, workload_of


def _object(status: Any = None, **meta: Any) -> dict[str, Any]:
    made: dict[str, Any] = {
        "metadata": {"namespace": "lab", "name": "w", "uid": "u1", "resourceVersion": "7", **meta}
    }
    return made if status is None else made | {"status": status}


def test_a_new_workload_has_nothing() -> None:
    found = workload_of(_object())
    assert found.key == ("lab", "w")
    assert (found.uid, found.version, found.queue, found.cluster) == ("u1", "7", "", "")
    assert (found.nominated, found.checks, found.since) == ((), {}, None)
    assert found.closed == "has no quota reserved"


@pytest.mark.parametrize(
    ("status", "meta", "closed"),
    [
        ({"conditions": [{"type": "QuotaReserved", "status": "True"}]}, {}, ""),
        (
            {"conditions": [{"type": "QuotaReserved", "status": "False"}]},
            {},
            "has no quota reserved",
        ),
        (
            {"conditions": [{"type": t, "status": "True"} for t in ("QuotaReserved", "Finished")]},
            {},
            "has finished",
        ),
        (
            {
                "conditions": [{"type": "QuotaReserved", "status": "True"}],
                "clusterName": "east",
            },
            {},
            "is on east",
        ),
        (
            {"conditions": [{"type": "QuotaReserved", "status": "True"}]},
            {"deletionTimestamp": "2026-11-26T00:00:00Z"},
            "is being deleted",
        ),
    ],
)
def test_when_there_is_something_to_do(
    status: dict[str, Any], meta: dict[str, Any], closed: str
) -> None:
    assert workload_of(_object(status, **meta)).closed == closed


def test_its_queue_checks_and_names_are_read() -> None:
    found = workload_of(
        _object(
            {
                "admission": {"clusterQueue": "cq"},
                "admissionChecks": [{"name": "mk", "state": "Pending"}, {"name": "x"}],
                "nominatedClusterNames": ["b", "a"],
                "clusterName": None,
            }
        )
    )
    assert found.queue == "cq"
    assert found.checks == {"mk": "Pending", "x": ""}
    assert found.nominated == ("b", "a")


def test_when_the_names_were_written_is_read_of_the_field_manager() -> None:
    def entry(manager: str, name: str, time: str) -> dict[str, Any]:
        fields: dict[str, Any] = {"f:status": {f"f:{name}": {}}}
        return {"manager": manager, "time": time, "fieldsV1": fields}

    entries = [
        entry("walras", "nominatedClusterNames", "1970-01-01T00:01:40Z"),
        entry("kueue-admission", "nominatedClusterNames", "1970-01-01T00:09:00Z"),
        entry("walras", "other", "1970-01-01T00:08:00Z"),
        entry("walras", "nominatedClusterNames", "yesterday"),
        {"manager": "walras", "time": "1970-01-01T00:07:00Z"},
    ]
    assert workload_of(_object({}, managedFields=entries)).since == 100.0


def _pods(count: int, meta: Any = None, **requests: str) -> dict[str, Any]:
    containers = [{"resources": {"requests": requests}}, {}]
    return {"count": count, "template": {"metadata": meta, "spec": {"containers": containers}}}


def test_requests_of_all_pods_are_features() -> None:
    found = _object() | {
        "spec": {
            "podSets": [
                _pods(1, cpu="500m", memory="2Gi"),
                _pods(4, **{"cpu": "2", "nvidia.com/gpu": "8", "memory": "1024Mi"}),
            ]
        }
    }
    assert features_of(found) == {
        "pods": 5.0,
        "requests.cpu": 8.5,
        "requests.memory": 6.0,
        "requests.nvidia.com/gpu": 32.0,
    }


def test_annotations_go_before_labels_and_the_workloads_before_the_pods() -> None:
    def marks(**values: str) -> dict[str, str]:
        return {f"walras.dev/feature-{name}": value for name, value in values.items()}

    pods = {
        "annotations": marks(layers="1", depth="2", width="3"),
        "labels": marks(layers="9", size="9"),
    }
    found = _object(
        labels=marks(layers="10", depth="20", bad="x", never="nan", huge="1e40"),
        annotations=marks(layers="100") | {"other": "5"},
    ) | {"spec": {"podSets": [{"count": 0, "template": {"metadata": pods}}]}}
    assert features_of(found) == {"layers": 100.0, "depth": 20.0, "width": 3.0, "size": 9.0}


def test_names_that_the_exchange_does_not_take_are_left_out() -> None:
    many = {f"walras.dev/feature-f{k:03}": "1" for k in range(300)}
    odd = {"walras.dev/feature-": "1", "walras.dev/feature-a b": "1"}
    found = features_of(_object(annotations=many | odd))
    assert len(found) == 256
    assert set(found) == {f"f{k:03}" for k in range(256)}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("250m", 0.25),
        ("4Gi", 2.0**32),
        ("1e3", 1000.0),
        ("1E", 1e18),
        ("5M", 5e6),
        ("100n", 1e-7),
        ("-3", -3.0),
        ("2", 2.0),
    ],
)
def test_quantities(text: str, value: float) -> None:
    assert quantity(text) == pytest.approx(value, rel=1e-12)


@pytest.mark.parametrize("text", ["", "x", "1.2.3", "4Zi", "1 Gi"])
def test_what_is_no_quantity(text: str) -> None:
    assert math.isnan(quantity(text))
    assert "requests.cpu" not in features_of(
        _object() | {"spec": {"podSets": [_pods(1, cpu=text)]}}
    )
