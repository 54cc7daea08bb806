"""How often jobs fail on clusters: derived from both summaries."""

from __future__ import annotations

from pathlib import Path

import pytest

from walras import data
from walras.data import cluster_reliability
from walras.errors import DataError


@pytest.mark.real_data("cluster_reliability")
def test_reliability_is_derived_from_both_summaries() -> None:
    folder = data.find("cluster_reliability")
    assert folder is not None
    names = (cluster_reliability.HELIOS, cluster_reliability.ACME)
    derived = cluster_reliability.derive([(folder / name).read_bytes() for name in names])
    assert derived == (folder / cluster_reliability.FILE).read_bytes()


@pytest.mark.parametrize(
    "content", ["", "cluster,fail_rate\nEarth,0.1\n", "cluster,fail_rate,x\nEarth,2,1\n"]
)
def test_a_table_of_something_else_is_one_clear_error(content: str, tmp_path: Path) -> None:
    (tmp_path / cluster_reliability.FILE).write_text(content)
    with pytest.raises(DataError, match="cannot be read as data set 'cluster_reliability'"):
        cluster_reliability.read(tmp_path)


def test_rates_are_chances() -> None:
    rates = data.load("cluster_reliability", synthetic=True).fail_rates()
    assert ((rates > 0.0) & (rates < 1.0)).all()
    assert rates.index.is_unique
