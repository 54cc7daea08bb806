"""Sequences of traffic matrices: every method finds the optima, and the judge sees wrong flows."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
import pytest
from benchmarks.traffic_sequence import (
    METHODS,
    TOTAL,
    UTILISATION,
    Case,
    compared,
    fair,
    fair_by_highs,
    judged,
)

from benchmarks import traffic_sequence
from walras.domains import traffic_engineering as te

LINKS = [(0, 1, 10.0), (0, 2, 10.0), (2, 1, 5.0)]


@pytest.fixture
def case(tmp_path: Path) -> Case:
    """9 from 0 to 1 over links of 10 and 5, then 18 beside 3 from 2 to 1."""
    links = [{"source": s, "target": t, "capacity": c} for s, t, c in LINKS]
    graph = {"directed": True, "nodes": [{"id": k} for k in range(3)], "links": links}
    (tmp_path / "topology.json").write_text(json.dumps(graph))
    (tmp_path / "tunnels.txt").write_text("0 1:0-1,0-2-1\n2 1:2-1\n")
    lines = b"0 9 0 0 0 0 0 0 0\n0 18 0 0 0 0 0 3 0\n"
    (tmp_path / "test_1.hist.gz").write_bytes(gzip.compress(lines))
    (tmp_path / "test_1.opt").write_text("0.6\n1.4\n")
    return Case.of(te.load_figret(tmp_path))


@pytest.mark.parametrize("method", METHODS)
def test_each_method_ends_at_the_published_optima(case: Case, method: str) -> None:
    found = METHODS[method](case, UTILISATION)
    value, violation = judged(case, UTILISATION, found.flow)
    assert value == pytest.approx([0.6, 1.4], rel=1e-9)
    assert violation <= 1e-9


@pytest.mark.parametrize("method", METHODS)
def test_each_method_serves_what_fits(case: Case, method: str) -> None:
    value, violation = judged(case, TOTAL, METHODS[method](case, TOTAL).flow)
    assert value == pytest.approx([9.0, 15.0], rel=1e-9)
    assert violation <= 1e-9


def test_traffic_left_behind_is_a_violation(case: Case) -> None:
    flow = np.array([[6.0, 0.0, 0.0], [14.0, 4.0, 3.0]])
    value, violation = judged(case, UTILISATION, flow)
    assert value == pytest.approx([0.6, 1.4])
    assert violation == pytest.approx(3.0 / 9.0)


def test_rows_have_versions_and_the_time_of_highs(case: Case) -> None:
    rows = list(compared("small", case, UTILISATION, list(METHODS)))
    assert rows[0]["times HiGHS"] == 1.0
    assert str(rows[0]["version"]).startswith("highspy 1")
    assert str(rows[1]["version"]).startswith("walras ")


def test_the_least_fair_share_is_one_over_the_utilisation(case: Case) -> None:
    highs, *ours = fair("small", case)
    assert len(ours) == 2
    for row in (highs, *ours):
        assert row["matrices"] == 2
        assert float(str(row["off"])) <= 1e-9
        assert float(str(row["violation"])) <= 1e-7
        assert float(str(row["served"])) == pytest.approx(float(str(highs["served"])), abs=1e-7)
    assert highs["times HiGHS"] == 1.0


def test_highs_ends_at_the_fair_shares(case: Case) -> None:
    """Shares t of 18 and 3: what does not fit the link of 10 goes over that of 5, 21 t = 15."""
    found = fair_by_highs(case)
    assert found.least == pytest.approx([1.0, 5.0 / 7.0])
    served = np.array([case.instance.served(flow) for flow in found.flow])
    np.testing.assert_allclose(served, [[9.0, 0.0], [90.0 / 7.0, 15.0 / 7.0]], rtol=1e-6)


@pytest.mark.real_data("te_figret")
@pytest.mark.parametrize("network", traffic_sequence.NETWORKS)
def test_the_first_published_optima_are_found(network: str) -> None:
    case = Case.of(te.load_figret(traffic_sequence.folder(network)), 5)
    for row in compared(network, case, UTILISATION, list(METHODS)):
        assert float(str(row["off"])) <= 1e-9


@pytest.mark.real_data("te_figret")
def test_levels_of_highs_serve_what_ours_do() -> None:
    case = Case.of(te.load_figret(traffic_sequence.folder("GEANT")), 3)
    highs, *ours = fair("GEANT", case)
    for row in ours:
        assert highs["steps"] == row["steps"]
        assert float(str(highs["served"])) == pytest.approx(float(str(row["served"])), rel=1e-6)
