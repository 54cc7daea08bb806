"""The client's comparisons against the service's own app, without a socket."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.exchange.api.serving import Served
from tests.exchange.runtime.test_shadowing import TEXT
from tests.exchange.test_client import client_of

from walras.exchange.errors import ConflictError


def test_a_comparison_is_started_listed_and_cancelled(tmp_path: Path) -> None:
    served = Served(tmp_path / "home")
    with client_of(served, "operator") as client:
        made = client.shadows.start(TEXT, "csv", name="jobs.csv", seed=3)
        assert (made.state, made.report, made.seed) == ("running", None, 3)
        assert [one.uid for one in client.shadows.list()] == [made.uid]
        assert client.shadows.cancel(made.uid).state == "cancelled"
        assert client.shadows.get(made.uid).state == "cancelled"
        with pytest.raises(ConflictError):
            client.shadows.cancel(made.uid)
    served.close()
