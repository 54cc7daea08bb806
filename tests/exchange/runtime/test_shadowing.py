"""Shadow mode for the service: the same report as the library's, and refusals in words."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from walras.errors import DataError
from walras.exchange.api.shadow_models import ShadowIn
from walras.exchange.runtime import shadowing
from walras.exchange.runtime.shadowing import shadow
from walras.shadow import compare, read_jobs, synthetic_log

JOBS = synthetic_log(days=10, seed=3)
TEXT = JOBS.frame.to_csv(index=False)


def facts(**more: Any) -> dict[str, Any]:
    """Settings, with few draws."""
    given = {"log": "x", "scheduler": "csv", "name": "jobs.csv", "resamples": 20, **more}
    return ShadowIn(**given).model_dump(exclude={"log"})


def test_it_reports_what_the_library_finds() -> None:
    shares: list[tuple[float, str]] = []
    found = shadow(
        facts(slots=JOBS.slots, prices={"cluster-a": 2.0}),
        TEXT.encode(),
        lambda share, note, so_far=None: shares.append((share, note)),
    )
    wanted = compare(
        read_jobs(JOBS.frame), slots=JOBS.slots, prices={"cluster-a": 2.0}, resamples=20
    )
    json.dumps(found, allow_nan=False)
    for name in ("log", "policy", "low", "high", "bound", "most_saved"):
        assert [one[name] for one in found["measures"]] == getattr(wanted, name).tolist()
    assert np.transpose([(one["share_log"], one["share_policy"]) for one in found["clusters"]]) == (
        pytest.approx(wanted.shares)
    )
    assert (found["log"], found["jobs"], len(found["by_day"])) == (
        "jobs.csv",
        int(wanted.jobs.sum()),
        2 * found["days"],
    )
    assert [note for _, note in shares[:2]] == ["reads", "learns"]
    assert [share for share, _ in shares] == sorted(share for share, _ in shares)
    assert shares[-1] == (1.0, "intervals")


def test_a_refusal_names_the_log_as_the_caller_does() -> None:
    with pytest.raises(DataError) as caught:
        shadow(facts(), TEXT[:2000].encode(), lambda *_: None)
    assert caught.value.where == "jobs.csv"
    assert "to replay" in caught.value.what
    with pytest.raises(DataError, match=r"jobs\.csv: has no column 'submit'|jobs\.csv"):
        shadow(facts(), b"a,b\n1,2\n", lambda *_: None)


def test_a_log_of_too_many_clusters_or_days_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, word in (("CLUSTERS", "3 clusters"), ("DAYS", "days")):
        with monkeypatch.context() as patch:
            patch.setattr(shadowing, name, 2)
            with pytest.raises(DataError, match=word) as caught:
                shadow(facts(), TEXT.encode(), lambda *_: None)
        assert "walras shadow LOG" in caught.value.remedy
