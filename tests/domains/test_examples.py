"""The examples run, and print what they promise."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"


def test_no_example_is_forgotten() -> None:
    assert {path.name for path in EXAMPLES.glob("*.py")} == {
        "policies_compared.py",
        "quotas_and_churn.py",
    }


def test_policies_compared(capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(EXAMPLES / "policies_compared.py"))
    lines = capsys.readouterr().out.splitlines()
    least = {line[:14].strip(): float(line[14:22]) for line in lines[2:]}
    assert list(least) == [
        "max-min",
        "leximin",
        "proportional",
        "alpha = 2",
        "greedy",
        "equal share",
    ]
    assert least["max-min"] == pytest.approx(least["leximin"], abs=1e-3)
    assert max(least.values()) <= least["max-min"] + 1e-3
    assert least["equal share"] == pytest.approx(1, abs=1e-3)


def test_quotas_and_churn(capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(EXAMPLES / "quotas_and_churn.py"))
    out = capsys.readouterr().out
    moved = [float(line.split(": ")[1].split()[0]) for line in out.splitlines() if "churn" in line]
    assert moved[1] < 0.8 * moved[0]
