"""``walras network``: scenarios simulated, advised on and compared from the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest
from typer.testing import CliRunner

from walras.cli.network import app
from walras.demo.network import CRASHED, demo_network
from walras.errors import InputError
from walras.network.scenario.scenario import EXAMPLE, scenario

RUN = CliRunner()
SMALL = """
steps = 400
[network]
kind = "ring"
centres = 6
"""


@pytest.fixture
def config(tmp_path: Path) -> str:
    path = tmp_path / "small.toml"
    path.write_text(SMALL)
    return str(path)


def test_the_back_end_is_chosen_and_an_unknown_one_is_one_error(tmp_path: Path) -> None:
    path = tmp_path / "ideal.toml"
    path.write_text(SMALL.replace("400", "40") + '[links]\nkind = "ideal"\n')
    for backend in ("protocol", "vectorised"):
        arguments = ["simulate", str(path), "--backend", backend, "--no-progress", "-o", "json"]
        (facts,) = json.loads(RUN.invoke(app, arguments).stdout)
        assert facts["back end"] == backend
    with pytest.raises(InputError, match="auto, protocol, vectorised"):
        RUN.invoke(app, ["simulate", str(path), "--backend", "fast"], catch_exceptions=False)


def test_the_example_is_printed_as_it_is() -> None:
    assert RUN.invoke(app, ["example"]).stdout == EXAMPLE


def test_a_run_is_reported_and_saved_and_the_same_seed_writes_the_same_record(
    config: str, tmp_path: Path
) -> None:
    records = []
    for name in ("a", "b"):
        folder = tmp_path / "out" / name
        found = RUN.invoke(app, ["simulate", config, "--no-progress", "--save", str(folder)])
        assert found.exit_code == 0, found.output
        assert "quanta over the budget, at worst" in found.stdout
        records.append((folder / "steps.csv").read_bytes())
    assert records[0] == records[1]
    record = json.loads((folder / "run.json").read_text())
    result = record["result"]
    assert record["scenario"] == {**scenario(record["scenario"]).tables, "every": 1}
    assert record["scenario"]["network"] == {
        "seed": 0,
        "kind": "ring",
        "centres": 6,
        "directed": False,
    }
    assert record["scenario"]["steps"] == 400
    assert record["chosen"]["share_step"] > 0.0
    assert result["quanta over the budget, at worst"] == 0
    assert result["cost gap"] < 1e-8
    names = ("audit", "cost_gap", "cost_gap_bits", "cost_gap_seconds", "graph", "shares")
    assert all((folder / f"{name}.png").stat().st_size > 5000 for name in names)


def test_json_and_csv_hold_the_same_run(config: str) -> None:
    facts = json.loads(RUN.invoke(app, ["simulate", config, "-o", "json"]).stdout)[0]
    text = RUN.invoke(app, ["simulate", config, "-o", "csv", "--steps", "50"]).stdout
    assert facts["steps"] == 400
    assert text.splitlines()[0].startswith("step,bits,seconds,cost_gap")
    assert len(text.splitlines()) == 51


def test_advice_names_its_reasons(config: str) -> None:
    rows = json.loads(RUN.invoke(app, ["advise", config, "-o", "json"]).stdout)
    steps = {row["what"]: row for row in rows}
    assert steps["share step"]["value"] > 0
    assert "bound" in steps["share step"]["why"]
    assert steps["rounds"]["value"] == 3


def test_baselines_are_compared_on_the_same_problem(config: str, tmp_path: Path) -> None:
    out = tmp_path / "cmp"
    found = RUN.invoke(app, ["compare", config, "--no-progress", "-o", "json", "--save", str(out)])
    assert found.exit_code == 0, found.output
    rows = {row["method"]: row for row in json.loads(found.stdout)}
    assert {row["of"] for row in rows.values()} == {"shares"}
    assert {"surplus", "heavy ball", "ADMM sharing", "ratio consensus"} <= set(rows)
    assert rows["surplus"]["budget off"] == 0.0
    assert rows["surplus"]["gap"] < 1e-6
    assert set(pd.read_csv(out / "methods.csv")["method"]) == set(rows)
    record = json.loads((out / "run.json").read_text())
    assert record["scenario"]["network"]["centres"] == 6
    assert {entry["method"] for entry in record["methods"]} == set(rows)


@pytest.mark.parametrize(
    ("asked", "reason"),
    [
        (["simulate", "--steps", "0"], "--steps: is 0; allowed: a whole number, >= 1"),
        (["compare", "--steps", "0"], "--steps: is 0"),
        (["deploy", "--steps", "0"], "--steps: is 0"),
        (["simulate", "--seed", "-1"], "--seed: is -1; allowed: a whole number, >= 0"),
    ],
)
def test_no_steps_and_negative_seeds_are_refused(
    config: str, asked: list[str], reason: str
) -> None:
    found = RUN.invoke(app, [asked[0], config, *asked[1:]])
    assert isinstance(found.exception, InputError)
    assert reason in str(found.exception)


def test_bad_files_are_one_clear_error(tmp_path: Path) -> None:
    path = tmp_path / "bad.toml"
    path.write_text("[network]\nnodes = 3\n")
    found = RUN.invoke(app, ["simulate", str(path)])
    assert isinstance(found.exception, InputError)
    assert "unknown key 'nodes'" in str(found.exception)


def test_the_demos_section_ends_well() -> None:
    section = demo_network()
    facts = dict(section.rows)
    assert facts["quanta over the budget, at worst"] == 0
    assert float(facts["most that was ever held / budget"] or 2) <= 1.0
    assert not section.run.alive[-1][CRASHED]
    assert section.run.cost_gap[-1] < 1e-4
    assert float(facts["test accuracy"] or 0) > 0.85


def test_a_model_is_compared_apart_from_the_shares(tmp_path: Path) -> None:
    path = tmp_path / "model.toml"
    path.write_text(SMALL + "[loss]\nsamples = 60\n")
    found = RUN.invoke(
        app, ["compare", str(path), "--no-progress", "-o", "json", "--save", str(tmp_path)]
    )
    assert found.exit_code == 0, found.output
    rows = {(row["of"], row["method"]): row for row in json.loads(found.stdout)}
    assert rows["model", "EXTRA"]["gap"] < 0.1
    assert rows["shares", "surplus"]["consensus error"] is None
    assert (tmp_path / "loss_gap_bits.png").exists()
    assert (tmp_path / "accuracy_bits.png").exists()


def test_methods_that_are_left_out_are_named_with_the_reason(tmp_path: Path) -> None:
    path = tmp_path / "boxed.toml"
    path.write_text(SMALL + "directed = true\n[cpu]\nhigh = 8.0\n[loss]\nsamples = 60\n")
    asked = ["compare", str(path), "--no-progress", "--steps", "20"]
    found = RUN.invoke(app, [*asked, "-o", "json", "--save", str(tmp_path)])
    assert found.exit_code == 0, found.output
    left = {r["method"]: r["left out"] for r in json.loads(found.stdout) if r["left out"]}
    assert left["ratio consensus"] == "has other costs, or boxes; QuadraticCPU only"
    assert "undirected" in left["ADMM sharing"]
    record = json.loads((tmp_path / "run.json").read_text())
    assert {m["method"]: m.get("left out") for m in record["methods"]}["EXTRA"] == left["EXTRA"]
    shown = RUN.invoke(app, asked).stdout
    assert "left out" in shown
    assert "has other costs, or boxes" in shown
    assert all(len(line) <= 80 for line in shown.splitlines())


def test_what_is_saved_shows_training_and_epochs(tmp_path: Path) -> None:
    path = tmp_path / "timed.toml"
    path.write_text(SMALL + '[cpu]\nkind = "throughput"\n[loss]\nsamples = 60\n')
    found = RUN.invoke(
        app, ["simulate", str(path), "--no-progress", "--save", str(tmp_path), "-o", "json"]
    )
    assert found.exit_code == 0, found.output
    (facts,) = json.loads(found.stdout)
    assert facts["slowest epoch, s"] < facts["slowest epoch at equal shares, s"]
    assert 0.5 < facts["test accuracy"] <= 1.0
    names = ("epochs", "test_accuracy", "test_accuracy_bits")
    assert all((tmp_path / f"{name}.png").stat().st_size > 5000 for name in names)
    assert pd.read_csv(tmp_path / "steps.csv")["accuracy"].iloc[-1] == facts["test accuracy"]


def test_a_regression_has_an_error_and_no_accuracy(tmp_path: Path) -> None:
    path = tmp_path / "line.toml"
    path.write_text(SMALL + '[loss]\nkind = "least_squares"\nsamples = 60\n')
    (facts,) = json.loads(RUN.invoke(app, ["simulate", str(path), "-o", "json"]).stdout)
    assert "test accuracy" not in facts
    assert 0.1 < facts["test error, root mean square"] < 1.0
