"""A comparison in shadow mode in tables."""

from __future__ import annotations

import json

import numpy as np
from tests.shadow.test_result import made

from walras.reports.shadow import clusters, document, facts_of, measures
from walras.reports.tables import to_json


def test_tables_have_a_row_a_measure_and_a_cluster() -> None:
    assert measures(made()).rows[0] == ("makespan, s a day", 9.0, 8.0, -1.0, -2.0, -0.5, 5.0)
    assert clusters(made()).rows == [("a", 2, 0.5, 0.25), ("b", 3, 0.5, 0.75)]
    assert facts_of(made())["days replayed"] == 3


def test_an_end_that_is_infinite_is_shown() -> None:
    endless = made(high=np.full(5, np.inf))
    assert measures(endless).rows[0][5] == np.inf


def test_the_document_is_plain() -> None:
    content = json.loads(to_json(document(made())))
    assert content["measures"][0]["most_saved"] == 4.0
    assert len(content["days"]) == 6
    assert content["days"][0]["jobs"] == 1
