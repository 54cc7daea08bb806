"""Moments as logs write them."""

from __future__ import annotations

import numpy as np
import pytest

from walras.predict.logs.moments import moments


@pytest.mark.parametrize(
    "text",
    [
        "1772442000",
        "1772442000.0",
        "2026-03-02T09:00:00",
        "2026-03-02 09:00:00Z",
        "2026-03-02T10:00:00+01:00",
        "2026-03-02T09:00:00.000Z",
    ],
)
def test_one_moment_has_many_forms(text: str) -> None:
    assert moments([text]).tolist() == [1772442000.0]


@pytest.mark.parametrize("text", ["", "Unknown", "None", "soon", "2026-13-01T00:00:00", None])
def test_what_is_no_moment_is_not_a_number(text: str | None) -> None:
    assert np.isnan(moments([text, "5"])).tolist() == [True, False]


def test_a_number_beyond_every_time_is_no_moment() -> None:
    found = moments([10**400, -(10**400), 12, "1" * 400])
    assert np.isnan(found[:2]).all()
    assert found[2] == 12.0
    assert not np.isfinite(found[3])


def test_years_far_from_ours_are_moments() -> None:
    found = moments(["0001-01-01 00:00:00", "9999-12-31T23:59:59Z"])
    days = np.array(["0001-01-01", "9999-12-31"], "datetime64[D]").astype(np.int64)
    assert found.tolist() == [days[0] * 86400.0, days[1] * 86400.0 + 86399.0]
