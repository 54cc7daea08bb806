"""The dispatcher's figures have the names that the page tells."""

from __future__ import annotations

import re
from pathlib import Path

from prometheus_client import generate_latest

from walras.exchange.dispatch.metrics import Metrics

PAGE = Path(__file__).resolve().parents[3] / "docs/howto/exchange_kueue.md"


def test_the_page_names_every_figure_and_no_other() -> None:
    text = generate_latest(Metrics().registry).decode()
    made = set(re.findall(r"^# TYPE (walras_kueue_\w+) ", text, re.MULTILINE))
    assert set(re.findall(r"walras_kueue_\w+", PAGE.read_text(encoding="utf-8"))) == made
    assert len(made) == 7


def test_no_label_is_a_workload() -> None:
    labels = {
        name
        for collector in (vars(Metrics()).values())
        for name in getattr(collector, "_labelnames", ())
    }
    assert labels == {"cluster", "by", "reason", "kind", "state"}
