"""``walras simulate compare``: a study in, one table, one figure, one page out."""

from __future__ import annotations

import json
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from tests.exchange.machine import mount, unmount
from typer.testing import CliRunner, Result

import walras as wl
from walras.cli.common.errors import exit_code
from walras.cli.simulate.app import app
from walras.errors import DataError
from walras.simulate.compare.comparison import Comparison, rows_of_bounds
from walras.simulate.compare.store import StoredBounds
from walras.simulate.compare.study import EXAMPLE, EXAMPLE_PLACED
from walras.status import Status

MODULE = sys.modules["walras.cli.simulate.compare"]  # the package has its function by this name

CONFIG = """
[trace]
rate = 8.0
jobs = 8
synthetic = true
[cluster]
v100 = 1
p100 = 1
k80 = 1
[[policy]]
name = "fifo"
[[policy]]
name = "las"
label = "max-min"
[run]
seeds = [0, 1]
"""


def _run(command: str, *arguments: str) -> Result:
    return CliRunner().invoke(app, [command, *arguments, "--no-progress"])


@pytest.fixture
def config(tmp_path: Path) -> Path:
    path = tmp_path / "compare.toml"
    path.write_text(CONFIG, encoding="utf-8")
    return path


def test_one_table_one_page_one_figure(config: Path, tmp_path: Path) -> None:
    report, figure, saved = (tmp_path / name for name in ("r.html", "f.png", "c.npz"))
    result = _run(
        *("compare", str(config), "-o", "json", "--processes", "1"),
        *("--report", str(report), "--figure", str(figure), "--save", str(saved)),
    )
    assert result.exit_code == 0, result.output
    rows: list[dict[str, Any]] = json.loads(result.stdout)
    assert {(row["policy"], row["seed"]) for row in rows} == {
        (policy, seed) for policy in ("fifo", "max-min", "no policy below") for seed in (0, 1)
    }
    page = report.read_text("utf-8")
    assert "no policy below" in page
    for words in ("1 v100, 1 p100, 1 k80", "rate = 8.0", "synthetic", "Offered load ", "6 of 6"):
        assert words in page
    for words in (f"report: {report}", f"figure: {figure}", f"saved: {saved}"):
        assert words in result.stderr
    assert figure.read_bytes().startswith(b"\x89PNG")
    again = _run("compare", str(config), "-o", "csv", "--processes", "1", "--save", f"{saved}.npz")
    assert Path(f"{saved}.npz").read_bytes() == saved.read_bytes()
    assert again.stdout.count("\n") == len(wl.load(saved).table) + 1
    clock = [row for row in rows if row["measure"] in ("policy", "simulator")]
    assert len(wl.load(saved).table) == len(rows) - len(clock)
    assert len(clock) == 8


def test_kinds_are_rows(config: Path) -> None:
    rules = ("compare", str(config), "--processes", "1", "--no-bound", "-o", "json")
    rows = json.loads(_run(*rules, "--kinds").stdout)
    assert all(set(row) == {"class", "fifo", "max-min"} for row in rows)
    means = [row for row in json.loads(_run(*rules).stdout) if row["seed"] == 0]
    names = {row["measure"] for row in means if row["measure"].startswith("mean completion of")}
    assert len(rows) >= len(names) > 1
    refused = _run(*rules, "--kinds", "--all")
    assert exit_code(refused.exception) == 2  # type: ignore[arg-type]


def test_kinds_of_jobs_of_one_class_are_refused_before_a_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    jobs, config = tmp_path / "jobs.csv", tmp_path / "c.toml"
    jobs.write_text("arrival,seconds\n0,60\n1,60\n", "utf-8")
    config.write_text(
        f'[trace]\nfile = "{jobs}"\n[cluster]\n"type 0" = 1\n[policy]\nname = "fifo"\n'
    )
    monkeypatch.setattr(MODULE, "compare", lambda *given, **rules: pytest.fail("it runs"))
    found = _run("compare", str(config), "--kinds")
    assert exit_code(found.exception) == 2  # type: ignore[arg-type]
    assert "2 to 200 classes" in str(found.exception)


def test_the_first_error_is_told_where_no_table_can_be_printed(
    config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The bound ended first, and the folder could not keep it: no class has a mean yet."""
    bounds = Comparison.of_rows([rows_of_bounds("t", 0, StoredBounds(1.0, 2.0))], Status.FEASIBLE)

    def full(*given: object, **rules: object) -> None:
        raise wl.simulate.UnkeptError(DataError("No space left on device", where="runs"), bounds)

    monkeypatch.setattr(MODULE, "compare", full)
    found = _run("compare", str(config), "--kinds")
    assert exit_code(found.exception) == 6  # type: ignore[arg-type]
    assert "No space left on device" in str(found.exception)


def test_it_goes_on_where_it_was_cut(config: Path, tmp_path: Path) -> None:
    folder = tmp_path / "runs"
    rules = ("--processes", "1", "--folder", str(folder), "--no-bound", "-o", "csv")
    first = _run("compare", str(config), "--seeds", "1", *rules)
    assert first.exit_code == 0, first.output
    kept = {path.name: path.stat().st_mtime_ns for path in folder.iterdir()}
    second = _run("compare", str(config), *rules)
    assert second.exit_code == 0, second.output
    assert "no policy below" not in second.stdout
    assert len(list(folder.glob("*.npz"))) == 4
    assert all((folder / name).stat().st_mtime_ns == at for name, at in kept.items())


def test_loads_above_all_there_is_and_refused_decisions_are_said(tmp_path: Path) -> None:
    own, config = tmp_path / "own.py", tmp_path / "c.toml"
    own.write_text(
        "def nan(snapshot):\n    return snapshot.shares(snapshot.speed * float('nan'))\n"
    )
    policy = f'[[policy]]\nname = "{own}:nan"\nlabel = "own"\n'
    config.write_text(CONFIG.replace("[run]", f"{policy}[run]"), encoding="utf-8")
    result = _run("compare", str(config), "--processes", "1", "--no-bound", "-o", "json")
    assert result.exit_code == 0, result.output
    rows = json.loads(result.stdout)
    refused = sum(
        row["value"]
        for row in rows
        if row["policy"] == "own" and row["measure"] == "refused decisions"
    )
    assert refused > 0
    assert f"own: {refused:g} of {refused:g} decisions are refused" in result.stderr
    assert "fifo" not in result.stderr
    table = _run(
        "compare", str(config), "--processes", "1", "--no-bound", "--report", f"{own}.html"
    )
    assert "own (100 % refused)" in table.stdout
    page = Path(f"{own}.html").read_text("utf-8")
    assert "Decisions that break a rule: own: 100 % refused." in page
    assert page.count("own (100 % refused)") > 3  # rows of tables, and the figure
    assert "Least mean completion: own" not in page
    assert "trace: offered load" in result.stderr
    assert "above 100 %" in result.stderr


def test_saved_runs_are_compared(tmp_path: Path) -> None:
    drawn = ("--draw", "jobs=8", "--draw", "synthetic=true", "--draw", "rate=6")
    files = []
    for policy in ("fifo", "las"):
        files.append(str(tmp_path / f"{policy}.npz"))
        made = _run("run", *drawn, "--policy", policy, "--save", files[-1])
        assert made.exit_code == 0, made.output
    result = _run("compare", "--runs", files[0], "--runs", files[1], "-o", "json")
    assert result.exit_code == 0, result.output
    means = {
        row["policy"]: row["value"]
        for row in json.loads(result.stdout)
        if row["measure"] == "mean completion"
    }
    assert means["no policy below"] <= min(means["fifo"], means["las"])
    other = str(tmp_path / "other.npz")
    _run("run", *drawn, "--draw", "seed=3", "--policy", "fifo", "--save", other)
    refused = _run("compare", "--runs", files[0], "--runs", other)
    assert exit_code(refused.exception) == 2  # type: ignore[arg-type]
    assert "other jobs" in str(refused.exception)


def test_the_examples_are_configurations() -> None:
    assert _run("compare", "--example").stdout == EXAMPLE
    assert _run("compare", "--example", "--world", "placed").stdout == EXAMPLE_PLACED
    refused = _run("compare", "--example", "--world", "flat")
    assert exit_code(refused.exception) == 2  # type: ignore[arg-type]


PLACED = """
[world]
kind = "placed"
outages = [["east", 600.0, 900.0]]
[trace]
rate = 240.0
tasks = 12
chance = 0.3
[[policy]]
name = "first_fit"
[[policy]]
name = "fastest_cluster"
[run]
seeds = [0, 1]
round_seconds = 30
"""


def test_tasks_are_compared_from_a_configuration(tmp_path: Path) -> None:
    config, report, folder = (tmp_path / name for name in ("c.toml", "r.html", "runs"))
    config.write_text(PLACED, "utf-8")
    rules = ("--processes", "1", "--folder", str(folder), "-o", "json")
    result = _run("compare", str(config), *rules, "--report", str(report))
    assert result.exit_code == 0, result.output
    rows: list[dict[str, Any]] = json.loads(result.stdout)
    assert {row["policy"] for row in rows} == {"first_fit", "fastest_cluster", "no policy below"}
    failed = [row["value"] for row in rows if row["measure"] == "failed for good"]
    assert sum(failed) > 0
    assert "measured jobs have no end" in result.stderr
    assert "stopped by workers" in report.read_text("utf-8")
    assert len(list(folder.glob("*.npz"))) == 4
    config.write_text(PLACED.replace("first_fit", "fist_fit"), "utf-8")
    refused = _run("compare", str(config), *rules)
    assert exit_code(refused.exception) == 2  # type: ignore[arg-type]
    assert "fist_fit" in str(refused.exception)


def test_clusters_with_slots_fail_by_the_seed(tmp_path: Path) -> None:
    config = tmp_path / "c.toml"
    stated = PLACED.replace('outages = [["east", 600.0, 900.0]]\n', "")
    config.write_text(f"{stated}[run.failures]\nbetween = 900\nrepair = 60\n", "utf-8")
    result = _run("compare", str(config), "--processes", "1", "--no-bound", "-o", "json")
    assert result.exit_code == 0, result.output
    rows = [row for row in json.loads(result.stdout) if row["measure"] == "outages"]
    assert len({row["value"] for row in rows if row["seed"] == 0}) <= 2
    assert sum(row["value"] for row in rows) > 0
    config.write_text(f"{PLACED}[run.failures]\nbetween = 900\n", "utf-8")
    refused = _run("compare", str(config), "--processes", "1")
    assert exit_code(refused.exception) == 2  # type: ignore[arg-type]


_NEVER = ("nan", "-1", '"x"', "[]")  # values that no key takes


@pytest.mark.parametrize("command", ["run", "compare"])
@pytest.mark.parametrize(
    ("key", "more"),
    [
        ("run.round_seconds", ["inf", "true", "{}"]),
        ("run.between_decisions", ["inf", "true", "{}", "1e300"]),  # rounds without an end
        ("run.restart_seconds", ["inf", "true", "{}", "360"]),
        ("run.measured", ["true", "{}", "0.5", "[0]", "[-1, 2]", "[9, 99]", "[0.0, 1.0]"]),
        ("run.whole_steps", ["0", "1e300", "{}"]),
        ("run.ledger", ["true"]),
        ("run.unknown", ["true"]),
        ("run.failures.between", ["inf", "true", "0", "{v100 = nan}", "{h100 = 9e5}", "1e-9"]),
        ("run.failures.repair", ["inf", "true", "0", "{v100 = nan}"]),
        ("run.failures.checkpoint", ["true", "{}"]),
        ("run.failures.job", ["inf", "true", "0", "{}"]),
        ("run.failures.max_attempts", ["inf", "true", "0", "0.5", "{}"]),
        ("run.failures.unknown", ["1"]),
        ("trace.unknown", ["1"]),
        ("cluster.unknown", ["0", "1", "true"]),
        ("policy.unknown", ["1"]),
        ("world.unknown", ["1"]),
        ("unknown.key", ["1"]),
    ],
)
def test_a_value_that_cannot_be_used_is_one_error(
    tmp_path: Path, command: str, key: str, more: list[str]
) -> None:
    """Wrong types, NaN, negative, endless, and what nobody reads."""
    config = tmp_path / "c.toml"
    table, _, name = key.rpartition(".")
    head = "[[policy]]" if table == "policy" else f"[{table}]"
    for value in (*_NEVER, *more):
        tables = ["[trace]\njobs = 4\nsynthetic = true", "[cluster]\nv100 = 1\np100 = 1\nk80 = 1"]
        tables = [t for t in tables if not t.startswith(f"[{table}]")]
        policy = head.replace("[[", "[").replace("]]", "]") if command == "run" else head
        own = 'name = "las"\n' if table == "policy" else ""
        text = "\n".join([*tables, f"{policy}\n{own}{name} = {value}\n"])
        config.write_text(text, "utf-8")
        alone = ("--processes", "1", "--no-bound") if command == "compare" else ()
        found = _run(command, str(config), *alone)
        assert isinstance(found.exception, wl.WalrasError), (text, found.output)
        assert exit_code(found.exception) == 2, text


@pytest.mark.mount
def test_a_full_disk_is_one_error_and_the_result_is_printed(config: Path, tmp_path: Path) -> None:
    """What is written at the end comes after the result; a folder keeps what it could hold."""
    full = tmp_path / "full"
    full.mkdir()
    rules = ("--processes", "1", "--no-bound")
    mount(full, "4k")
    try:
        for option, name in (("--save", "c.npz"), ("--report", "r.html"), ("--figure", "f.png")):
            found = _run("compare", str(config), *rules, option, str(full / name))
            assert exit_code(found.exception) == 6  # type: ignore[arg-type]
            assert "No space left on device" in str(found.exception)
            assert "max-min" in found.stdout
            assert not list(full.iterdir())
        mount(full, "1m", again=True)
        _run("compare", str(config), *rules, "--folder", str(full), "--seeds", "1")
        with suppress(OSError), (full / "filler").open("wb", buffering=0) as filler:
            while True:
                filler.write(bytes(4096))
        cut = _run("compare", str(config), *rules, "--folder", str(full), "-o", "json")
        assert exit_code(cut.exception) == 6  # type: ignore[arg-type]
        assert "No space left on device" in str(cut.exception)
        printed = {(row["policy"], row["seed"]) for row in json.loads(cut.stdout)}
        assert printed == {("fifo", 0), ("max-min", 0), ("fifo", 1)}  # the last could not be kept
        kept = {path.name: path.stat().st_mtime_ns for path in full.glob("*.npz")}
        assert len(kept) == 2
        (full / "filler").unlink()
        rest = _run("compare", str(config), *rules, "--folder", str(full))
        assert rest.exit_code == 0, rest.output
        assert len(list(full.glob("*.npz"))) == 4
        assert all((full / name).stat().st_mtime_ns == at for name, at in kept.items())
    finally:
        unmount(full)


def test_a_cut_comparison_says_what_is_missing_and_how_to_go_on(tmp_path: Path) -> None:
    (tmp_path / "cut.py").write_text(
        "import os, signal\n"
        "def policy(snapshot):\n"
        "    os.kill(os.getpid(), signal.SIGINT)\n"
        "    return snapshot.shares(0.0 * snapshot.speed)\n",
        encoding="utf-8",
    )
    config, report, folder = (tmp_path / name for name in ("c.toml", "r.html", "runs"))
    own = CONFIG.partition('[[policy]]\nname = "las"')[0].replace("8.0", "[8.0, 9.0]")
    config.write_text(
        f'{own}[[policy]]\nname = "cut.py:policy"\n[run]\nseeds = [0, 1]\n', encoding="utf-8"
    )
    rules = ("--processes", "1", "--no-bound")
    found = _run("compare", str(config), *rules, "--report", str(report))
    assert found.exit_code == 130
    assert "means over 2 seeds" in found.stdout
    assert "1 of 8 runs" in found.stdout
    assert "8 jobs/h" in found.stdout
    assert "1 of 8 runs; they are not kept; with --folder" in found.stderr
    assert "Stopped: it covers 1 of 8 runs." in report.read_text("utf-8")
    kept = _run("compare", str(config), *rules, "--folder", str(folder))
    assert "1 of 8 runs; the same command goes on with the others" in kept.stderr


def test_one_of_configuration_and_runs_is_needed(config: Path) -> None:
    for given in (
        (),
        (str(config), "--runs", "a.npz"),
        ("--runs", "a.npz", "--seeds", "2"),
        ("--runs", "a.npz", "--processes", "2"),
        (str(config), "--seeds", "0"),
    ):
        result = _run("compare", *given)
        assert exit_code(result.exception) == 2  # type: ignore[arg-type]


def test_nothing_is_written_where_no_run_has_ended(tmp_path: Path) -> None:
    """A report of a run before is not replaced by an empty one."""
    (tmp_path / "slow.py").write_text(
        "import os, signal, time\n"
        "def policy(snapshot):\n"
        "    os.kill(os.getpid(), signal.SIGINT)\n"
        "    time.sleep(0.3)\n"
        "    return snapshot.shares(0.0 * snapshot.speed)\n",
        encoding="utf-8",
    )
    config, report = tmp_path / "c.toml", tmp_path / "r.html"
    own = CONFIG.partition("[[policy]]")[0] + '[[policy]]\nname = "slow.py:policy"\n'
    config.write_text(own, encoding="utf-8")
    report.write_text("of the run before", encoding="utf-8")
    found = _run("compare", str(config), "--processes", "1", "--report", str(report))
    assert found.exit_code == 130
    assert "no run has ended; no file is written" in found.stderr
    assert report.read_text("utf-8") == "of the run before"
