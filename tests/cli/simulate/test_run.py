"""``walras simulate``: a trace, a cluster and a policy in, a table or JSON out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

import walras as wl
from walras.cli.common.errors import exit_code
from walras.cli.main import COMMANDS
from walras.cli.simulate.app import app
from walras.simulate.placed import tables
from walras.simulate.scenario import DRAW, EXAMPLE, scenario

DRAWN = ("--draw", "jobs=20", "--draw", "synthetic=true", "--draw", "rate=6")


def _run(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["run", *arguments, "--no-progress"])


def test_the_table_has_the_measures() -> None:
    result = _run(*DRAWN)
    assert result.exit_code == 0, result.output
    for name in ("mean completion", "makespan", "use of v100", "refused decisions"):
        assert name in result.stdout


def test_json_has_the_measures_the_classes_or_the_jobs(tmp_path: Path) -> None:
    saved = tmp_path / "run.npz"
    rows: list[dict[str, Any]] = json.loads(
        _run(*DRAWN, "-o", "json", "--save", str(saved), "--measured", "0:10").stdout
    )
    values = {row["measure"]: row["value"] for row in rows}
    assert values["measured jobs"] == 10
    again = wl.load(saved)
    assert values["mean completion"] == pytest.approx(again.completion.mean() / 3600)
    kinds = json.loads(_run(*DRAWN, "-o", "json", "--kinds").stdout)
    assert sum(row["jobs"] for row in kinds) == 20
    jobs = json.loads(_run(*DRAWN, "-o", "json", "--jobs").stdout)
    assert {row["state"] for row in jobs} == {"ended"}


@pytest.mark.parametrize(
    "world", [DRAWN, ("--world", "placed", "--draw", "tasks=30", "--policy", "first_fit")]
)
def test_what_no_policy_can_beat_stands_beside_it(world: tuple[str, ...]) -> None:
    rows = json.loads(_run(*world, "--bound", "-o", "json").stdout)
    values = {row["measure"]: row["value"] for row in rows}
    for measure in ("mean completion", "makespan"):
        assert 0.0 < values[f"no policy below: {measure}"] <= values[measure]
    wrong = _run(*world, "--bound", "--jobs")
    assert isinstance(wrong.exception, wl.InputError)
    assert "--jobs and --bound: are both given" in str(wrong.exception)


def test_short_jobs_are_shown_in_seconds(tmp_path: Path) -> None:
    jobs = tmp_path / "jobs.csv"
    jobs.write_text("name,arrival,seconds\na,0,20\nb,0,30\n", "utf-8")
    given = ("--trace", str(jobs), "--cluster", "gpu=2", "--round-seconds", "10")
    shown = next(line for line in _run(*given).stdout.splitlines() if "largest comp" in line)
    assert shown.split()[-1] == "s"
    rows = {row["measure"]: row for row in json.loads(_run(*given, "-o", "json").stdout)}
    hours = rows["largest completion"]
    assert hours["unit"] == "h"
    assert float(shown.split()[-2]) == pytest.approx(hours["value"] * 3600, rel=1e-5)


def test_the_help_names_what_is_drawn_and_what_is_taken_by_itself() -> None:
    said = " ".join(_run("--help").stdout.split())
    for name in (*DRAW, *tables.DRAW):
        assert name in said
    for words in (*(f"{kind}=36" for kind in ("v100", "p100", "k80")), "east=8, west=8"):
        assert words in said
    made = scenario({"world": {"kind": "placed"}})
    assert (made.policy["name"], made.cluster) == ("exchange", {"east": 8, "west": 8})
    drawn = scenario({})
    assert (drawn.policy["name"], set(drawn.cluster.values())) == ("fifo", {36})


def test_failures_are_options() -> None:
    rules = ("--failures", "between=200000", "--failures", "checkpoint=1800", "--seed", "1")
    result = _run(*DRAWN, *rules, "--restart-seconds", "30", "-o", "json")
    assert result.exit_code == 0, result.output
    values = {row["measure"]: row["value"] for row in json.loads(result.stdout)}
    assert values["outages"] > 0
    assert values["ended"] == 20
    bad = _run(*DRAWN, "--failures", "between=-5")
    assert isinstance(bad.exception, wl.InputError)
    assert "Failures.between" in str(bad.exception)


def test_the_ledger_is_a_file(tmp_path: Path) -> None:
    result = _run(*DRAWN, "--policy", "las", "--ledger", str(tmp_path / "ledger.csv"))
    assert result.exit_code == 0, result.output
    lines = (tmp_path / "ledger.csv").read_text(encoding="utf-8").splitlines()
    assert lines[0] == "decision,at,until,job,type,share,seconds"
    assert len(lines) > 20


def test_options_replace_the_configuration(tmp_path: Path) -> None:
    path = tmp_path / "run.toml"
    path.write_text(EXAMPLE, encoding="utf-8")
    rules = ("--measured", "0:20", "--round-seconds", "0", "-o", "json")
    result = _run(str(path), *DRAWN, "--policy", "fifo", "--cluster", "k80=40", *rules)
    assert result.exit_code == 0, result.output
    measures = [row["measure"] for row in json.loads(result.stdout)]
    assert [name for name in measures if name.startswith("use of")] == ["use of k80"]


def test_a_policy_of_a_file_runs_and_its_faults_are_said(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text("def policy(snapshot):\n    return None\n", encoding="utf-8")
    result = _run(*DRAWN, "--policy", f"{path}:policy")
    assert result.exit_code == 0, result.output
    assert "refused: 0 s: type: decision" in result.stderr


def test_an_interrupted_run_gives_the_jobs_so_far(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text(
        "import os, signal, time\n\n\ndef policy(snapshot):\n"
        "    os.kill(os.getpid(), signal.SIGINT)\n    time.sleep(0.3)\n"
        "    return snapshot.shares(0 * snapshot.speed)\n",
        encoding="utf-8",
    )
    result = _run(*DRAWN, "--policy", f"{path}:policy", "-o", "json")
    assert result.exit_code == 130, result.output
    values = {row["measure"]: row["value"] for row in json.loads(result.stdout)}
    assert (values["measured jobs"], values["decisions"]) == (20, 1)
    assert values["ended"] < 20
    assert "measured jobs have no end" in result.stderr


@pytest.mark.parametrize("option", ["--save", "--ledger"])
def test_a_disk_that_is_full_does_not_take_the_result(option: str) -> None:
    found = _run(*DRAWN, option, "/dev/full")
    assert "No space left on device" in str(found.exception)
    assert "mean completion" in found.stdout


@pytest.mark.parametrize(
    "arguments",
    [
        ("--policy", "lass"),
        ("--measured", "20"),
        ("--measured", "90:99"),
        ("--cluster", "v100=0"),
        ("--cluster", "h100=4"),
        ("--draw", "rates=4"),
        ("--policy", "las", "--option", "by=1"),
        ("--trace", "missing.trace"),
        ("--kinds", "--jobs"),
        ("--tables", "csv"),
        ("--policy", "gandiva", "--option", "seed=x"),
    ],
)
def test_bad_input_is_one_error(arguments: tuple[str, ...]) -> None:
    found = _run(*DRAWN, *arguments)
    assert isinstance(found.exception, wl.WalrasError), found.output
    assert exit_code(found.exception) in (2, 6)


def test_it_is_a_command() -> None:
    assert COMMANDS["simulate"].load("simulate").name == "simulate"


def test_tasks_are_placed_on_clusters_with_slots(tmp_path: Path) -> None:
    saved = tmp_path / "run.npz"
    result = _run(
        *("--world", "placed", "--draw", "tasks=15", "--draw", "rate=600", "-o", "json"),
        *("--cluster", "east=3", "--cluster", "west=2", "--policy", "fastest_cluster"),
        *("--round-seconds", "30", "--save", str(saved), "--failures", "between=900"),
    )
    assert result.exit_code == 0, result.output
    values = {row["measure"]: row["value"] for row in json.loads(result.stdout)}
    assert values["ended"] == 15
    assert values["outages"] > 0
    assert isinstance(wl.load(saved), wl.simulate.PlacedRun)
    assert "use of west" in values
    assert "above 100 %: no policy keeps up" in result.stderr
