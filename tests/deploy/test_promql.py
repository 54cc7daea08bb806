"""The reader of expressions finds what they select."""

from __future__ import annotations

from tests.deploy.promql import Selector, grouped, selectors, shown, wrong

TEXT = """# TYPE walras_tasks gauge
walras_tasks{state="held"} 1
# TYPE walras_round_seconds histogram
walras_round_seconds_bucket{step="whole",le="+Inf"} 1
walras_round_seconds_count{step="whole"} 1
walras_round_seconds_sum{step="whole"} 1
"""
QUANTILE = (
    "histogram_quantile(0.9, sum by (le, step) "
    '(rate(walras_round_seconds_bucket{step!="x", instance=~"$instance"}[$__rate_interval]))) > 1e3'
)


def test_selectors_are_metrics_and_no_functions() -> None:
    (one,) = selectors(QUANTILE)
    assert one == Selector(
        "walras_round_seconds_bucket", (("step", "!=", "x"), ("instance", "=~", "$instance"))
    )
    assert grouped(QUANTILE) == {"le", "step"}
    both = 'sum(a) == 0 and on (x) b{c="d"} > 5 or absent(up{job="e"}) - max_over_time(f[1h])'
    assert [one.name for one in selectors(both)] == ["a", "b", "up", "f"]


def test_what_no_service_shows_is_found() -> None:
    known = shown(TEXT)
    assert wrong(QUANTILE, known) == []
    assert wrong('walras_tasks{state="held"} > 0', known) == []
    assert wrong("walras_task", known) == ["there is no metric walras_task"]
    assert wrong('walras_tasks{kind="held"}', known) == ["walras_tasks has no label kind"]
    assert wrong('walras_tasks{state="late"}', known) == [
        "walras_tasks has no state=late, only ['held']"
    ]
    assert wrong("sum by (cluster) (walras_tasks)", known) == ["there is no label cluster"]
