"""``walras learn``: what each command prints and writes, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from walras import predict
from walras.cli.learn import app
from walras.errors import DataError, InputError

RUN = CliRunner()


@pytest.fixture
def stand_in(monkeypatch: pytest.MonkeyPatch) -> None:
    """The recipe is drawn from the labelled stand-in, and small."""
    real = predict.recipe

    def small(name: str, **given: object) -> predict.Recipe:
        options = {"validation_tasks": 60, "test_tasks": 80, "synthetic": True}
        return real(name, **(given | options))  # type: ignore[arg-type]

    monkeypatch.setattr("walras.predict.recipe", small)
    monkeypatch.setattr("walras.learn.run_config.recipe", small)
    monkeypatch.setattr("walras.cli.common.progress._AFTER", 0.0)  # progress is shown at once


@pytest.mark.usefixtures("stand_in")
def test_a_comparison_is_printed_saved_and_goes_on(tmp_path: Path) -> None:
    folder = tmp_path / "out"
    given = [
        "compare",
        "--methods",
        "tam,tsm-raw,tsm-log",
        "--train",
        "20",
        "--tasks",
        "4,5",
        "--seeds",
        "1",
        "--workers",
        "1",
        "--folder",
        str(folder),
    ]
    found = RUN.invoke(app, given)
    assert found.exit_code == 0, found.output
    assert "tsm-raw" in found.stdout
    assert '"stage": "comparing"' in found.stderr
    rows = pd.read_csv(folder / "rows.csv")
    assert len(rows) == 6
    record = json.loads((folder / "run.json").read_text())
    assert record["complete"]
    assert record["rows"] == 6
    page = (folder / "report.html").read_text()
    assert page.count("<svg") == 2
    assert "two-stage" in page
    assert "Seeds compared: 1." in page
    for name in ("reliability", "shortfall", "median cell", "paired t-tests"):
        assert name in page
    for name in ("figure4.png", "figure5.png"):
        assert (folder / name).stat().st_size > 5000
    again = RUN.invoke(app, [*given, "-o", "csv", "--no-progress"])
    pd.testing.assert_frame_equal(pd.read_csv(folder / "rows.csv"), rows)
    assert again.stdout.splitlines()[0].startswith("method,setting,train_tasks")


@pytest.mark.usefixtures("stand_in")
def test_fit_saves_a_predictor_and_says_what_training_bought(tmp_path: Path) -> None:
    path = tmp_path / "p.npz"
    found = RUN.invoke(
        app,
        [
            "fit",
            "mfcp-ad",
            "--clusters",
            "A",
            "--train",
            "20",
            "--tasks",
            "4",
            "--steps",
            "4",
            "--save",
            str(path),
            "-o",
            "json",
        ],
    )
    assert found.exit_code == 0, found.output
    (facts,) = json.loads(found.stdout)
    assert facts["validation regret, kept"] <= facts["validation regret, start"]
    assert predict.load(path).clusters == predict.SETTINGS["A"]


def test_advice_on_a_log_of_ones_own(tmp_path: Path) -> None:
    data = predict.recipe(
        "nb201", clusters="A", train_tasks=60, validation_tasks=5, test_tasks=5, synthetic=True
    ).train
    rng = np.random.default_rng(0)
    runs = [
        {
            "task": f"t{j}",
            "cluster": cluster,
            "seconds": data.times[i, j],
            "outcome": "completed" if rng.random() < 0.9 else "failed",
        }
        for i, cluster in enumerate(data.clusters)
        for j in range(60)
        for _ in range(6)
    ]
    pd.DataFrame(runs).to_csv(tmp_path / "runs.csv", index=False)
    features = pd.DataFrame(data.features, index=[f"t{j}" for j in range(60)])
    features.to_csv(tmp_path / "tasks.csv", index_label="task")
    given = [
        "advise",
        "--log",
        str(tmp_path / "runs.csv"),
        "--features",
        str(tmp_path / "tasks.csv"),
        "--model",
        "linear",
        "--steps",
        "4",
        "--tasks",
        "3",
        "-o",
        "json",
    ]
    found = RUN.invoke(app, given)
    assert found.exit_code == 0, found.output
    rows = json.loads(found.stdout)
    assert rows[0]["what"] == "linear"
    assert sum(row["chosen"] for row in rows) == 1
    bad = RUN.invoke(app, [*given[:3], "--features", str(tmp_path / "none.csv")])
    assert isinstance(bad.exception, DataError)


def test_clusters_without_intervals_are_named(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    size = rng.uniform(1.0, 4.0, 24)
    lines = [f"t{j},{c},{s},completed" for j, s in enumerate(size) for c in ("fast", "slow")]
    (tmp_path / "runs.csv").write_text("\n".join(["task,cluster,seconds,outcome", *lines]))
    table = [f"t{j},{s}" for j, s in enumerate(size)]
    (tmp_path / "tasks.csv").write_text("\n".join(["task,size", *table]))
    found = RUN.invoke(
        app,
        [
            "fit",
            "tsm",
            "--log",
            str(tmp_path / "runs.csv"),
            "--features",
            str(tmp_path / "tasks.csv"),
            "--tasks",
            "3",
            "-o",
            "json",
        ],
    )
    assert found.exit_code == 0, found.output
    (facts,) = json.loads(found.stdout)
    assert facts["too few tasks for intervals on"] == "fast, slow"  # a quarter of 24 is held out


def test_a_log_says_what_it_leaves_out(tmp_path: Path) -> None:
    runs, features = tmp_path / "runs.csv", tmp_path / "tasks.csv"
    runs.write_text("task,cluster,seconds,outcome\n007,a,0,completed\n007,a,5,lost\n")
    features.write_bytes("task,size,größe\n007,1,2\n".encode("latin-1"))
    given = ["fit", "tsm", "--log", str(runs), "--features", str(features)]
    found = RUN.invoke(app, given)
    assert isinstance(found.exception, InputError)  # one task is too few
    assert "time left out: row 1" in found.stderr
    assert "left out: row 2 (1 row): unknown outcome" in found.stderr
    for text, message in (
        ("task,size\n007,big\n", "task '007', column 'size': is 'big'"),
        ("task,size\n007,1\n007,2\n", "task '007' has two rows"),
        ("task,size\n7,1\n", "task '007' of the log has none"),
    ):
        features.write_text(text)
        error = RUN.invoke(app, given).exception
        assert isinstance(error, InputError)
        assert message in str(error)
    features.write_text("task,size\n007,1,2\n")
    assert "line 2 has more or fewer" in str(RUN.invoke(app, given).exception)
    error = RUN.invoke(app, ["fit", "tsm", "--features", str(features)]).exception
    assert isinstance(error, InputError)
    assert "is given without --log" in str(error)


def test_gradients_agree_at_one_command() -> None:
    found = RUN.invoke(app, ["check-gradient", "--tasks", "4", "--rounds", "1", "-o", "json"])
    assert found.exit_code == 0, found.output
    rows = {row["derivative"]: row["difference"] for row in json.loads(found.stdout)}
    assert rows["implicit, low rank"] <= 1e-6


def test_bad_input(tmp_path: Path) -> None:
    found = RUN.invoke(app, ["compare", "--methods", "best", "--folder", str(tmp_path)])
    assert isinstance(found.exception, InputError)
    assert "method: is 'best'" in str(found.exception)
    found = RUN.invoke(app, ["compare", "--train", "few", "--folder", str(tmp_path)])
    assert found.exit_code == 2


@pytest.mark.usefixtures("stand_in")
def test_other_settings_are_given_by_name(tmp_path: Path) -> None:
    given = [
        "compare",
        "--methods",
        "tsm,spo+",
        "--train",
        "20",
        "--tasks",
        "4",
        "--seeds",
        "1",
        "--workers",
        "1",
        "--steps",
        "3",
        "--folder",
        str(tmp_path),
        "-o",
        "json",
    ]
    found = RUN.invoke(app, [*given, "--set", "objective=sum", "--set", "epochs=3"])
    assert found.exit_code == 0, found.output
    rows = json.loads(found.stdout)
    assert [row["method"] for row in rows] == ["tsm", "spo+"]
    for metric in ("elastic_regret", "hard_regret", "reliability", "shortfall", "utilisation"):
        assert rows[1][metric] is not None
    kept = json.loads((tmp_path / "run.json").read_text())["methods"]
    assert all("objective='sum'" in own for own in kept.values())


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("price", "is 'price'"),
        ("colour=red", "is 'colour=red'"),
        ("steps=3", "is 'steps=3'"),
        ("speedup=fast", "LIMIT:RATE"),
        ("speedup=2:1", "Decay.limit"),
        ("price=dear", "setting price"),
        ("margin=loose", "setting margin"),
    ],
)
def test_bad_settings_by_name(given: str, words: str) -> None:
    found = RUN.invoke(app, ["fit", "mfcp-ad", "--clusters", "A", "--set", given])
    assert isinstance(found.exception, InputError)
    assert words in str(found.exception)
    assert found.exception.remedy


def test_a_setting_given_twice_is_refused() -> None:
    found = RUN.invoke(app, ["fit", "tsm", "--set", "price=3", "--set", "price=4"])
    assert isinstance(found.exception, InputError)
    assert "sets 'price' twice" in str(found.exception)


def test_methods_are_compared_on_a_log_of_ones_own(tmp_path: Path) -> None:
    rng = np.random.default_rng(9)
    size = rng.uniform(1.0, 5.0, 48)
    times = np.array([2.0 * size, 8.0 - size])
    rows = [
        (f"t{j}", f"c{i}", times[i, j], "failed" if (i + j + k) % 5 == 0 else "completed")
        for i in range(2)
        for j in range(48)
        for k in range(3)
    ]
    columns = ["task", "cluster", "seconds", "outcome"]
    pd.DataFrame(rows, columns=columns).to_csv(tmp_path / "runs.csv", index=False)
    features = pd.DataFrame({"task": [f"t{j}" for j in range(48)], "size": size})
    features.to_csv(tmp_path / "f.csv", index=False)
    folder = tmp_path / "out"
    options = ["--log", str(tmp_path / "runs.csv"), "--features", str(tmp_path / "f.csv")]
    options += ["--methods", "tam,tsm-raw,tsm-log", "--seeds", "2", "--tasks", "4"]
    options += ["--workers", "1", "--folder", str(folder), "--set", "rounds=20", "-o", "json"]
    found = RUN.invoke(app, ["compare", *options], catch_exceptions=False)
    assert found.exit_code == 0
    assert [row["method"] for row in json.loads(found.stdout)] == ["tam", "tsm-raw", "tsm-log"]
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "those of the log that was given" in page
    assert "paired t-tests" in page
    with pytest.raises(InputError, match="is given without --log"):
        RUN.invoke(app, ["compare", *options[2:4]], catch_exceptions=False)
    with pytest.raises(InputError, match="is given without --features"):
        RUN.invoke(app, ["compare", *options[:2]], catch_exceptions=False)
