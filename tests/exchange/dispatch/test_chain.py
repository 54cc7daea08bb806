"""The way from a workload to clusters: each link that may be missing is named."""

from __future__ import annotations

from typing import Any

import pytest
from tests.exchange.dispatch.fake_kueue import FakeKueue

from walras.exchange.dispatch.chain import Chain
from walras.exchange.dispatch.requests import KINDS
from walras.exchange.dispatch.workloads import Workload


def _chain(fake: FakeKueue) -> Chain:
    made = Chain()
    for kind in KINDS[1:]:
        made.replace(kind, fake.objects[kind].values())
    return made


@pytest.fixture
def fake() -> FakeKueue:
    made = FakeKueue()
    made.chain("west", "east", "north")
    return made


def _workload(queue: str = "cq", **checks: str) -> Workload:
    return Workload("lab", "w", "u", "1", queue, checks or {"cq-check": "Pending"}, True)


def test_active_clusters_come_in_the_order_of_the_config(fake: FakeKueue) -> None:
    fake.cluster("east", active=False)
    fake.cluster("south")
    found = _chain(fake).clusters_of(_workload())
    assert (found.active, found.config, found.why) == (("west", "north"), "cq-config", "")


@pytest.mark.parametrize(
    ("kind", "name", "change", "why"),
    [
        ("clusterqueues", "cq", None, "its ClusterQueue 'cq' is not there"),
        ("clusterqueues", "cq", {}, "ClusterQueue cq has no check of MultiKueue"),
        ("admissionchecks", "cq-check", None, "ClusterQueue cq has no check of MultiKueue"),
        (
            "admissionchecks",
            "cq-check",
            {"controllerName": "kueue.x-k8s.io/provisioning-request"},
            "ClusterQueue cq has no check of MultiKueue",
        ),
        (
            "admissionchecks",
            "cq-check",
            {
                "controllerName": "kueue.x-k8s.io/multikueue",
                "parameters": {"apiGroup": "x", "kind": "MultiKueueConfig", "name": "cq-config"},
            },
            "ClusterQueue cq has no check of MultiKueue",
        ),
        ("multikueueconfigs", "cq-config", None, "MultiKueueConfig 'cq-config' is not there"),
        (
            "multikueueconfigs",
            "cq-config",
            {"clusters": ["unknown"]},
            "no cluster of MultiKueueConfig cq-config is active",
        ),
    ],
)
def test_a_missing_link_is_named(
    fake: FakeKueue, kind: str, name: str, change: Any, why: str
) -> None:
    made = _chain(fake)
    if change is None:
        made.drop(kind, name)
    else:
        made.put(kind, {"metadata": {"name": name}, "spec": change})
    found = made.clusters_of(_workload())
    assert (found.active, found.why) == ((), why)


@pytest.mark.parametrize("state", ["Ready", "Retry", "Rejected"])
def test_the_check_must_be_pending(fake: FakeKueue, state: str) -> None:
    found = _chain(fake).clusters_of(_workload(**{"cq-check": state}))
    assert found.why == f"check cq-check is {state}"


def test_a_check_that_the_workload_does_not_have_yet(fake: FakeKueue) -> None:
    found = _chain(fake).clusters_of(_workload(other="Pending"))
    assert found.why == "check cq-check is not there yet"


def test_a_list_replaces_what_was_known(fake: FakeKueue) -> None:
    made = _chain(fake)
    made.replace("multikueueclusters", [])
    assert made.clusters == {}
    made.drop("multikueueclusters", "never there")
