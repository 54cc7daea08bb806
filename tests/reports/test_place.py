"""Facts and sentences about a placement."""

from __future__ import annotations

import pandas as pd
import pytest

from walras.domains import placement as pl
from walras.reports.place import facts_of, message_of, reasons, tasks_table

NODES = pd.DataFrame({"cpu": [8.0], "gpus": [2]}, index=["a"])


def _placed(*gpus: float) -> pl.Placed:
    return pl.place(NODES, pd.DataFrame({"cpu": [2.0] * len(gpus), "gpus": gpus}))


def test_facts_count_what_is_in_use() -> None:
    facts = facts_of(_placed(0.5, 1, 1))
    assert facts["GPUs in use"] == pytest.approx(2.0)
    assert (facts["placed"], facts["cpu in use"]) == (2, 4.0)


def test_reasons_are_one_a_type_and_the_message_fits() -> None:
    placed = _placed(2, 2, 2, 1)
    assert len(reasons(placed, 5)) == 2
    assert len(reasons(placed, 1)) == 1
    assert message_of(placed) == "No placement is worth more."
    assert message_of(_placed(1)) == "Every task is placed."
    assert len(tasks_table(placed, 2).rows) == 2
