"""The runner of other projects' tests: what it compares, and some of cvxpy's tests through it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from benchmarks.conformance.__main__ import main
from benchmarks.conformance.compare import compare
from benchmarks.conformance.not_applicable import CVXPY
from benchmarks.conformance.suite import Outcome


def outcome(*, passed: bool = True, skipped: bool = False, solves: int = 1) -> Outcome:
    return Outcome(passed and not skipped, skipped, solves, "" if passed else "1 is not 2")


BASELINE = {name: outcome(solves=0) for name in ("a", "b[1]", "b[2]", "c", "d", "gone")} | {
    "bad": outcome(passed=False, solves=0),
    "left out": outcome(skipped=True, solves=0),
}


def test_what_passes_as_it_is_and_solves_through_walras_is_applicable() -> None:
    ours = {
        "a": outcome(),
        "b[1]": outcome(passed=False),
        "b[2]": outcome(passed=False),
        "c": outcome(passed=False),
        "d": outcome(passed=False, solves=0),
        "bad": outcome(passed=False),
        "left out": outcome(skipped=True),
        "gone": outcome(),
    }
    found = compare(BASELINE, ours, {"b": "no such thing", "a": "passes all the same"})
    assert (found.tests, found.applicable, found.passed) == (6, 2, 1)
    assert found.failed == {"c": "1 is not 2"}
    assert found.reasons == {"no such thing": 2, "passes all the same": 1}
    assert found.needless == ("a",)
    assert "FAILED c: 1 is not 2" in str(found)
    assert "listed without need: a" in str(found)


def test_a_test_that_was_not_run_with_walras_has_failed() -> None:
    found = compare(BASELINE, {name: outcome() for name in BASELINE if name != "gone"}, {})
    assert found.failed == {"gone": "was not run"}


def test_every_reason_is_said_and_every_listed_test_has_one() -> None:
    assert all(reason.strip() for reason in CVXPY.values())
    assert all(name.count("::") in (1, 2) and ".py::" in name for name in CVXPY)


def test_some_of_cvxpys_own_tests_pass(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    record = tmp_path / "record.json"
    assert main(["cvxpy", "--files", "test_zero_sized.py", "--record", str(record)]) == 0
    found = json.loads(record.read_text(encoding="utf-8"))
    assert found["applicable"] == found["passed"] >= 5
    assert found["solves"] >= found["applicable"]
    assert "0 fail" in capsys.readouterr().out


def test_files_that_are_not_there_are_named() -> None:
    with pytest.raises(SystemExit, match=r"cvxpy has no tests in test_nothing\.py"):
        main(["cvxpy", "--files", "test_nothing.py"])


PROGRAMS = {
    "a.lp": "min\n o: x\nst\n c: 2 x + y >= 3\n d: y <= 1\nend\n",
    "b.lp": "max\n o: x\nst\n c: x - y <= 1\nend\n",
    "c.lp": "min\n o: x\nst\n c: x + y <= -1\nend\n",
}


def test_programs_of_a_folder_are_compared_with_highs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Optimal at x = 1, unbounded, infeasible; an empty folder proves nothing."""
    monkeypatch.setenv("WALRAS_DATA", str(tmp_path))
    assert main(["mps"]) == 1
    (tmp_path / "mps").mkdir()
    for name, text in PROGRAMS.items():
        (tmp_path / "mps" / name).write_text(text)
    assert main(["mps", "--time-limit", "10"]) == 0
    printed = capsys.readouterr().out
    assert "a.lp exact: optimal 1, gap" in printed
    assert "b.lp auto: unbounded nan" in printed
    assert "c.lp auto: infeasible nan" in printed
    assert "3 files" in printed
    assert "0 wrong" in printed
    monkeypatch.setattr("benchmarks.conformance.mps._by_highs", lambda *_: ("optimal", 2.0))
    assert main(["mps"]) == 1
    assert "6 wrong" in capsys.readouterr().out
