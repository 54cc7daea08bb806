"""A computation is noted when it begins and when it is cancelled; one that cannot be, is ended."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.exchange.api.serving import Served

from walras.exchange.service import audit


def test_one_that_cannot_be_noted_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    served = Served(tmp_path / "home")

    def broken(*_: Any) -> None:
        raise OSError("the disk is full")

    monkeypatch.setattr(audit, "record", broken)
    answer = served.send("POST", "/v1/allocations", {"jobs": 20_000, "resources": 100})
    assert answer.status_code >= 500
    (one,) = served.service.allocations.list()
    assert (one.state, one.pid) == ("cancelled", 0)
    served.close()
