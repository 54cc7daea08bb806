"""The dashboard: every panel selects what is shown, from the chosen data source, in its place."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from tests.deploy.promql import OWN, Shown, wrong

FILE = Path(__file__).resolve().parents[2] / "deploy/grafana/exchange.json"
BOARD: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
PANELS = [one for one in BOARD["panels"] if one["type"] != "row"]
SOURCE = {"type": "prometheus", "uid": "${datasource}"}


@pytest.mark.parametrize("panel", PANELS, ids=lambda panel: str(panel["title"]))
def test_a_panel_selects_what_is_shown(panel: dict[str, Any], known: Shown) -> None:
    assert panel["targets"]
    assert panel["datasource"] == SOURCE
    assert panel["description"].endswith(".")
    for target in panel["targets"]:
        assert target["datasource"] == SOURCE
        assert wrong(target["expr"], known) == []
        for label in target["legendFormat"].split("{{")[1:]:
            assert label.partition("}}")[0] in target["expr"] or label.partition("}}")[0] in OWN


def test_the_data_source_and_the_service_are_variables() -> None:
    source, instance = BOARD["templating"]["list"]
    assert (source["name"], source["type"], source["query"]) == (
        "datasource",
        "datasource",
        "prometheus",
    )
    assert instance["datasource"] == SOURCE
    assert instance["query"]["query"] == 'label_values(up{job="walras"}, instance)'
    assert "grafana.com" not in FILE.read_text(encoding="utf-8")


def test_panels_have_numbers_of_their_own_and_do_not_overlap() -> None:
    numbers = [one["id"] for one in BOARD["panels"]]
    assert len(numbers) == len(set(numbers))
    cells = [
        (x, y)
        for one in BOARD["panels"]
        for x in range(one["gridPos"]["x"], one["gridPos"]["x"] + one["gridPos"]["w"])
        for y in range(one["gridPos"]["y"], one["gridPos"]["y"] + one["gridPos"]["h"])
    ]
    assert len(cells) == len(set(cells))
    assert {x for x, _ in cells} == set(range(24))
    rows = [one["gridPos"]["y"] for one in BOARD["panels"]]
    assert all(a <= b for a, b in pairwise(rows))


def test_every_figure_of_the_services_is_on_the_board_or_of_no_interest(known: Shown) -> None:
    text = FILE.read_text(encoding="utf-8")
    names = {name for name in known if name.startswith("walras_") and not name.endswith("_created")}
    absent = {name for name in names if name not in text}
    stems = ("walras_http_request_seconds", "walras_round_seconds")  # sums and counts
    assert {name for name in absent if not name.startswith(stems)} == {
        "walras_clock_jumps_total",
        "walras_jobs_ended_total",
        "walras_kueue_clusters_active",
        "walras_kueue_relists_total",
        "walras_kueue_watches_failed_total",
    }
