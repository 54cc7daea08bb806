"""``walras cluster``: offered, changed by its name, set aside."""

from __future__ import annotations

import json

from tests.cli.exchange.runs import Run
from typer.testing import CliRunner

from walras.cli.main import app
from walras.errors import InputError
from walras.exchange.errors import NotFoundError


def test_what_is_wrong_with_a_cluster_is_an_error_of_walras(walras: Run) -> None:
    for words, kind, what in (
        (("drain", "nowhere"), NotFoundError, "there is no cluster 'nowhere'"),
        (("add", "east", "--slots", "4", "--label", "gpu"), InputError, "--label: is 'gpu'"),
    ):
        raised = CliRunner().invoke(app, ["cluster", *words]).exception
        assert isinstance(raised, kind)
        assert what in str(raised)
    assert json.loads(walras("cluster", "list", "-o", "json")) == []


def test_labels_and_the_provider_are_offered(walras: Run) -> None:
    words = ("--slots", "8", "--label", "gpu=h100", "--label", "zone=n", "--provider", "acme")
    walras("cluster", "add", "east", *words)
    (found,) = json.loads(walras("cluster", "list", "-o", "json"))
    assert found["labels"] == {"gpu": "h100", "zone": "n"}
    assert (found["provider"], found["free"]) == ("acme", 8)
    assert all(len(line) <= 80 for line in walras("cluster", "list").splitlines())
    listed = walras("cluster", "list", "--labels").splitlines()
    line = next(line for line in listed if "east" in line)
    assert "gpu=h100" in line


def test_clusters_are_added_changed_and_drained(walras: Run) -> None:
    walras("cluster", "add", "east", "--slots", "8", "--label", "gpu=h100", "--price", "2.5")
    again = json.loads(walras("cluster", "add", "east", "--slots", "9", "-o", "json"))
    assert (again["slots"], again["version"]) == (9, 2)
    assert "east" in walras("cluster", "list")
    assert "draining" in walras("cluster", "drain", "east")
    assert "cordoned" in walras("cluster", "cordon", "east")
    assert "up" in walras("cluster", "uncordon", "east")
