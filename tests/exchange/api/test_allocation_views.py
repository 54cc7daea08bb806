"""What the service answers about rounds is what its process tells, field by field."""

from __future__ import annotations

from tests.exchange.runtime.test_allocating import FACTS

from walras.exchange.api import allocation_views as views
from walras.exchange.runtime.allocating import allocation


def test_a_result_has_the_described_fields_and_no_other() -> None:
    found, answer = allocation(FACTS, b"", lambda *_: None)
    page, why = answer({"like": "", "first": 0, "most": 1}), answer({"job": "j0"})
    for part, model in (
        (found, views.AllocationResult),
        (found["ours"], views.OurSolve),
        (found["highs"], views.HighsSolve),
        (found["prices"][0], views.ResourcePrice),
        (page, views.AllocationJobs),
        (page["items"][0], views.AllocationJob),
        (why, views.AllocationExplained),
        (why["choices"][0], views.JobChoice),
    ):
        assert set(part) == set(model.model_fields)
