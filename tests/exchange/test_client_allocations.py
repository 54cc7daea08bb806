"""The client's rounds of a cluster against the service's own app, without a socket."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from tests.exchange.api.serving import Served
from tests.exchange.runtime.test_allocating import TABLES
from tests.exchange.test_client import client_of

from walras.exchange.errors import ConflictError


def test_a_round_is_started_read_and_explained(tmp_path: Path) -> None:
    served = Served(tmp_path / "home")
    with client_of(served, "operator") as client:
        made = client.allocations.start(TABLES, name="mine", highs=False)
        assert (made.state, made.uploaded) == ("running", True)
        assert [one.uid for one in client.allocations.list()] == [made.uid]
        end = time.monotonic() + 60.0
        while client.allocations.get(made.uid).state == "running":
            assert time.monotonic() < end
            time.sleep(0.1)
        page = client.allocations.jobs(made.uid, like="vis")
        assert [one.job for one in page.items] == ["vision"]
        assert "vision gets" in client.allocations.explain(made.uid, "vision").words
        with pytest.raises(ConflictError):
            client.allocations.cancel(made.uid)
    served.close()
