"""A session's benchmark: warm and cold end at the same value, with a proof."""

from __future__ import annotations

import pytest

from benchmarks import session


def test_rounds_of_jobs_end_at_the_cold_value() -> None:
    rows = list(session.rounds([200], 1, shape=(12, 60)))
    cells = [(objective, share) for objective in session.OBJECTIVES for share in session.SHARES]
    assert [(row["objective"], row["changed"]) for row in rows] == cells
    for row in rows:
        assert row["of the cold value"] == pytest.approx(0.0, abs=1e-5)
        assert isinstance(row["gap"], float)
        assert row["gap"] <= 1e-6


@pytest.mark.real_data("te_topologies", "te_paths")
@pytest.mark.parametrize("engine", ["exact", "interior"])
def test_failed_links_end_at_the_cold_value(engine: str) -> None:
    rows = list(session.links([200], 1, name="B4", engine=engine))
    assert [row["failed"] for row in rows] == list(session.FAILED)
    for row in rows:
        assert row["of the cold value"] == pytest.approx(0.0, abs=1e-6)


@pytest.mark.real_data("te_topologies", "te_paths")
def test_highs_needs_few_pivots_from_its_basis() -> None:
    for row in session.basis([200], 1, name="B4"):
        assert isinstance(row["ratio"], float)
        assert int(str(row["warm iterations"])) < int(str(row["cold iterations"]))


def test_an_unknown_study_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        session.main(["jobs"])
    assert "there is no study 'jobs'" in capsys.readouterr().err
