"""The client's networks against the service's own app, without a socket."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.exchange.api.serving import Served
from tests.exchange.test_client import client_of

from walras.exchange.errors import NotFoundError


def test_a_network_is_started_run_harmed_mended_and_ended(tmp_path: Path) -> None:
    served = Served(tmp_path / "home")
    with client_of(served, "operator") as client:
        networks = client.networks
        uid = networks.start(centres=5, graph="ring", learns=False).uid
        assert [one.uid for one in networks.list()] == [uid]
        assert networks.step(uid, 40).round == 40
        assert networks.cut(uid, [(0, 1)]).links[0].state == "cut"
        assert networks.mend(uid, [(0, 1)]).links[0].state == "up"
        assert networks.kill(uid, 2).centres[2].state == "stopped"
        assert networks.restart(uid, 2).centres[2].life == 2
        assert networks.faults(uid, loss=0.25).faults.loss == 0.25
        assert networks.run(uid, 5.0).state == "running"
        assert networks.pause(uid).state == "paused"
        found = networks.get(uid)
        assert found.audit.difference == 0
        assert found.history[39].leased == 5
        assert networks.end(uid).ended
        with pytest.raises(NotFoundError):
            networks.get(uid)
    served.close()
