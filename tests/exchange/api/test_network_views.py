"""What the service answers about networks is what its process tells, field by field."""

from __future__ import annotations

from pydantic import BaseModel
from tests.exchange.runtime.test_networking import SMALL

from walras.exchange.api import network_views as views
from walras.exchange.runtime import networking
from walras.network.drivers.live import ROW
from walras.network.drivers.live_report import report


def test_a_report_has_the_described_fields_and_no_other() -> None:
    live = networking.made(SMALL)
    live.advance(30)
    found = report(live)
    own = {"uid", "by", "state", "why", "speed", "pace", "sample", "scenario"}
    assert set(found) | own == set(views.Network.model_fields)
    lists: dict[str, type[BaseModel]] = {
        "centres": views.NetworkCentre,
        "links": views.NetworkLink,
        "history": views.NetworkRow,
        "events": views.NetworkEvent,
    }
    for name, model in lists.items():
        assert set(found[name][0]) == set(model.model_fields)
    single: dict[str, type[BaseModel]] = {
        "audit": views.NetworkAudit,
        "objective": views.NetworkObjective,
        "traffic": views.NetworkTraffic,
        "faults": views.NetworkFaults,
    }
    for name, model in single.items():
        assert set(found[name]) == set(model.model_fields)
    assert set(ROW) == set(views.NetworkRow.model_fields)
