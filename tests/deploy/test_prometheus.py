"""Alerts: what they select is shown, each says what it means, and what to do is on the page."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.deploy.promql import OWN, Shown, grouped, selectors, wrong

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "deploy/prometheus"
ALERTS: list[dict[str, Any]] = [
    rule
    for group in yaml.safe_load((FOLDER / "alerts.yaml").read_text(encoding="utf-8"))["groups"]
    for rule in group["rules"]
]


@pytest.mark.parametrize("rule", ALERTS, ids=lambda rule: str(rule["alert"]))
def test_an_alert_selects_what_is_shown(rule: dict[str, Any], known: Shown) -> None:
    assert list(selectors(rule["expr"]))
    assert wrong(rule["expr"], known) == []
    annotations = rule["annotations"]
    assert annotations.keys() == {"summary", "description", "runbook_url"}
    assert rule["labels"]["severity"] in ("critical", "warning")
    used = set(re.findall(r"\$labels\.(\w+)", annotations["description"]))
    assert used <= OWN | grouped(rule["expr"])


@pytest.mark.parametrize("rule", ALERTS, ids=lambda rule: str(rule["alert"]))
def test_an_alert_has_a_heading_on_the_page(rule: dict[str, Any]) -> None:
    page, _, anchor = rule["annotations"]["runbook_url"].partition("#")
    headings = re.findall(r"^### (\w+)$", (ROOT / page).read_text(encoding="utf-8"), re.MULTILINE)
    assert rule["alert"] in headings
    assert anchor == rule["alert"].lower()


def test_the_page_has_no_alert_that_is_gone() -> None:
    page = (ROOT / "docs/howto/exchange_monitor.md").read_text(encoding="utf-8")
    headings = re.findall(r"^### (\w+)$", page, re.MULTILINE)
    assert headings == [rule["alert"] for rule in ALERTS]


@pytest.mark.skipif(shutil.which("promtool") is None, reason="promtool is not installed")
@pytest.mark.parametrize("words", [("check", "alerts.yaml"), ("test", "alerts_test.yaml")])
def test_prometheus_takes_the_rules(words: tuple[str, str]) -> None:
    command = ["promtool", words[0], "rules", words[1]]
    done = subprocess.run(command, cwd=FOLDER, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_case_of_the_rules_tests_names_an_alert() -> None:
    cases = yaml.safe_load((FOLDER / "alerts_test.yaml").read_text(encoding="utf-8"))["tests"]
    named = {one["alertname"] for case in cases for one in case["alert_rule_test"]}
    assert named <= {rule["alert"] for rule in ALERTS}
