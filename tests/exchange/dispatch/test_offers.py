"""Clusters from elsewhere: named, compared, written, and written again."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.testclient import TestClient
from tests.exchange.api.serving import Served

from walras.errors import InputError
from walras.exchange.api.models import NAME
from walras.exchange.client import Client
from walras.exchange.dispatch.offers import (
    Change,
    Offered,
    compared,
    counted,
    distinct,
    imported,
    label_value,
    name_of,
)
from walras.exchange.errors import PreconditionError

ONE = Offered("east", 8, {"source": "slurm", "gpu": "A100"}, state="up", where="f, line 2")
TWO = Offered("west", 2, {"source": "slurm"}, price=1.5, where="f, line 3")


@pytest.fixture
def client(tmp_path: Path) -> Iterator[Client]:
    served = Served(tmp_path / "home")
    transport: Any = TestClient(served.app, raise_server_exceptions=False)
    transport.headers["Authorization"] = f"Bearer {served.tokens['operator']}"
    yield Client("http://testserver", "", transport=transport)
    served.close()


@given(st.lists(st.text(max_size=90), min_size=1, max_size=3))
def test_every_name_is_one_that_the_exchange_takes(words: list[str]) -> None:
    if re.search("[a-z0-9]", "-".join(words).lower()):
        made = name_of(*words, where="x")
        assert re.fullmatch(NAME, made)
        assert name_of(made, where="x") == made
    else:
        with pytest.raises(InputError, match=r"x: .* has no letter"):
            name_of(*words, where="x")


def test_long_names_that_differ_at_their_end_stay_apart() -> None:
    long = "a" * 80
    assert name_of(long, "b", where="") != name_of(long, "c", where="")
    assert name_of("AWS", "p4d.24xlarge", "", "us-east-1a", where="") == (
        "aws-p4d-24xlarge-us-east-1a"
    )


def test_a_label_has_no_character_that_the_exchange_refuses() -> None:
    assert label_value(" US, California ") == "US-California"
    assert label_value("A100-80GB") == "A100-80GB"
    assert len(label_value("x" * 99)) == 63


def test_two_of_one_name_are_refused_with_both_places() -> None:
    assert distinct([ONE, TWO]) == [ONE, TWO]
    with pytest.raises(InputError, match=r"f, line 9: would be the cluster 'east', as f, line 2"):
        distinct([ONE, TWO, replace(ONE, where="f, line 9")])


def test_a_second_import_changes_nothing(client: Client) -> None:
    first = imported(client, [ONE, TWO], provider="lab")
    assert [one.change for one in first] == ["added", "added"]
    before = client.clusters.list()
    again = imported(client, [ONE, TWO], provider="lab")
    assert [(one.change, one.changes) for one in again] == [("unchanged", [])] * 2
    assert client.clusters.list() == before
    assert [(one.uid, one.slots, one.price, one.provider) for one in before] == [
        ("east", 8, 0.0, "lab"),
        ("west", 2, 1.5, "lab"),
    ]
    assert counted([*first, *again]) == "2 added, 0 changed, 2 unchanged"


def test_a_comparison_alone_writes_nothing(client: Client) -> None:
    (found,) = imported(client, [ONE], write=False)
    assert found == Change(
        cluster="east",
        change="added",
        slots=8,
        price=0.0,
        state="up",
        labels={"gpu": "A100", "imported-state": "up", "source": "slurm"},
        changes=[],
    )
    assert client.clusters.list() == []


def test_a_change_keeps_what_others_have_set(client: Client) -> None:
    client.clusters.put("east", 4, labels={"rack": "7", "gpu": "V100"}, price=2.0)
    (found,) = imported(client, [ONE])
    assert found.changes == [
        "slots 4 -> 8",
        "label gpu V100 -> A100",
        "label imported-state - -> up",
        "label source - -> slurm",
    ]
    east = client.clusters.get("east")
    assert (east.slots, east.price, east.version) == (8, 2.0, 2)
    assert east.labels["rack"] == "7"
    (found,) = imported(client, [replace(ONE, labels={"source": "slurm"})])
    assert found.changes == ["label gpu A100 -> -"]
    assert "gpu" not in client.clusters.get("east").labels


def test_a_cluster_of_another_origin_is_refused_before_anything_is_written(client: Client) -> None:
    client.clusters.put("west", 4, labels={"source": "skypilot"})
    with pytest.raises(InputError, match="which was imported from skypilot") as caught:
        imported(client, [ONE, TWO])
    assert caught.value.where == "f, line 3"
    assert [one.uid for one in client.clusters.list()] == ["west"]


@pytest.mark.parametrize("state", ["up", "draining"])
def test_states_follow_the_source_and_the_operators_word_stays(client: Client, state: str) -> None:
    imported(client, [replace(ONE, state=state)])
    assert client.clusters.get("east").state == state
    (found,) = imported(client, [replace(ONE, state="draining")])
    assert found.state == client.clusters.get("east").state == "draining"
    imported(client, [ONE])
    assert client.clusters.get("east").state == "up"
    for hold in (client.clusters.cordon, client.clusters.drain):
        held = hold("east").state
        (found,) = imported(client, [ONE])
        assert (found.change, found.state) == ("unchanged", held)
    # A source without states says nothing of them.
    client.clusters.drain("east")
    assert imported(client, [replace(ONE, state="")])[0].state == "draining"


def test_a_cluster_that_changes_meanwhile_is_read_again(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    imported(client, [ONE])
    put, others = client.clusters.put, [9, 10]

    def disturbed(uid: str, slots: int, **more: Any) -> Any:
        if others:
            version = client.clusters.get(uid).version
            put(uid, others.pop(), version=version, labels={"rack": "7"})
        return put(uid, slots, **more)

    monkeypatch.setattr(client.clusters, "put", disturbed)
    (found,) = imported(client, [replace(ONE, slots=5)])
    assert found.changes[0] == "slots 9 -> 5"
    assert client.clusters.get("east").labels["rack"] == "7"
    others += [1, 2, 3]
    with pytest.raises(PreconditionError):
        imported(client, [replace(ONE, slots=6)])


def test_what_is_there_is_compared_by_what_it_offers(client: Client) -> None:
    client.clusters.put("west", 2, labels={"source": "slurm"}, price=1.5)
    assert compared(TWO, client.clusters.get("west")).change == "unchanged"
    assert compared(replace(TWO, price=None), client.clusters.get("west")).price == 1.5


@pytest.mark.parametrize("write", [True, False])
@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"slots": -8}, "slots -8"),
        ({"slots": 10**30 - 1}, "slots 9999"),
        ({"price": 1e300}, r"price 1e\+300"),
        ({"labels": {f"l{k}": "v" for k in range(65)}}, "labels"),
    ],
)
def test_what_the_service_refuses_is_refused_before_anything_is_written(
    client: Client, change: dict[str, Any], what: str, write: bool
) -> None:
    good = Offered("good", 1)
    with pytest.raises(InputError, match=what):
        imported(
            client, [good, replace(Offered("bad", 1, where="file, line 3"), **change)], write=write
        )
    assert client.clusters.list() == []
