"""The requests, word for word as Kueue's documents and exchange.md 1.4 have them."""

from __future__ import annotations

import json

from walras.exchange.dispatch import requests
from walras.exchange.dispatch.workloads import Workload

WORKLOAD = Workload("lab", "job-x-1", "u-7", "42")


def test_way_a_applies_the_list_alone_as_a_manager_of_its_own() -> None:
    found = requests.applying(WORKLOAD, ["b", "a"])
    assert found.method == "PATCH"
    assert found.path == ("/apis/kueue.x-k8s.io/v1beta2/namespaces/lab/workloads/job-x-1/status")
    assert found.query == {"fieldManager": "walras", "force": "true"}
    assert found.content == "application/apply-patch+yaml"
    assert json.loads(found.body or b"") == {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "Workload",
        "metadata": {
            "name": "job-x-1",
            "namespace": "lab",
            "uid": "u-7",
            "resourceVersion": "42",
        },
        "status": {"nominatedClusterNames": ["b", "a"]},
    }


def test_way_b_merges_with_the_version() -> None:
    found = requests.merging(WORKLOAD, ["a"])
    assert found.content == "application/merge-patch+json"
    assert json.loads(found.body or b"") == {
        "metadata": {"resourceVersion": "42"},
        "status": {"nominatedClusterNames": ["a"]},
    }


def test_nothing_is_ever_written_in_kueues_name() -> None:
    for build in (requests.applying, requests.merging):
        assert build(WORKLOAD, ["a"]).query["fieldManager"] == "walras"
