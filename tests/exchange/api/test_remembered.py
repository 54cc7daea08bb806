"""POSTs that are answered from memory: once by key, and a failure may be tried again."""

from __future__ import annotations

from pathlib import Path

from tests.exchange.api.serving import Served, problem


def test_a_key_of_another_request_is_refused_and_a_failed_one_is_free_again(
    tmp_path: Path,
) -> None:
    served, key = Served(tmp_path / "home"), {"Idempotency-Key": "k"}
    bad = {"log": "x", "scheduler": "csv"}
    assert served.send("POST", "/v1/shadows/s-0:cancel", headers=key).status_code == 404
    made = served.send("POST", "/v1/shadows", bad, headers=key)
    assert made.status_code == 202, "what failed is forgotten"
    other = served.send("POST", "/v1/shadows", bad | {"seed": 1}, headers=key)
    assert problem(other, 422, "WAL-2422")["detail"].startswith("Idempotency-Key: was used")
    served.close()
