"""What the service answers about logs is what its process tells, field by field."""

from __future__ import annotations

from tests.exchange.runtime.test_shadowing import JOBS, TEXT, facts

from walras.exchange.api import shadow_views as views
from walras.exchange.runtime.shadowing import shadow


def test_a_report_has_the_described_fields_and_no_other() -> None:
    found = shadow(facts(slots=JOBS.slots), TEXT.encode(), lambda *_: None)
    assert set(found) == set(views.ShadowReport.model_fields)
    for name, model in (
        ("measures", views.ShadowMeasure),
        ("clusters", views.ShadowCluster),
        ("by_day", views.ShadowDay),
    ):
        assert set(found[name][0]) == set(model.model_fields)
